//! Every case of a directory.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::{Case, read, variables};
use crate::{
    json,
    members::{Fault, Place},
};

/// The file beside the directory of the cases that names the rules which have none.
pub const WITHOUT_CASE: &str = "without-case.json";

/// Every case.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    /// Where they stand.
    pub directory: PathBuf,
    /// The rules that no case can observe, and why.
    pub without_case: BTreeMap<String, String>,
    /// The cases, in the order of their ids, numbers by value.
    pub cases: Vec<Case>,
}

impl Suite {
    /// What tells these cases from others: the digest over their ids and the digests of their files.
    #[must_use]
    pub fn digest(&self) -> String {
        let lines = self.cases.iter().map(|case| format!("{} {}\n", case.id, case.digest));
        format!("sha256:{}", json::sha256_hex(lines.collect::<String>().as_bytes()))
    }
}

/// Loads every `.json` file below a directory as a case.
///
/// # Errors
///
/// A line for each file that cannot be read, is not a case, or has the id of another.
pub fn load(directory: &Path) -> Result<Suite, Vec<String>> {
    let mut faults = Vec::new();
    let mut files = Vec::new();
    if let Err(error) = collect(directory, &mut files) {
        let mend = "run it at the repository's root, or give --cases and --spec";
        return Err(vec![format!("{}: {error}; {mend}", directory.display())]);
    }
    files.sort();
    let mut cases: Vec<Case> = Vec::new();
    for file in files {
        match load_case(&file) {
            Ok(case) => match cases.iter().find(|other| other.id == case.id) {
                Some(other) => faults.push(format!(
                    "{}: `case` is `{}`, as in {}; each id stands once",
                    file.display(),
                    case.id,
                    other.file.display()
                )),
                None => cases.push(case),
            },
            Err(problem) => faults.push(problem),
        }
    }
    if cases.is_empty() && faults.is_empty() {
        faults.push(format!("{}: there is no case here", directory.display()));
    }
    let without_case = without_case(&directory.with_file_name(WITHOUT_CASE)).unwrap_or_else(|problem| {
        faults.push(problem);
        BTreeMap::new()
    });
    cases.sort_by_cached_key(|case| order(&case.id));
    if faults.is_empty() { Ok(Suite { directory: directory.to_owned(), without_case, cases }) } else { Err(faults) }
}

/// A key by which `C-2` comes before `C-10`, and requirements and invariants before the rest.
fn order(id: &str) -> (u8, Vec<(String, u64)>) {
    let group = match id.split(|next: char| next == '-' || next.is_ascii_digit()).next() {
        Some("C") => 0,
        Some("I") => 1,
        _ => 2,
    };
    let mut parts = Vec::new();
    let mut rest = id;
    while !rest.is_empty() {
        let digits = rest.find(|next: char| next.is_ascii_digit()).unwrap_or(rest.len());
        let (word, behind) = rest.split_at_checked(digits).unwrap_or((rest, ""));
        let end = behind.find(|next: char| !next.is_ascii_digit()).unwrap_or(behind.len());
        let (number, behind) = behind.split_at_checked(end).unwrap_or((behind, ""));
        parts.push((word.to_owned(), number.parse().unwrap_or_default()));
        rest = behind;
    }
    (group, parts)
}

fn load_case(file: &Path) -> Result<Case, String> {
    let named = |problem: String| format!("{}: {problem}", file.display());
    if file.is_symlink() || file.extension().is_none_or(|extension| extension != "json") {
        return Err(named("is no case: a case is a file whose name ends in `.json`".to_owned()));
    }
    let text = fs::read_to_string(file).map_err(|error| named(error.to_string()))?;
    let document = json::read(&text).map_err(named)?;
    let case = read::case(file, &text, &document).map_err(|fault| named(fault.to_string()))?;
    variables::check(&document).map_err(|fault| named(fault.to_string()))?;
    Ok(case)
}

/// Reads the list of rules without a case; a suite that has no such list has a case for each.
fn without_case(file: &Path) -> Result<BTreeMap<String, String>, String> {
    if !file.exists() {
        return Ok(BTreeMap::new());
    }
    let named = |problem: String| format!("{}: {problem}", file.display());
    let text = fs::read_to_string(file).map_err(|error| named(error.to_string()))?;
    let document = json::read(&text).map_err(named)?;
    let reason = |(id, place): (&str, Place<'_>)| match place.string()? {
        reason if reason.trim().is_empty() => Err(place.fault("must say why there is no case")),
        reason => Ok((id.to_owned(), reason)),
    };
    let members = Place::whole(&document).members().map_err(|fault| named(fault.to_string()))?;
    members.all().into_iter().map(reason).collect::<Result<_, Fault>>().map_err(|fault| named(fault.to_string()))
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        // Links are not followed: they could lead round in a circle, and out of the suite.
        match entry.file_type()? {
            kind if kind.is_dir() => collect(&entry.path(), files)?,
            _ => files.push(entry.path()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn numbers_in_ids_are_ordered_by_value() {
        let mut ids = ["I1", "C-10", "B-durations", "C-6b", "C-2", "C-6", "I10", "I2"];
        ids.sort_by_cached_key(|id| order(id));
        assert_eq!(ids, ["C-2", "C-6", "C-6b", "C-10", "I1", "I2", "I10", "B-durations"]);
    }
}
