//! Names that are like others: what may be meant by one that is not known.

use handoff_protocol::json::DecodeError;

/// How alike two names must be for one to be a suggestion for the other.
const ALIKE: f64 = 0.7;

/// The known name that is most like this one, if one is like it at all.
pub(crate) fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, known)| known)
}

/// What follows a fault that names a member which is not known: the known one that may be meant. A name that is known and
/// stands in the wrong place suggests nothing.
pub(crate) fn meant(error: &DecodeError, known: &[&str]) -> String {
    let last = error.path.rsplit(['.', ']']).next().unwrap_or_default();
    if error.problem != "is not a known member" {
        return String::new();
    }
    if known.contains(&last) {
        return " here; it belongs elsewhere".to_owned();
    }
    closest(last, known.iter().copied()).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}
