//! Bytes as lowercase hexadecimal, the only spelling that digests and signatures have.

use std::fmt;

/// Writes its bytes as lowercase hexadecimal.
pub(crate) struct Hex<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A digest is written in one piece: most of what is kept and served is full of them.
        for chunk in self.0.chunks(32) {
            let mut text = [0; 64];
            for (pair, byte) in text.chunks_exact_mut(2).zip(chunk) {
                pair.copy_from_slice(&[character(byte >> 4), character(byte & 0xf)]);
            }
            let text = text.get(..2 * chunk.len()).and_then(|text| str::from_utf8(text).ok());
            f.write_str(text.unwrap_or_default())?;
        }
        Ok(())
    }
}

fn character(nibble: u8) -> u8 {
    if nibble < 10 { b'0' + nibble } else { b'a' + (nibble - 10) }
}

/// Reads exactly `N` bytes of lowercase hexadecimal.
pub(crate) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N {
        return None;
    }
    let mut characters = text.bytes();
    let mut bytes = [0; N];
    for byte in &mut bytes {
        *byte = digit(characters.next()?)? << 4 | digit(characters.next()?)?;
    }
    Some(bytes)
}

fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_written_as_two_characters_and_read_back() {
        let bytes: [u8; 256] = std::array::from_fn(|byte| u8::try_from(byte).unwrap());
        let text = Hex(&bytes).to_string();
        let expected: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(text, expected);
        assert_eq!(decode::<256>(&text), Some(bytes));
        for length in [0, 1, 31, 33, 64, 65] {
            assert_eq!(Some(Hex(&bytes[..length]).to_string().as_str()), expected.get(..2 * length));
        }
    }
}
