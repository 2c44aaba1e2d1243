//! What is told of planted faults: a line each, and a page.

use super::Found;

/// How many cases a line names.
const MOST: usize = 8;

/// A fault's line.
#[must_use]
pub fn line(found: &Found) -> String {
    let fault = &found.fault;
    if found.cases.is_empty() {
        return format!("SURVIVED {} ({}) {}\n", fault.name, fault.rule, fault.breaks);
    }
    let named: Vec<_> = found.cases.iter().take(MOST).map(String::as_str).collect();
    let more = match found.cases.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("RED {} ({}): {}{more}\n", fault.name, fault.rule, named.join(" "))
}

/// The last line.
#[must_use]
pub fn totals(found: &[Found]) -> String {
    let red = found.iter().filter(|found| !found.cases.is_empty()).count();
    format!("{} faults: {red} turn a case red, {} survived\n", found.len(), found.len() - red)
}

/// The page that the tree keeps; `until_red` says whether each trial ended with the first red case.
#[must_use]
pub fn page(found: &[Found], until_red: bool) -> String {
    let mut page = format!("{HEAD}{}\n\n{TABLE}", if until_red { FIRST } else { EVERY });
    for found in found {
        let cases = match found.cases.len() {
            0 => "**none**".to_owned(),
            _ => found.cases.iter().map(|case| format!("`{case}`")).collect::<Vec<_>>().join(" "),
        };
        let fault = &found.fault;
        page.push_str(&format!("| `{}` | {} | {} | {cases} |\n", fault.name, fault.rule, cell(&fault.breaks)));
    }
    page
}

/// A text that stays in its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

const HEAD: &str = "\
# Planted faults

A suite that never turns red has shown nothing. `handoffd` can be built with the feature `planted-faults`, which no release
has; then `HANDOFF_PLANTED_FAULT` makes it get one thing wrong and everything else right. Each of these faults was planted in
a server of level 2 where links may answer and, where that showed nothing, in one of level 1 where they may not. Written by
`cargo xtask conformance --planted --write`.

";

const FIRST: &str = "\
The cases of the fault's own rule were run first, and each trial ended with the first case that turned red. The last column
names it; most faults turn more of them red.";

const EVERY: &str = "\
The whole suite was run against each, in both deployments. The last column names every case that turned red.";

const TABLE: &str = "\
| fault | rule | what it breaks | red |
|---|---|---|---|
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planted::Fault;

    fn found(cases: &[&str]) -> Found {
        let fault = Fault { name: "lost-event".into(), rule: "EV-1".into(), breaks: "An event | is lost.".into() };
        Found { fault, cases: cases.iter().map(|&case| case.to_owned()).collect() }
    }

    #[test]
    fn a_line_names_the_first_cases_or_says_that_the_fault_survived() {
        assert_eq!(line(&found(&["C-23", "I12"])), "RED lost-event (EV-1): C-23 I12\n");
        let many = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];
        assert_eq!(line(&found(&many)), "RED lost-event (EV-1): 1 2 3 4 5 6 7 8 and 2 more\n");
        assert_eq!(line(&found(&[])), "SURVIVED lost-event (EV-1) An event | is lost.\n");
        assert_eq!(totals(&[found(&["I1"]), found(&[])]), "2 faults: 1 turn a case red, 1 survived\n");
    }

    #[test]
    fn the_page_has_a_row_for_each() {
        let page = page(&[found(&["C-23", "I12"]), found(&[])], true);
        assert!(page.ends_with(
            "| `lost-event` | EV-1 | An event \\| is lost. | `C-23` `I12` |\n\
             | `lost-event` | EV-1 | An event \\| is lost. | **none** |\n"
        ));
    }
}
