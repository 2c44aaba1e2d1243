//! Fields on the command line: declaring them for a question, and reading the values of an answer.

use std::str::FromStr;

use handoff_protocol::{
    decision::{Field, FieldKind, Requires},
    digest::Digest,
    json::{Json, Number, Object, read_str},
};

/// A declared field: `NAME:TYPE` or `NAME:TYPE:OPTION,OPTION`; a `?` behind the name makes it optional.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FieldSpec {
    name: String,
    required: bool,
    kind: SpecKind,
}

#[derive(Clone, Debug, PartialEq)]
enum SpecKind {
    Choice { options: Vec<String>, multi: bool },
    Plain(&'static str),
}

impl FieldSpec {
    /// One required choice.
    pub(crate) fn choice(name: &str, options: Vec<String>) -> Self {
        Self { name: name.to_owned(), required: true, kind: SpecKind::Choice { options, multi: false } }
    }

    /// One required text.
    pub(crate) fn text(name: &str) -> Self {
        Self { name: name.to_owned(), required: true, kind: SpecKind::Plain("text") }
    }

    /// The field as a raise declares it.
    pub(crate) fn to_json(&self) -> Json {
        let mut field = Object::new();
        field.insert("name", self.name.as_str());
        field.insert("label", label(&self.name));
        match &self.kind {
            SpecKind::Choice { options, multi } => {
                field.insert("type", "choice");
                let option = |id: &String| Json::object([("id", id.as_str().into()), ("label", id.as_str().into())]);
                field.insert("options", options.iter().map(option).collect::<Vec<_>>());
                if *multi {
                    field.insert("multi", true);
                }
            }
            SpecKind::Plain(name) => {
                field.insert("type", *name);
            }
        }
        field.insert("required", self.required);
        Json::from(field)
    }
}

/// What people read instead of a field's name: its words, each with a capital.
fn label(name: &str) -> String {
    let capital = |word: &str| {
        let mut characters = word.chars();
        let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
        first + characters.as_str()
    };
    name.split('_').filter(|word| !word.is_empty()).map(capital).collect::<Vec<_>>().join(" ")
}

/// The types that a field can be declared with.
const TYPES: [&str; 8] = ["choice", "choices", "text", "number", "boolean", "attestation", "document", "file_ref"];

/// What is said of a type that does not exist.
fn unknown_type(name: &str) -> String {
    let close = TYPES.iter().map(|known| (strsim::jaro_winkler(known, name), known));
    let closest = close.filter(|(likeness, _)| *likeness > 0.7).max_by(|one, other| one.0.total_cmp(&other.0));
    let meant = closest.map(|(_, known)| format!("; did you mean `{known}`?")).unwrap_or_default();
    format!("the types are {}{meant}", TYPES.join(", "))
}

impl FromStr for FieldSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shape = "expected NAME:TYPE or NAME:TYPE:OPTION,OPTION";
        let mut parts = text.splitn(3, ':');
        let (Some(name), Some(type_name)) = (parts.next(), parts.next()) else { return Err(shape.to_owned()) };
        let options: Vec<String> = parts.next().map(split_list).unwrap_or_default();
        let (name, required) = name.strip_suffix('?').map_or((name, true), |name| (name, false));
        if name.is_empty() {
            return Err(shape.to_owned());
        }
        let plain = *TYPES.iter().find(|known| **known == type_name).ok_or_else(|| unknown_type(type_name))?;
        let kind = match plain {
            "choice" | "choices" if options.is_empty() => {
                return Err(format!("`{type_name}` needs options: NAME:{type_name}:OPTION,OPTION"));
            }
            "choice" | "choices" => SpecKind::Choice { options, multi: type_name == "choices" },
            _ if !options.is_empty() => return Err("only `choice` and `choices` have options".to_owned()),
            _ => SpecKind::Plain(plain),
        };
        Ok(Self { name: name.to_owned(), required, kind })
    }
}

/// Splits `a,b,c`, leaving out what is empty.
pub(crate) fn split_list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

/// A value as it was typed: `NAME=VALUE`, read by the type of its field, or `NAME:=JSON`, which says its type itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TypedValue {
    name: String,
    given: Given,
}

#[derive(Clone, Debug, PartialEq)]
enum Given {
    Text(String),
    Json(Json),
}

impl FromStr for TypedValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, text) = text.split_once('=').ok_or("expected NAME=VALUE or NAME:=JSON")?;
        let (name, given) = match name.strip_suffix(':') {
            // No field's name ends in a colon.
            Some(name) => {
                let json =
                    read_str(text).map_err(|_| "expected JSON behind `:=`; a text needs quotes: NAME:='\"…\"'")?;
                (name, Given::Json(json))
            }
            None => (name, Given::Text(text.to_owned())),
        };
        Ok(Self { name: name.trim().to_owned(), given })
    }
}

/// Reads typed values by the types of the fields that they are for. The rules are the server's; what is read here is
/// only what a text can mean.
///
/// # Errors
///
/// One line that names the field.
pub(crate) fn values(requires: &Requires, typed: &[TypedValue]) -> Result<Object, String> {
    let mut values = Object::new();
    for value in typed {
        let field = requires.field(&value.name).ok_or_else(|| {
            let names: Vec<&str> = requires.fields.iter().map(|field| field.name.as_str()).collect();
            format!("the request has no field of the name that was given; its fields: {}", names.join(", "))
        })?;
        let read = match &value.given {
            Given::Json(json) => json.clone(),
            Given::Text(text) => {
                read_value(field, text).ok_or_else(|| format!("`{}` {}", field.name, expected(field)))?
            }
        };
        put(&mut values, &field.name, read, matches!(field.kind, FieldKind::Choice { multi: true, .. }))?;
    }
    Ok(values)
}

/// The values, where each says its type itself and no request is needed to read them.
///
/// # Errors
///
/// One line that says what to give instead.
pub(crate) fn json_values(typed: &[TypedValue]) -> Result<Object, String> {
    let mut values = Object::new();
    for value in typed {
        let Given::Json(json) = &value.given else {
            return Err(
                "give each value as JSON, NAME:=JSON (a text in quotes: NAME:='\"…\"'), or the whole answer with \
                        --file"
                    .to_owned(),
            );
        };
        put(&mut values, &value.name, json.clone(), false)?;
    }
    Ok(values)
}

/// Puts a value beside the others; of a field that takes several, all that were given.
fn put(values: &mut Object, name: &str, value: Json, several: bool) -> Result<(), String> {
    if let (true, Some(Json::Array(kept)), Json::Array(more)) = (several, values.get_mut(name), &value) {
        kept.extend(more.iter().cloned());
        return Ok(());
    }
    match values.insert(name, value) {
        None => Ok(()),
        Some(_) => Err(format!("`{name}` is given twice")),
    }
}

/// Refuses values that no answer can have: a condition on them would never hold.
///
/// # Errors
///
/// One line that names the field.
pub(crate) fn possible(requires: &Requires, wanted: &Object) -> Result<(), String> {
    for field in &requires.fields {
        let (FieldKind::Choice { options, .. }, Some(value)) = (&field.kind, wanted.get(&field.name)) else { continue };
        let known = |id: &Json| options.iter().any(|option| id.as_str() == Some(option.id.as_str()));
        if !value.as_array().map_or_else(|| known(value), |ids| ids.iter().all(known)) {
            return Err(format!("`{}` {}", field.name, expected(field)));
        }
    }
    Ok(())
}

/// The first field whose value is not the wanted one; several chosen options are compared without their order.
pub(crate) fn differing<'a>(wanted: &'a Object, answered: &Json) -> Option<&'a str> {
    let same = |one: &Json, other: &Json| match (one.as_array(), other.as_array()) {
        (Some(ones), Some(others)) => {
            let mut digests = [ones, others].map(|items| items.iter().map(|item| Digest::of_json(item).ok()).collect());
            digests.iter_mut().for_each(|digests: &mut Vec<_>| digests.sort_unstable());
            let [ones, others] = digests;
            !ones.contains(&None) && ones == others
        }
        _ => matches!((Digest::of_json(one), Digest::of_json(other)), (Ok(one), Ok(other)) if one == other),
    };
    let mut members = wanted.iter();
    members.find(|(name, value)| answered.get(name).is_none_or(|given| !same(value, given))).map(|(name, _)| name)
}

fn read_value(field: &Field, text: &str) -> Option<Json> {
    match &field.kind {
        FieldKind::Choice { multi: true, .. } if text.trim_start().starts_with('[') => read_str(text).ok(),
        FieldKind::Choice { multi: true, .. } => {
            Some(Json::Array(split_list(text).into_iter().map(Json::from).collect()))
        }
        FieldKind::Choice { multi: false, .. } => Some(Json::from(text.trim())),
        FieldKind::Text { .. } => Some(Json::from(text)),
        FieldKind::Number { .. } => Number::from_str(text.trim()).ok().map(Json::from),
        FieldKind::Boolean | FieldKind::Attestation => match text.trim() {
            "true" | "yes" => Some(Json::from(true)),
            "false" | "no" => Some(Json::from(false)),
            _ => None,
        },
        FieldKind::Document { .. } => read_str(text).ok(),
        FieldKind::FileRef => Some(Json::from(text.trim())),
    }
}

/// What a field wants, in words.
pub(crate) fn expected(field: &Field) -> String {
    match &field.kind {
        FieldKind::Choice { options, multi } => {
            let ids: Vec<&str> = options.iter().map(|option| option.id.as_str()).collect();
            format!("wants {} of: {}", if *multi { "any" } else { "one" }, ids.join(", "))
        }
        FieldKind::Text { max_len: Some(max) } => format!("wants a text of at most {max} characters"),
        FieldKind::Text { max_len: None } => "wants a text".to_owned(),
        FieldKind::Number { .. } => "wants a whole number".to_owned(),
        FieldKind::Boolean => "wants true or false".to_owned(),
        FieldKind::Attestation => "wants true".to_owned(),
        FieldKind::Document { schema_ref: Some(schema) } => format!("wants a JSON document that follows {schema}"),
        FieldKind::Document { schema_ref: None } => "wants a JSON document".to_owned(),
        FieldKind::FileRef => "wants a reference to a file".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requires(specs: &[&str]) -> Requires {
        let fields: Vec<Json> = specs.iter().map(|spec| spec.parse::<FieldSpec>().unwrap().to_json()).collect();
        let answer = Json::object([("fields", Json::from(fields))]);
        Requires::read(&Json::object([("v", Json::from(1)), ("answer", answer)])).unwrap()
    }

    fn read(specs: &[&str], typed: &[&str]) -> Result<String, String> {
        let typed: Vec<TypedValue> = typed.iter().map(|text| text.parse().unwrap()).collect();
        values(&requires(specs), &typed).map(|values| Json::from(values).to_text())
    }

    #[test]
    fn every_type_can_be_declared_and_the_protocol_accepts_it() {
        let declared =
            requires(&["a:choice:x,y", "b:choices:x,y", "c?:text", "d:number", "e:boolean", "f:attestation"]);
        assert_eq!(declared.fields.len(), 6);
        assert_eq!(requires(&["g:document", "h:file_ref"]).fields.len(), 2);
        assert_eq!(requires(&["refund_amount:number"]).fields.first().unwrap().title(), "Refund Amount");
        assert!(!declared.field("c").unwrap().required && declared.field("d").unwrap().required);
    }

    #[test]
    fn a_spec_that_cannot_be_meant_is_refused() {
        for spec in ["", "a", ":text", "?:text", "a:choice", "a:choice:,", "a:text:x", "a:secret"] {
            assert!(spec.parse::<FieldSpec>().is_err(), "{spec}");
        }
    }

    #[test]
    fn a_slip_in_the_type_is_mended_before_anything_else_is_said() {
        let error = "a:chioce:x,y".parse::<FieldSpec>().unwrap_err();
        assert!(error.ends_with("did you mean `choice`?"), "{error}");
        let error = "a:hunter2:x,y".parse::<FieldSpec>().unwrap_err();
        assert!(error.starts_with("the types are choice, ") && !error.contains("mean"), "{error}");
    }

    #[test]
    fn values_are_read_by_the_type_of_their_field() {
        let specs = ["a:choice:x,y", "b:choices:x,y", "c:text", "d:number", "e:boolean", "f:attestation"];
        let typed = ["a=x", "b=x, y", "c= 7 = true ", "d=3e2", "e=no", "f=yes"];
        assert_eq!(
            read(&specs, &typed).unwrap(),
            r#"{"a":"x","b":["x","y"],"c":" 7 = true ","d":3e2,"e":false,"f":true}"#
        );
        assert_eq!(read(&specs, &["b=[\"y\"]"]).unwrap(), r#"{"b":["y"]}"#);
    }

    #[test]
    fn what_no_value_can_be_is_named_and_not_quoted() {
        for (specs, typed) in [
            (["d:number"], "d=hunter2"),
            (["d:boolean"], "d=hunter2"),
            (["d:text"], "hunter2=x"),
            (["d:choices:x"], "d=[hunter2"),
        ] {
            let error = read(&specs, &[typed]).unwrap_err();
            assert!(error.contains('d') && !error.contains("hunter2"), "{error}");
        }
        assert!(read(&["d:text"], &["d=x", "d=y"]).unwrap_err().contains("twice"));
    }

    #[test]
    fn several_choices_may_be_given_one_by_one() {
        assert_eq!(read(&["b:choices:x,y,z"], &["b=x", "b=z,y"]).unwrap(), r#"{"b":["x","z","y"]}"#);
        assert!(read(&["b:choice:x,y"], &["b=x", "b=y"]).unwrap_err().contains("twice"));
    }

    #[test]
    fn a_value_may_say_its_type_itself() {
        let specs = ["a:choice:x,y", "c:text", "d:number"];
        assert_eq!(read(&specs, &["a=x", r#"c:="7""#, "d:=7"]).unwrap(), r#"{"a":"x","c":"7","d":7}"#);
        let typed = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<TypedValue>>();
        let alone = json_values(&typed(&[r#"c:="=""#, "d:=[1]"])).unwrap();
        assert_eq!(Json::from(alone).to_text(), r#"{"c":"=","d":[1]}"#);
        assert!(json_values(&typed(&["c=x"])).unwrap_err().contains("NAME:=JSON"));
        let error = "c:=hunter2".parse::<TypedValue>().unwrap_err();
        assert!(error.contains("needs quotes") && !error.contains("hunter2"), "{error}");
    }

    #[test]
    fn a_condition_holds_for_what_means_the_same_and_one_that_cannot_hold_is_refused() {
        let requires = requires(&["a:choice:x,y", "b:choices:x,y", "d:number"]);
        let wanted = |texts: &[&str]| {
            let typed: Vec<TypedValue> = texts.iter().map(|text| text.parse().unwrap()).collect();
            values(&requires, &typed).unwrap()
        };
        let answered = read_str(r#"{"a":"x","b":["y","x"],"d":300}"#).unwrap();
        assert_eq!(differing(&wanted(&["a=x", "b=x,y", "d=3e2"]), &answered), None);
        assert_eq!(differing(&wanted(&["a=x", "d=301"]), &answered), Some("d"));
        assert_eq!(differing(&wanted(&["b=x"]), &answered), Some("b"));
        assert_eq!(
            differing(&wanted(&["a=x"]), &read_str("{}").unwrap()),
            Some("a"),
            "what is not answered is not met"
        );
        assert!(possible(&requires, &wanted(&["a=z"])).unwrap_err().contains("wants one of: x, y"));
        assert!(possible(&requires, &wanted(&["a=x", "b=y"])).is_ok());
    }
}
