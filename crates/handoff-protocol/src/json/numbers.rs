//! Bringing every number of a document to the one spelling that is stored (N-3).

use super::{Json, JsonPath, Number, Path};

/// How many places are reported below one top-level member.
///
/// Without a bound, a deep document with long names and many bad numbers would yield paths of thousands of times its
/// own size.
const REPORTED_PER_MEMBER: usize = 8;

/// Rewrites each number to its plain integer text, in place: `-0.0` to `0`, `4.0` to `4`, `3e2` to `300` (N-3).
///
/// # Errors
///
/// The places of the numbers that are not integers within +/-(2^53 - 1) (N-1), at most eight below any one top-level
/// member; every offending top-level member is named (N-4). The other numbers may have been rewritten by then.
pub fn normalize_numbers(value: &mut Json) -> Result<(), Vec<JsonPath>> {
    let mut faults = Faults { paths: Vec::new(), room: REPORTED_PER_MEMBER };
    normalize(value, Path::ROOT, 0, &mut faults);
    if faults.paths.is_empty() { Ok(()) } else { Err(faults.paths) }
}

struct Faults {
    paths: Vec<JsonPath>,
    room: usize,
}

fn normalize(value: &mut Json, path: Path<'_>, depth: usize, faults: &mut Faults) {
    if depth == 1 {
        faults.room = REPORTED_PER_MEMBER;
    }
    match value {
        Json::Number(number) => match number.safe_integer() {
            Some(integer) => rewrite(number, integer),
            #[cfg(feature = "planted-faults")]
            None if crate::planted::is_taken(number) => {}
            None if faults.room > 0 => {
                faults.room -= 1;
                faults.paths.push(path.to_owned());
            }
            None => {}
        },
        Json::Array(items) => {
            for (place, item) in items.iter_mut().enumerate() {
                normalize(item, path.index(place), depth + 1, faults);
            }
        }
        Json::Object(object) => {
            for (name, member) in object.iter_mut() {
                normalize(member, path.key(name), depth + 1, faults);
            }
        }
        Json::Null | Json::Bool(_) | Json::String(_) => {}
    }
}

/// Most numbers are plain already; only `-0`, points and exponents need another text.
fn rewrite(number: &mut Number, integer: i64) {
    #[cfg(feature = "planted-faults")]
    if crate::planted::Fault::NumbersKeptAsSpelled.is_planted() {
        return;
    }
    if number.text() == "-0" || number.as_i64().is_none() {
        *number = integer.into();
    }
}

#[cfg(test)]
mod tests {
    use super::super::read_str;
    use super::*;

    #[test]
    fn legal_numbers_are_rewritten_wherever_they_stand() {
        let mut value = read_str(r#"{"a":[-0.0,4.0,3e2,-0,{"b":0.5e1}],"c":"1.5","d":7}"#).unwrap();
        normalize_numbers(&mut value).unwrap();
        assert_eq!(value.to_text(), r#"{"a":[0,4,300,0,{"b":5}],"c":"1.5","d":7}"#);
    }

    #[test]
    fn every_illegal_number_is_named_by_its_place() {
        let mut value =
            read_str(r#"{"amount":0.5,"fine":1,"list":[1,9007199254740992],"deep":{"x":[{"y":1e-3}]}}"#).unwrap();
        let paths = normalize_numbers(&mut value).unwrap_err();
        let shown: Vec<_> = paths.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["amount", "list[1]", "deep.x[0].y"]);
        let fields: Vec<_> = paths.iter().filter_map(JsonPath::first_key).collect();
        assert_eq!(fields, ["amount", "list", "deep"]);
    }

    #[test]
    fn many_faults_below_one_member_hide_no_other_member() {
        let text = format!(r#"{{"a":[{}0.5],"b":0.5}}"#, "0.5,".repeat(1000));
        let paths = normalize_numbers(&mut read_str(&text).unwrap()).unwrap_err();
        assert_eq!(paths.len(), REPORTED_PER_MEMBER + 1);
        assert_eq!(paths.last().and_then(JsonPath::first_key), Some("b"));
    }
}
