//! The JSON Schemas that a deployment registered for `document` fields (section 7). Nothing is ever fetched.

use std::{
    collections::BTreeMap,
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use handoff_protocol::{decision::Schemas, json::Json};
use jsonschema::{PatternOptions, Retrieve, Uri, Validator};
use serde_json::Value;

/// The most that is read of a file.
const LIMIT: u64 = 4 << 20;

/// A schema cannot be used.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the document schema `{}`: {problem}", path.display())]
pub struct SchemaError {
    path: PathBuf,
    problem: String,
}

/// Schemas by the reference under which they are registered.
#[derive(Debug, Default)]
pub struct RegisteredSchemas(BTreeMap<String, Validator>);

impl RegisteredSchemas {
    /// Reads the schema of each reference from its file. Schemas may refer to each other by their references.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] names the first file that cannot be read, is no schema, or refers to what is not registered.
    pub fn load(files: &BTreeMap<String, PathBuf>) -> Result<Self, SchemaError> {
        let fault = |path: &Path, problem: String| SchemaError { path: path.to_path_buf(), problem };
        let mut documents = BTreeMap::new();
        for (reference, path) in files {
            let document = read(path).map_err(|problem| fault(path, problem))?;
            documents.insert(reference.clone(), document);
        }
        let known = Known(Arc::new(documents));
        let mut validators = BTreeMap::new();
        for (reference, path) in files {
            let Some(document) = known.0.get(reference) else { continue };
            let validator = jsonschema::options()
                .with_retriever(known.clone())
                // Patterns of the linear kind alone: documents come from outside, and none may hold up the server.
                .with_pattern_options(PatternOptions::regex())
                .build(document)
                .map_err(|error| fault(path, error.to_string()))?;
            validators.insert(reference.clone(), validator);
        }
        Ok(Self(validators))
    }
}

impl Schemas for RegisteredSchemas {
    fn check(&self, schema_ref: &str, document: &Json) -> Option<bool> {
        let validator = self.0.get(schema_ref)?;
        // What has no form that the checker knows satisfies no schema.
        Some(to_value(document).is_some_and(|document| validator.is_valid(&document)))
    }

    fn faults(&self, schema_ref: &str, document: &Json) -> Vec<String> {
        let (Some(validator), Some(document)) = (self.0.get(schema_ref), to_value(document)) else { return Vec::new() };
        let mut places: Vec<String> =
            validator.iter_errors(&document).take(FAULTS).map(|error| error.instance_path().to_string()).collect();
        places.dedup();
        places
    }
}

/// What schemas may refer to: each other.
#[derive(Clone)]
struct Known(Arc<BTreeMap<String, Value>>);

impl Retrieve for Known {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        let found = self.0.get(uri.as_str().trim_end_matches('#'));
        found.cloned().ok_or_else(|| "it refers to a schema that is not registered; nothing is fetched".into())
    }
}

fn read(path: &Path) -> Result<Value, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    file.take(LIMIT).read_to_string(&mut text).map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| format!("is no JSON: {error}"))
}

fn to_value(document: &Json) -> Option<Value> {
    serde_json::from_str(&document.to_text()).ok()
}

/// How many places of a document are named at the most.
const FAULTS: usize = 10;

#[cfg(test)]
mod tests {
    use std::fs;

    use handoff_protocol::json::read_str;

    use super::*;

    fn load(schemas: &[(&str, &str)]) -> Result<RegisteredSchemas, SchemaError> {
        let directory = tempfile::tempdir().unwrap();
        let mut files = BTreeMap::new();
        for (number, (reference, text)) in schemas.iter().enumerate() {
            let path = directory.path().join(format!("{number}.json"));
            fs::write(&path, text).unwrap();
            files.insert((*reference).to_owned(), path);
        }
        RegisteredSchemas::load(&files)
    }

    #[test]
    fn a_document_is_checked_against_the_schema_of_its_reference() {
        let schemas = load(&[
            ("https://a.example/order", r#"{"type":"object","properties":{"n":{"$ref":"https://a.example/n"}}}"#),
            ("https://a.example/n", r#"{"type":"integer","minimum":1}"#),
        ])
        .unwrap();
        let check = |reference: &str, text: &str| schemas.check(reference, &read_str(text).unwrap());
        assert_eq!(check("https://a.example/order", r#"{"n":1}"#), Some(true));
        assert_eq!(check("https://a.example/order", r#"{"n":0}"#), Some(false));
        assert_eq!(check("https://a.example/order", r#"{"n":"1"}"#), Some(false));
        assert_eq!(check("https://a.example/other", "{}"), None);
        let faults = |text: &str| schemas.faults("https://a.example/order", &read_str(text).unwrap());
        assert_eq!((faults(r#"{"n":0}"#), faults(r#"{"n":1}"#)), (vec!["/n".to_owned()], Vec::new()));
    }

    #[test]
    fn a_schema_that_cannot_be_used_names_its_file() {
        for text in [
            "{",
            r#"{"type":"sausage"}"#,
            r#"{"$ref":"https://elsewhere.example/schema"}"#,
            r#"{"$ref":"file:///etc/hostname"}"#,
            r#"{"pattern":"(?<=a)b"}"#,
        ] {
            let error = load(&[("https://a.example/order", text)]).unwrap_err();
            assert!(error.to_string().contains("0.json`: "), "{error}");
        }
    }
}
