//! The configuration file.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsString,
    fs,
    ops::Range,
    path::{Path, PathBuf},
};

use toml::de::{DeTable, DeValue};

use super::{
    ConfigError, SinkCommand,
    callbacks::{self, CallbackSections},
    channels::{self, ChannelConfig},
    error::place,
    setting::{self, Form, Setting},
    tenants::{self, TenantConfig},
};
use crate::{database_url::DatabaseUrl, likeness};

/// The section of document schemas.
const SCHEMAS: &str = "schemas";
/// The section of programs that take secret values.
const SINKS: &str = "sinks";

/// A configuration file as it was read; an empty one if there is none.
#[derive(Debug, Default)]
pub(super) struct File {
    settings: HashMap<&'static str, Given>,
    /// The files of document schemas by their references.
    pub(super) schemas: BTreeMap<String, PathBuf>,
    /// The programs that take secret values, by the providers' names.
    pub(super) sinks: BTreeMap<String, SinkCommand>,
    /// Named callback secrets, and endpoints.
    pub(super) callbacks: CallbackSections,
    /// What is said of tenants.
    pub(super) tenants: Vec<TenantConfig>,
    /// The channels that reach people, each with the place that a fault in it is at.
    pub(super) channels: Vec<(ChannelConfig, ConfigError)>,
}

/// A value of the file, in the form in which a variable would have it.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) value: OsString,
    pub(super) place: String,
}

impl File {
    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = fs::read_to_string(path).map_err(|error| ConfigError::file(path, error))?;
        Reading { path, text: &text }.file()
    }

    /// The value of a setting.
    pub(super) fn get(&self, setting: &Setting) -> Option<&Given> {
        self.settings.get(setting.key)
    }
}

/// A file while it is read.
pub(super) struct Reading<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Reading<'_> {
    fn file(&self) -> Result<File, ConfigError> {
        let document = DeTable::parse(self.text).map_err(|error| {
            // The message alone: the rest of the error repeats the line, which may hold a secret.
            self.fault(error.span().unwrap_or_default(), "is no TOML; write `key = \"value\"`, one a line")
        })?;
        let mut file = File::default();
        for (key, value) in document.get_ref() {
            let name = key.get_ref().as_ref();
            if name == SCHEMAS {
                file.schemas = self.schemas(value.get_ref(), value.span())?;
                continue;
            }
            if name == SINKS {
                file.sinks = self.sinks(value.get_ref(), value.span())?;
                continue;
            }
            if self.callbacks(&mut file.callbacks, name, value)? {
                continue;
            }
            if name == tenants::SECTION {
                file.tenants = self.tenants(value)?;
                continue;
            }
            if name == channels::SECTION {
                file.channels = self.channels(value)?;
                continue;
            }
            let setting = setting::ALL
                .into_iter()
                .find(|setting| setting.key == name)
                .ok_or_else(|| self.fault(key.span(), unknown(name)))?;
            let value = self
                .value(setting.form, value.get_ref())
                .ok_or_else(|| self.fault(value.span(), format!("`{}`: {}", setting.key, setting.form.expected())))?;
            let given =
                Given { value, place: format!("{}: `{}`", place(self.path, self.line(key.span())), setting.key) };
            file.settings.insert(setting.key, given);
        }
        Ok(file)
    }

    fn value(&self, form: Form, value: &DeValue<'_>) -> Option<OsString> {
        match (form, value) {
            (Form::Text, DeValue::String(text)) => Some(text.as_ref().into()),
            (Form::Path, DeValue::String(text)) => Some(self.beside(text).into_os_string()),
            // A fault is told of where the address is read.
            (Form::Database, DeValue::String(text)) => Some(match DatabaseUrl::parse(text) {
                Ok(DatabaseUrl::Sqlite(path)) => {
                    let mut address = OsString::from("sqlite:");
                    address.push(self.beside(&path.display().to_string()));
                    address
                }
                Ok(DatabaseUrl::Postgres(_)) | Err(_) => text.as_ref().into(),
            }),
            (Form::Number, DeValue::Integer(number)) if number.radix() == 10 => Some(number.as_str().into()),
            (Form::Switch, DeValue::Boolean(switch)) => Some(switch.to_string().into()),
            _ => None,
        }
    }

    fn schemas(&self, value: &DeValue<'_>, span: Range<usize>) -> Result<BTreeMap<String, PathBuf>, ConfigError> {
        let table = value.as_table().ok_or_else(|| {
            self.fault(span, "`schemas` is a section: `[schemas]`, and under it `\"https://…\" = \"path.json\"`")
        })?;
        let mut schemas = BTreeMap::new();
        for (reference, path) in table {
            let file = path
                .get_ref()
                .as_str()
                .ok_or_else(|| self.fault(path.span(), "expected the path of a file in quotes"))?;
            schemas.insert(reference.get_ref().to_string(), self.beside(file));
        }
        Ok(schemas)
    }

    fn sinks(&self, value: &DeValue<'_>, span: Range<usize>) -> Result<BTreeMap<String, SinkCommand>, ConfigError> {
        let table = value.as_table().ok_or_else(|| {
            self.fault(span, "`sinks` is a section: `[sinks]`, and under it `name = [\"program\", \"argument\"]`")
        })?;
        let mut sinks = BTreeMap::new();
        for (name, command) in table {
            let fault =
                || self.fault(command.span(), "expected a program and its arguments: `[\"program\", \"argument\"]`");
            let words = command.get_ref().as_array().ok_or_else(fault)?;
            let words: Option<Vec<&str>> = words.iter().map(|word| word.get_ref().as_str()).collect();
            let words = words.ok_or_else(fault)?;
            let (program, arguments) = words.split_first().ok_or_else(fault)?;
            // A bare name is looked up as shells do; anything else is seen from the file's directory.
            let program = if program.contains('/') { self.beside(program) } else { PathBuf::from(program) };
            if arguments.contains(&tenants::REDACTED) {
                let problem = "this stands where an argument was; put the argument itself";
                return Err(self.fault(command.span(), problem));
            }
            if words.iter().any(|word| word.contains('\0')) {
                return Err(self.fault(command.span(), "no program can be handed the character NUL"));
            }
            let arguments = arguments.iter().map(|word| (*word).to_owned()).collect();
            sinks.insert(name.get_ref().to_string(), SinkCommand { program, arguments });
        }
        Ok(sinks)
    }

    /// A path as seen from the directory of the file.
    pub(super) fn beside(&self, path: &str) -> PathBuf {
        self.path.parent().map_or_else(|| PathBuf::from(path), |directory| directory.join(path))
    }

    pub(super) fn fault(&self, span: Range<usize>, problem: impl Into<String>) -> ConfigError {
        ConfigError::at(self.path, self.line(span), problem)
    }

    fn line(&self, span: Range<usize>) -> usize {
        let before = self.text.bytes().take(span.start);
        before.filter(|byte| *byte == b'\n').count().saturating_add(1)
    }
}

/// A key is not known; one that looks like it may be meant.
fn unknown(name: &str) -> String {
    let sections = [SCHEMAS, SINKS, callbacks::SETS, callbacks::ENDPOINTS, tenants::SECTION, channels::SECTION];
    let alike = likeness::closest(name, setting::ALL.into_iter().map(|setting| setting.key).chain(sections));
    // A name that is long or strange may be a value that slipped.
    let shown = name.len() <= 40 && name.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-'));
    let name = if shown { format!("`{name}`") } else { "this".to_owned() };
    match alike {
        Some(key) => format!("{name} is not a known key; did you mean `{key}`?"),
        None => format!("{name} is not a known key; `handoffd config check` prints those that there are"),
    }
}
