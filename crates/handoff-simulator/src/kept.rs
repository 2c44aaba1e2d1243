//! Seeds that ever failed. They are played with every test run, each for as long as it comes to the same plan; what a seed
//! once showed that a rule or a checker can show by itself has a test of its own besides.

/// A line a seed: its number, about how many operations it had, and what was wrong.
const KEPT: &str = include_str!("../seeds.txt");

/// Every kept seed, with its number of operations.
#[must_use]
pub fn kept_seeds() -> Vec<(u64, u64)> {
    let numbers = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    };
    KEPT.lines().filter(|line| !line.starts_with('#')).filter_map(numbers).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_seed_or_a_remark() {
        let lines = KEPT.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).count();
        assert_eq!(kept_seeds().len(), lines);
    }
}
