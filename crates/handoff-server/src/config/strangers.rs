//! Variables of our name that say nothing here: a slip in a name would otherwise go unseen.

use std::ffi::OsString;

use super::setting;
use crate::likeness;

/// What the names of our variables begin with.
const OURS: &str = "HANDOFF_";

/// Variables that are read elsewhere: by the command line, by its programs, by the tests.
const ELSEWHERE: [&str; 5] =
    ["HANDOFF_CONFIG", "HANDOFF_URL", "HANDOFF_API_KEY", "HANDOFF_PERSON_TOKEN", "HANDOFF_CONTRACTS"];

/// A line for each variable that looks like ours and is none, with what may be meant. It is no fault: other programs may
/// share the beginning of the name, and a service of this name gets such variables from some orchestrators.
pub fn unknown_variables(names: impl IntoIterator<Item = OsString>) -> Vec<String> {
    let known = || setting::ALL.into_iter().map(|setting| setting.variable).chain(ELSEWHERE);
    #[cfg(feature = "planted-faults")]
    let known = || known().chain(["HANDOFF_PLANTED_FAULT"]);
    let mut unknown: Vec<String> = names
        .into_iter()
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.starts_with(OURS) && !known().any(|known| known == name))
        .collect();
    unknown.sort_unstable();
    let line = |name: String| {
        let ours = known().filter(|known| known.starts_with(OURS));
        let ours = ours.filter_map(|known| known.strip_prefix(OURS));
        // The beginning that all share would make everything alike.
        let meant = name.strip_prefix(OURS).and_then(|rest| likeness::closest(rest, ours));
        let meant = meant.map(|meant| format!("; did you mean {OURS}{meant}?")).unwrap_or_default();
        format!("{name} is not a variable of this server and says nothing{meant}")
    };
    unknown.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_suggested_and_what_is_read_elsewhere_is_passed_over() {
        let names = ["HANDOFF_PUBLIC_URL", "HANDOFF_URL", "HANDOFF_BIND", "HOME", "HANDOFF_ZZZ", "HANDOFF_SWEEP_MS"];
        let lines = unknown_variables(names.map(OsString::from));
        assert_eq!(
            lines,
            [
                "HANDOFF_PUBLIC_URL is not a variable of this server and says nothing; did you mean HANDOFF_PUBLIC_BASE?",
                "HANDOFF_SWEEP_MS is not a variable of this server and says nothing; did you mean \
                 HANDOFF_SWEEP_INTERVAL_MS?",
                "HANDOFF_ZZZ is not a variable of this server and says nothing",
            ]
        );
    }
}
