//! The 128-bit number inside every id, and its 26 characters.

use std::fmt;
use std::str::FromStr;

use super::IdError;
use crate::timestamp::Timestamp;

/// A number of 128 bits whose upper 48 are milliseconds since the epoch and whose lower 80 are random.
///
/// Order by value equals order by text, so ids sort by the time of their making (B-2).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Ulid(u128);

impl Ulid {
    /// The smallest number; no id is ever minted at it, because minting starts above the last one.
    pub const MIN: Self = Self(0);
    /// The largest number that 26 characters can hold under the rule that the first is at most `7`.
    pub const MAX: Self = Self(u128::MAX);

    const RANDOM_BITS: u32 = 80;
    const LENGTH: usize = 26;

    /// Takes the number as it is.
    #[must_use]
    pub const fn from_u128(value: u128) -> Self {
        Self(value)
    }

    /// Builds the number of an instant and 80 bits of entropy; excess bits of either are dropped, and instants before
    /// the epoch count as the epoch.
    #[must_use]
    pub fn from_parts(time: Timestamp, entropy: u128) -> Self {
        let mask = (1 << Self::RANDOM_BITS) - 1;
        Self(u128::from(u64::try_from(time.unix_millis()).unwrap_or(0)) << Self::RANDOM_BITS | (entropy & mask))
    }

    /// Gives the number itself.
    #[must_use]
    pub const fn as_u128(self) -> u128 {
        self.0
    }

    /// Gives the instant in the upper 48 bits, at most the largest [`Timestamp`].
    ///
    /// It means something only for ids that were minted from a clock.
    #[must_use]
    pub fn time(self) -> Timestamp {
        Timestamp::from_unix_millis(i64::try_from(self.0 >> Self::RANDOM_BITS).unwrap_or(i64::MAX))
    }

    /// Reads 26 canonical characters.
    ///
    /// # Errors
    ///
    /// [`IdError::Ulid`] for another length, a lowercase or ambiguous character, or a number above 128 bits.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        if text.len() != Self::LENGTH || text.as_bytes().first().is_none_or(|first| *first > b'7') {
            return Err(IdError::Ulid);
        }
        text.bytes()
            .try_fold(0_u128, |value, character| Some(value << 5 | u128::from(digit(character)?)))
            .map(Self)
            .ok_or(IdError::Ulid)
    }
}

impl FromStr for Ulid {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        Self::parse(text)
    }
}

impl fmt::Display for Ulid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; Self::LENGTH];
        let mut rest = self.0;
        for character in text.iter_mut().rev() {
            let [digit, ..] = rest.to_le_bytes();
            *character = symbol(digit & 31);
            rest >>= 5;
        }
        f.write_str(str::from_utf8(&text).unwrap_or_default())
    }
}

/// The character of a digit below 32; `I`, `L`, `O` and `U` do not exist in this alphabet.
fn symbol(digit: u8) -> u8 {
    match digit {
        0..=9 => b'0' + digit,
        10..=17 => b'A' + (digit - 10),
        18..=19 => b'J' + (digit - 18),
        20..=21 => b'M' + (digit - 20),
        22..=26 => b'P' + (digit - 22),
        _ => b'V' + ((digit - 27) & 7),
    }
}

/// The digit of a character, in the canonical uppercase spelling only.
fn digit(character: u8) -> Option<u8> {
    Some(match character {
        b'0'..=b'9' => character - b'0',
        b'A'..=b'H' => character - b'A' + 10,
        b'J'..=b'K' => character - b'J' + 18,
        b'M'..=b'N' => character - b'M' + 20,
        b'P'..=b'T' => character - b'P' + 22,
        b'V'..=b'Z' => character - b'V' + 27,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_known_ulid_shows_its_time() {
        let ulid = Ulid::parse("01K3MB2R4Y8ZC4YRXB2N6VD9FT").unwrap();
        assert_eq!(ulid.to_string(), "01K3MB2R4Y8ZC4YRXB2N6VD9FT");
        assert_eq!(ulid.time().unix_millis(), 0x198_e8b1_609e);
    }

    #[test]
    fn every_character_of_the_alphabet_has_its_own_digit() {
        let alphabet: String = (0..32).map(|digit| char::from(symbol(digit))).collect();
        assert_eq!(alphabet, "0123456789ABCDEFGHJKMNPQRSTVWXYZ");
        assert_eq!(alphabet.bytes().filter_map(digit).collect::<Vec<_>>(), (0..32).collect::<Vec<_>>());
    }

    #[test]
    fn only_the_canonical_spelling_is_read() {
        for text in [
            "",
            "01K3MB2R4Y8ZC4YRXB2N6VD9F",
            "01K3MB2R4Y8ZC4YRXB2N6VD9FTT",
            "01k3mb2r4y8zc4yrxb2n6vd9ft",
            "81K3MB2R4Y8ZC4YRXB2N6VD9FT",
            "0IK3MB2R4Y8ZC4YRXB2N6VD9FT",
            "0LK3MB2R4Y8ZC4YRXB2N6VD9FT",
            "0OK3MB2R4Y8ZC4YRXB2N6VD9FT",
            "0UK3MB2R4Y8ZC4YRXB2N6VD9FT",
            "01K3MB2R4Y8ZC4YRXB2N6VD9F\u{e9}",
            "01K3MB2R4Y8ZC4YRXB2N6VD9F ",
        ] {
            assert_eq!(Ulid::parse(text), Err(IdError::Ulid), "{text}");
        }
        assert_eq!(Ulid::parse("7ZZZZZZZZZZZZZZZZZZZZZZZZZ"), Ok(Ulid::MAX));
        assert_eq!(Ulid::parse("00000000000000000000000000"), Ok(Ulid::MIN));
    }

    proptest! {
        #[test]
        fn reading_undoes_writing_and_text_sorts_like_the_number(left: u128, right: u128) {
            let (left, right) = (Ulid::from_u128(left), Ulid::from_u128(right));
            prop_assert_eq!(Ulid::parse(&left.to_string()), Ok(left));
            prop_assert_eq!(left.cmp(&right), left.to_string().cmp(&right.to_string()));
        }

        #[test]
        fn whatever_is_read_is_written_the_same(text in "[0-9A-Za-z]{26}") {
            if let Ok(ulid) = Ulid::parse(&text) {
                prop_assert_eq!(ulid.to_string(), text);
            }
        }
    }
}
