//! How many receipts a second one processor signs.

use std::{hint::black_box, time::Duration};

use handoff_protocol::{
    digest::Digest,
    id::{KeyId, Ulid},
    secret::Secret,
    signature::SigningKey,
};

use super::again;
use crate::{error::BenchError, outcome::Measurement};

pub(super) fn measure(time: Duration) -> Result<Measurement, BenchError> {
    let key = SigningKey::from_seed(KeyId::from_ulid(Ulid::from_u128(7)), &Secret::new([7; 32]));
    let digest = Digest::of("a receipt");
    again("limit: Ed25519 signature", time, || {
        black_box(key.sign(black_box(&digest)));
        Ok(())
    })
}
