//! What every keyed operation does with a body before anything digests, stores or serves it.

use super::{error::DecisionError, limits};
use crate::{
    digest::Digest,
    json::{DecodeError, Json, normalize_numbers},
};

/// Brings the numbers of a body to their stored spelling (rules N-3, N-5) and gives the digest that a repeat must equal
/// (rule K-5).
///
/// # Errors
///
/// [`DecisionError::InvalidRequest`] naming the first number that cannot be represented, and for a body that is nested
/// too deep to be read back from where it is kept.
pub(super) fn digest(body: &mut Json) -> Result<Digest, DecisionError> {
    if body.depth() > limits::BODY_DEPTH {
        return Err(
            DecodeError::new("", format!("must not be nested deeper than {} levels", limits::BODY_DEPTH)).into()
        );
    }
    normalize_numbers(body).map_err(|paths| {
        let path = paths.first().map(ToString::to_string).unwrap_or_default();
        DecodeError::new(path, "must be an integer within +/-(2^53 - 1); send exact decimals as text")
    })?;
    Digest::of_json(body).map_err(|_| DecisionError::Internal)
}
