//! The heads of the case files: enough to see what a case says it tests. Everything else is the runner's to read.

use std::path::Path;

use serde::Deserialize;

/// What a case file says of itself.
#[derive(Debug, Deserialize)]
pub(crate) struct Case {
    /// Its id, which is also the name of its file.
    #[serde(rename = "case")]
    pub id: String,
    /// The rules that it tests.
    #[serde(default)]
    pub rules: Vec<String>,
    /// The requirements that it shows.
    #[serde(default)]
    pub requirements: Vec<String>,
    /// The invariants that it attacks.
    #[serde(default)]
    pub invariants: Vec<String>,
    /// Where it stands, seen from the root.
    #[serde(skip)]
    pub path: String,
}

impl Case {
    /// Everything that it says it tests.
    pub(crate) fn tested(&self) -> impl Iterator<Item = &str> {
        [&self.rules, &self.requirements, &self.invariants].into_iter().flatten().map(String::as_str)
    }
}

/// Reads the head of a case file.
///
/// # Errors
///
/// A finding, when it is no case or goes by another name than its file.
pub(crate) fn read(path: &str, text: &str) -> Result<Case, String> {
    let mut case: Case = serde_json::from_str(text).map_err(|error| format!("{path}: is no case: {error}"))?;
    if Path::new(path).file_stem().is_none_or(|stem| stem != case.id.as_str()) {
        return Err(format!("{path}: its case is called {}; a file has the name of its case", case.id));
    }
    path.clone_into(&mut case.path);
    Ok(case)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_case_says_what_it_tests() {
        let text = r#"{"case": "C-1", "rules": ["K-1"], "invariants": ["I20"], "scenarios": []}"#;
        let case = read("conformance/cases/C-1.json", text).expect("it is a case");
        assert_eq!(case.tested().collect::<Vec<_>>(), ["K-1", "I20"]);
    }

    #[test]
    fn another_name_than_the_file_s_is_a_finding() {
        let finding = read("conformance/cases/C-2.json", r#"{"case": "C-1"}"#).expect_err("the names differ");
        assert_eq!(finding, "conformance/cases/C-2.json: its case is called C-1; a file has the name of its case");
    }
}
