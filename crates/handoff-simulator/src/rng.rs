//! Chance that a number decides, the same in every version of every dependency: seeds are kept for years.

/// `SplitMix64`: small, and good enough to choose what happens next. Nothing secret is drawn from it.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Chance that depends on `seed` and on nothing else.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Chance of its own for a purpose: what is drawn for one purpose moves nothing of another.
    #[must_use]
    pub fn of(seed: u64, purpose: &str) -> Self {
        let mut rng = Self(seed);
        for byte in purpose.bytes() {
            rng.0 = rng.0.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte);
            rng.draw();
        }
        rng
    }

    /// Sixty-four bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 where there is none.
    pub fn below(&mut self, end: u64) -> u64 {
        self.draw().checked_rem(end).unwrap_or(0)
    }

    /// A number from `low` to `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low.saturating_add(self.below(high.saturating_sub(low).saturating_add(1)))
    }

    /// Whether something comes to pass that does so `times` of a thousand times.
    pub fn chance(&mut self, times: u64) -> bool {
        self.below(1000) < times
    }

    /// One of several, if there is any.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        let place = self.below(u64::try_from(of.len()).unwrap_or(u64::MAX));
        of.get(usize::try_from(place).unwrap_or(usize::MAX))
    }

    /// One of several, by weight.
    pub fn weigh<T: Copy>(&mut self, of: &[(u64, T)]) -> Option<T> {
        let mut left = self.below(of.iter().map(|(weight, _)| weight).sum());
        for (weight, what) in of {
            match left.checked_sub(*weight) {
                Some(less) => left = less,
                None => return Some(*what),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_comes_to_the_same() {
        let drawn = |seed| {
            let mut rng = Rng::of(seed, "plan");
            [rng.draw(), rng.below(10), rng.between(5, 7)]
        };
        assert_eq!(drawn(7), drawn(7));
        assert_ne!(drawn(7), drawn(8));
        assert_eq!(Rng::new(0).draw(), 0xe220_a839_7b1d_cdaf, "the first number of the published algorithm");
    }
}
