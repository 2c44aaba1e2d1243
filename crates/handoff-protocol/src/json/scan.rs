//! Finding the end of a plain stretch of string, for the reader and the writer alike.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Returns how many leading bytes need no escape: none is `"`, `\` or below U+0020.
///
/// Eight bytes are looked at together. A borrow can only start in a byte that is itself a hit, so the lowest
/// flag is always right, and only the lowest is used.
pub(super) fn plain_span(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    let mut at = 0;
    while let Some((chunk, tail)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        let quotes = zero_bytes(word ^ (ONES * 0x22));
        let backslashes = zero_bytes(word ^ (ONES * 0x5c));
        let controls = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        let hits = quotes | backslashes | controls;
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
        rest = tail;
    }
    at + rest.iter().position(|&byte| is_special(byte)).unwrap_or(rest.len())
}

fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHS
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_offset_is_classed_as_one_at_a_time() {
        for length in 0..20 {
            for at in 0..length {
                for byte in 0..=255u8 {
                    let mut bytes = vec![b'a'; length];
                    bytes[at] = byte;
                    let expected = if is_special(byte) { at } else { length };
                    assert_eq!(plain_span(&bytes), expected, "byte {byte:#x} at {at} of {length}");
                }
            }
        }
    }

    #[test]
    fn the_first_of_several_hits_wins() {
        assert_eq!(plain_span(b"ab\x01\"\\\x00 \x21"), 2);
        assert_eq!(plain_span(b"\x20\x21\x23\x5b\x5d\x7f\xc2\x80\""), 8);
    }
}
