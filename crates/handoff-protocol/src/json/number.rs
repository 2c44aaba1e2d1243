//! Numbers as text, and the exact test of what their value is (N-1, N-2).

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The largest integer that every JSON reader agrees on, 2^53 - 1 (N-1).
pub const MAX_SAFE_INTEGER: i64 = 9_007_199_254_740_991;

/// Exponents are cut off here: far beyond any text that fits in memory, far below overflow.
const EXPONENT_LIMIT: i64 = 100_000_000_000_000_000;

/// Digits that a safe integer can have.
const SAFE_DIGITS: u64 = 16;

/// A JSON number, kept as the text that spelled it.
///
/// Two numbers are equal if their texts are: `4` and `4.0` differ until
/// [`normalize_numbers`](super::normalize_numbers) has been over them.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Number(Box<str>);

/// Why a number has no safe integer value (N-1).
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum NumberFault {
    /// The value has a fraction.
    #[error("not an integer")]
    NotAnInteger,
    /// The value is an integer beyond 2^53 - 1 in either direction.
    #[error("out of the safe range of +/-9007199254740991")]
    OutOfSafeRange,
}

/// A text is no JSON number.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("not a JSON number")]
pub struct NotANumber;

impl Number {
    /// Keeps a text that is already known to follow the grammar.
    pub(super) fn from_checked(text: &str) -> Self {
        Self(text.into())
    }

    /// Spells a finite float with the fewest digits that bring it back; nothing for infinities and NaN.
    pub(super) fn from_f64(value: f64) -> Option<Self> {
        value.is_finite().then(|| Self(format!("{value:?}").into()))
    }

    /// Overwrites the text in memory; what is left is no number.
    pub(super) fn wipe(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.0);
    }

    /// Gives the text, as it was read.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Tells whether the text is a plain integer, without point and exponent.
    pub(super) fn is_plain(&self) -> bool {
        self.0.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    }

    /// Gives the value if the text is a plain integer that fits 64 bits; `4.0` and `1e2` are not.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// Gives the value if the text is a plain non-negative integer that fits 64 bits.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// Gives the nearest float, which may be infinite; never use it for anything that is digested.
    #[must_use]
    pub fn as_f64(&self) -> f64 {
        // The JSON grammar is a part of the one that Rust reads.
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// Gives the value if it is an integer within +/-(2^53 - 1), whatever its spelling (N-1, N-2).
    #[must_use]
    pub fn safe_integer(&self) -> Option<i64> {
        self.integer().ok()
    }

    /// Gives the value if it is an integer within +/-(2^53 - 1), or the reason why not (N-1, N-2).
    ///
    /// The arithmetic is exact and on the text, and its cost is that of one pass over it: an exponent
    /// of a billion costs nothing.
    ///
    /// ```
    /// use handoff_protocol::json::{Number, NumberFault};
    ///
    /// assert_eq!("3e2".parse::<Number>()?.integer(), Ok(300));
    /// assert_eq!("0.5".parse::<Number>()?.integer(), Err(NumberFault::NotAnInteger));
    /// # Ok::<(), handoff_protocol::json::NotANumber>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`NumberFault::NotAnInteger`] for a fraction, however small; [`NumberFault::OutOfSafeRange`] beyond the range.
    pub fn integer(&self) -> Result<i64, NumberFault> {
        integer_of(&self.0)
    }
}

/// Gives the value of a number's text, as [`Number::integer`] does.
pub(super) fn integer_of(text: &str) -> Result<i64, NumberFault> {
    if text.len() < 16
        && let Ok(plain) = text.parse::<i64>()
    {
        return Ok(plain);
    }
    exact_integer(text)
}

/// Reads mantissa and exponent apart: the value is `digits * 10^scale` with no zero at the end of `digits`.
fn exact_integer(text: &str) -> Result<i64, NumberFault> {
    let (negative, unsigned) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));

    let mut digits = 0_i64;
    let mut length = 0_u64;
    let mut zeros_behind = 0_u32;
    let mut decimals = 0_i64;
    let mut after_point = false;
    for byte in mantissa.bytes() {
        if byte == b'.' {
            after_point = true;
            continue;
        }
        decimals += i64::from(after_point);
        let digit = i64::from(byte.saturating_sub(b'0'));
        if digit != 0 {
            length += u64::from(zeros_behind) + 1;
            if length <= SAFE_DIGITS {
                digits = digits * 10_i64.pow(zeros_behind + 1) + digit;
            }
            zeros_behind = 0;
        } else if length != 0 {
            zeros_behind = zeros_behind.saturating_add(1);
        }
    }

    if length == 0 {
        return Ok(0);
    }
    let scale = bounded_exponent(exponent) - decimals + i64::from(zeros_behind);
    let Ok(zeros) = u32::try_from(scale) else {
        return Err(if scale < 0 { NumberFault::NotAnInteger } else { NumberFault::OutOfSafeRange });
    };
    if length + u64::from(zeros) > SAFE_DIGITS {
        return Err(NumberFault::OutOfSafeRange);
    }
    let magnitude = digits * 10_i64.pow(zeros);
    if magnitude > MAX_SAFE_INTEGER {
        return Err(NumberFault::OutOfSafeRange);
    }
    Ok(if negative { -magnitude } else { magnitude })
}

fn bounded_exponent(text: &str) -> i64 {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let magnitude =
        digits.bytes().fold(0_i64, |sum, byte| (sum * 10 + i64::from(byte.saturating_sub(b'0'))).min(EXPONENT_LIMIT));
    if negative { -magnitude } else { magnitude }
}

/// Measures the number at the start of `bytes`, or gives the offset at which the grammar breaks.
pub(super) fn number_span(bytes: &[u8]) -> Result<usize, usize> {
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    let whole = digits_at(bytes, at);
    if whole == 0 || (whole > 1 && bytes.get(at) == Some(&b'0')) {
        return Err(at);
    }
    at += whole;
    if bytes.get(at) == Some(&b'.') {
        let decimals = digits_at(bytes, at + 1);
        if decimals == 0 {
            return Err(at + 1);
        }
        at += 1 + decimals;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        let exponent = digits_at(bytes, at);
        if exponent == 0 {
            return Err(at);
        }
        at += exponent;
    }
    Ok(at)
}

fn digits_at(bytes: &[u8], at: usize) -> usize {
    bytes.iter().skip(at).take_while(|byte| byte.is_ascii_digit()).count()
}

impl FromStr for Number {
    type Err = NotANumber;

    fn from_str(text: &str) -> Result<Self, NotANumber> {
        if number_span(text.as_bytes()) == Ok(text.len()) { Ok(Self::from_checked(text)) } else { Err(NotANumber) }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<i32> for Number {
    fn from(integer: i32) -> Self {
        i64::from(integer).into()
    }
}

impl From<u32> for Number {
    fn from(integer: u32) -> Self {
        u64::from(integer).into()
    }
}

impl From<i64> for Number {
    fn from(integer: i64) -> Self {
        Self(integer.to_string().into())
    }
}

impl From<u64> for Number {
    fn from(integer: u64) -> Self {
        Self(integer.to_string().into())
    }
}

impl From<usize> for Number {
    fn from(integer: usize) -> Self {
        Self(integer.to_string().into())
    }
}
