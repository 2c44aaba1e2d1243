//! New ids and random bytes for one transaction, from a time and a seed that the caller brings.

use std::fmt;

use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::{Id, SecretId, Ulid};
use crate::timestamp::Timestamp;

/// Makes the ids of one transaction, each strictly above every id that came before it in the tenant.
///
/// A mint is a function of its three arguments: the same time, last id and seed give the same ids again, which is what
/// makes a transaction repeatable in a test and in the simulator. The seed must be 32 bytes from the operating system's
/// generator (or from the simulator's), and must be used for one mint only.
///
/// ```
/// use handoff_protocol::id::{Mint, RequestId, ResumeToken, Ulid};
/// use handoff_protocol::timestamp::Timestamp;
///
/// let mut mint = Mint::new(Timestamp::from_unix_seconds(1_785_592_064), Ulid::MIN, [7; 32]);
/// let first: RequestId = mint.next();
/// let second: RequestId = mint.next();
/// assert!(first < second);
/// let token: ResumeToken = mint.unguessable();
/// assert_eq!(format!("{token:?}"), "rt_…redacted");
/// ```
pub struct Mint {
    now: Timestamp,
    // INVARIANT: no id that this mint returned lies above `last`, and none that it will return lies at or below it.
    last: Ulid,
    entropy: Expansion,
}

impl Mint {
    /// Opens a mint at an instant, above the last id of the tenant, with a fresh seed.
    #[must_use]
    pub fn new(now: Timestamp, last: Ulid, seed: [u8; 32]) -> Self {
        Self { now, last, entropy: Expansion::new(seed) }
    }

    /// Makes the next time-sortable id.
    ///
    /// Its time part is the mint's instant, unless an id of that instant or a later one exists already (more ids in one
    /// millisecond, or a clock that went back): then it lies a random step of 1 to 2^32 above the last one, so order
    /// holds and a neighbor cannot be guessed. A step that overflows the random part carries into the next millisecond.
    /// At [`Ulid::MAX`], which no clock reaches before the year 10889, minting stands still.
    #[expect(
        clippy::should_implement_trait,
        reason = "the caller chooses the type of each id, which an iterator cannot offer"
    )]
    pub fn next<I: Id>(&mut self) -> I {
        let fresh = Ulid::from_parts(self.now, u128::from_be_bytes(self.bytes()));
        self.last = if fresh.time() > self.last.time() {
            fresh
        } else {
            let step = u128::from(u32::from_be_bytes(self.bytes())) + 1;
            Ulid::from_u128(self.last.as_u128().saturating_add(step))
        };
        I::from_ulid(self.last)
    }

    /// Makes an id that is authority by possession: 128 bits of the seed's expansion, without a clock part (B-2).
    pub fn unguessable<S: SecretId>(&mut self) -> S {
        S::from_ulid(Ulid::from_u128(u128::from_be_bytes(self.bytes())))
    }

    /// Draws random bytes for anything else: keys, salts, secrets.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.entropy.byte())
    }

    /// Gives the instant that this mint works at.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// Gives the highest id so far, which the caller stores and hands to the tenant's next mint.
    #[must_use]
    pub const fn last(&self) -> Ulid {
        self.last
    }
}

impl fmt::Debug for Mint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mint").field("now", &self.now).field("last", &self.last).finish_non_exhaustive()
    }
}

/// An endless stream of bytes from one seed: the blocks SHA-256(seed ‖ 0), SHA-256(seed ‖ 1), and so on.
///
/// The seed is 256 uniform secret bits, of fixed length and in front of a counter of fixed length, so each block is the
/// hash function keyed with the seed on a distinct input of one compression call. Telling the stream from random bytes,
/// or one block from the others, would take a distinguisher for that keyed compression function or a guess of the seed.
/// Length extension does not apply: no input is a padded prefix of another, since all have the same 40 bytes.
struct Expansion {
    seed: Zeroizing<[u8; 32]>,
    counter: u64,
    block: std::array::IntoIter<u8, 32>,
}

impl Expansion {
    fn new(seed: [u8; 32]) -> Self {
        let seed = Zeroizing::new(seed);
        let block = Self::block(&seed, 0);
        Self { seed, counter: 0, block }
    }

    fn byte(&mut self) -> u8 {
        loop {
            if let Some(byte) = self.block.next() {
                return byte;
            }
            // A counter of 64 bits does not wrap in any run of any program.
            self.counter = self.counter.wrapping_add(1);
            self.block = Self::block(&self.seed, self.counter);
        }
    }

    fn block(seed: &[u8; 32], counter: u64) -> std::array::IntoIter<u8, 32> {
        let hash = Sha256::new().chain_update(seed).chain_update(counter.to_be_bytes()).finalize();
        <[u8; 32]>::from(hash).into_iter()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::{GrantHandle, ReceiptId, RequestId, ResumeToken, SessionRef};
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis)
    }

    #[test]
    fn the_first_id_of_a_millisecond_carries_that_millisecond() {
        let mut mint = Mint::new(at(1_785_592_064_123), Ulid::MIN, [1; 32]);
        let id: RequestId = mint.next();
        assert_eq!(id.ulid().time(), at(1_785_592_064_123));
        assert_eq!(mint.last(), id.ulid());
    }

    #[test]
    fn a_clock_that_went_back_does_not_break_the_order() {
        let last = Ulid::from_parts(at(2_000), 5);
        let mut mint = Mint::new(at(1_000), last, [1; 32]);
        let id: RequestId = mint.next();
        assert!(id.ulid() > last);
        assert_eq!(id.ulid().time(), at(2_000));
    }

    #[test]
    fn an_exhausted_millisecond_carries_into_the_next() {
        let last = Ulid::from_parts(at(2_000), u128::MAX);
        let mut mint = Mint::new(at(2_000), last, [1; 32]);
        let id: RequestId = mint.next();
        assert!(id.ulid() > last);
        assert_eq!(id.ulid().time(), at(2_001));
    }

    #[test]
    fn bearer_ids_do_not_depend_on_the_clock_or_on_the_last_id() {
        let mut early = Mint::new(at(0), Ulid::MIN, [9; 32]);
        let mut late = Mint::new(at(1_785_592_064_000), Ulid::from_parts(at(9), 9), [9; 32]);
        assert_eq!(early.unguessable::<ResumeToken>(), late.unguessable::<ResumeToken>());
        assert_eq!(early.last(), Ulid::MIN);
    }

    #[test]
    fn the_seed_expands_to_numbered_hash_blocks() {
        let mut mint = Mint::new(at(0), Ulid::MIN, [0; 32]);
        let bytes: [u8; 64] = mint.bytes();
        let block = |counter: u8| {
            let mut input = [0; 40];
            input[39] = counter;
            <[u8; 32]>::from(Sha256::digest(input))
        };
        assert_eq!(bytes[..32], block(0));
        assert_eq!(bytes[32..], block(1));
    }

    proptest! {
        #[test]
        fn ids_rise_and_never_repeat_whatever_the_clock_does(
            clocks in prop::collection::vec(0_i64..5, 1..20),
            seed: [u8; 32],
        ) {
            let (mut last, mut seen) = (Ulid::MIN, BTreeSet::new());
            for (run, millis) in clocks.into_iter().enumerate() {
                let mut seed = seed;
                seed[0] ^= u8::try_from(run).unwrap();
                let mut mint = Mint::new(at(millis), last, seed);
                for _ in 0..5 {
                    let before = mint.last();
                    let id: ReceiptId = mint.next();
                    prop_assert!(id.ulid() > before);
                    prop_assert!(seen.insert(id.ulid()));
                    prop_assert_eq!(ReceiptId::parse(&id.to_string()), Ok(id));
                    let handle: GrantHandle = mint.unguessable();
                    prop_assert_eq!(GrantHandle::parse(&handle.to_string()), Ok(handle));
                    let session: SessionRef = mint.unguessable();
                    prop_assert!(handle.ulid() != session.ulid());
                }
                last = mint.last();
            }
        }
    }
}
