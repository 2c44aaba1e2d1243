//! The specification's map: which cases test which rule, requirement and invariant. It is held against the cases before
//! anything runs, so that a case that vanished, or was never written, stops a run instead of making it greener.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde::Deserialize;

use crate::{
    case::{Case, Suite, WITHOUT_CASE},
    report,
};

/// The number of invariants.
const INVARIANTS: u8 = 21;

/// The number of requirements, beside `C-6b`.
const REQUIREMENTS: u8 = 26;

/// The map, as `spec/map.json` has it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// The version of the specification.
    pub version: String,
    /// Each rule.
    pub rules: BTreeMap<String, Entry>,
    /// Each requirement of conformance.
    pub requirements: BTreeMap<String, Entry>,
    /// Each invariant.
    pub invariants: BTreeMap<String, Entry>,
}

/// What tests something. The members that say what implements it are not for the runner.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Entry {
    /// The ids of its cases.
    #[serde(default)]
    pub cases: Vec<String>,
    /// The lowest level that has to meet it.
    pub level: Option<u8>,
}

impl Map {
    /// Reads the map in a file.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is no map.
    pub fn load(path: &Path) -> Result<Self, String> {
        let of_file = |problem: String| format!("{}: {problem}", path.display());
        let text = fs::read_to_string(path).map_err(|error| of_file(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| of_file(error.to_string()))
    }

    /// Holds the map against the cases.
    ///
    /// # Errors
    ///
    /// A line that says how many cases there are, and one for each difference.
    pub fn compare(&self, suite: &Suite) -> Result<(), Vec<String>> {
        let mut differences = vec![self.sizes(suite)];
        let requirements: BTreeSet<_> =
            (1..=REQUIREMENTS).map(|number| format!("C-{number}")).chain(["C-6b".to_owned()]).collect();
        let invariants: BTreeSet<_> = (1..=INVARIANTS).map(|number| format!("I{number}")).collect();
        complete("requirement", &requirements, &self.requirements, &mut differences);
        complete("invariant", &invariants, &self.invariants, &mut differences);
        let cases: BTreeMap<_, _> = suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
        for (kind, entries, of_case) in self.kinds() {
            for (id, entry) in entries {
                for name in &entry.cases {
                    match cases.get(name.as_str()) {
                        None => differences.push(format!(
                            "the map names the case `{name}` for the {kind} {id}, and there is no such case"
                        )),
                        Some(case) if !of_case(case).contains(id) => differences.push(format!(
                            "the map names the case `{name}` for the {kind} {id}, and the case does not name it"
                        )),
                        Some(case) => leveled(kind, id, entry, case, &mut differences),
                    }
                }
            }
            for case in &suite.cases {
                for id in of_case(case) {
                    if !entries.get(id).is_some_and(|entry| entry.cases.contains(&case.id)) {
                        differences.push(unnamed(kind, id, case, entries.contains_key(id)));
                    }
                }
            }
        }
        for (id, entry) in &self.rules {
            match (entry.cases.is_empty(), suite.without_case.contains_key(id)) {
                (true, false) => differences.push(format!("the rule {id} has no case; {}", mend())),
                (false, true) => {
                    differences.push(format!("the rule {id} has a case; {WITHOUT_CASE} says that it has none"));
                }
                _ => {}
            }
        }
        for id in suite.without_case.keys().filter(|id| !self.rules.contains_key(*id)) {
            differences.push(format!("{WITHOUT_CASE} has the rule {id}, and there is no rule {id}"));
        }
        for case in &suite.cases {
            if self.kinds().iter().all(|(.., of_case)| of_case(case).is_empty()) {
                differences.push(format!("the case `{}` names no rule, requirement or invariant", case.id));
            }
        }
        if differences.len() == 1 { Ok(()) } else { Err(differences) }
    }

    /// What is compared, for whoever has to make sense of what differs.
    fn sizes(&self, suite: &Suite) -> String {
        let entries = self.kinds().into_iter().flat_map(|(_, entries, _)| entries.values());
        let named: BTreeSet<_> = entries.flat_map(|entry| &entry.cases).collect();
        let (directory, have) = (suite.directory.display(), report::cases(suite.cases.len()));
        format!("{directory} holds {have}, and the map names {}; they differ", named.len())
    }

    #[expect(clippy::type_complexity, reason = "three rows of one small table, used in this file alone")]
    fn kinds(&self) -> [(&'static str, &BTreeMap<String, Entry>, fn(&Case) -> &Vec<String>); 3] {
        [
            ("rule", &self.rules, |case| &case.rules),
            ("requirement", &self.requirements, |case| &case.requirements),
            ("invariant", &self.invariants, |case| &case.invariants),
        ]
    }
}

/// Each requirement and each invariant of the protocol must be there, with a case, and nothing else.
fn complete(kind: &str, wanted: &BTreeSet<String>, have: &BTreeMap<String, Entry>, differences: &mut Vec<String>) {
    for id in wanted {
        match have.get(id) {
            None => differences.push(format!("the map lacks the {kind} {id}")),
            Some(entry) if entry.cases.is_empty() => differences.push(format!("the {kind} {id} has no case")),
            Some(_) => {}
        }
    }
    for id in have.keys().filter(|id| !wanted.contains(*id)) {
        differences.push(format!("the map has the {kind} {id}, which the protocol does not know"));
    }
}

fn mend() -> String {
    format!("write one, or say in {WITHOUT_CASE} why there is none")
}

fn unnamed(kind: &str, id: &str, case: &Case, known: bool) -> String {
    let case = &case.id;
    if known {
        let mend = format!("name it in `Tested by` of that {kind}, and run `cargo xtask spec`");
        format!("the case `{case}` names the {kind} {id}, and the map does not name the case for it; {mend}")
    } else {
        format!("the case `{case}` names the {kind} {id}, and there is no {kind} {id}")
    }
}

fn leveled(kind: &str, id: &str, entry: &Entry, case: &Case, differences: &mut Vec<String>) {
    if let Some(level) = entry.level.filter(|level| *level < case.level) {
        differences
            .push(format!("the {kind} {id} is of level {level}, and its case `{}` of level {}", case.id, case.level));
    }
}
