//! Names that are like others: what may be meant by one that is not known.

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
