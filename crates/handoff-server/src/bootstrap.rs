//! The principals and tokens that a server loads when it starts (section 24).

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::Read as _,
    path::Path,
};

use handoff_engine::identity::{Bootstrap, Holder};
use handoff_protocol::{
    id::{OrgId, PrincipalId, ServiceAccountId, UserId},
    json::{DecodeError, ObjectReader, ValueReader, read_str},
    principal::{AuthStrength, Role, Scope, Scopes},
    secret::Secret,
};

use crate::{config::Config, likeness};

/// The most that is read of a file.
const LIMIT: u64 = 16 << 20;

/// The most characters of a token.
const TOKEN_CHARS: usize = 512;

/// What a server was given to load cannot be used. Nothing of it is repeated but the names of members.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct BootstrapError {
    place: String,
    problem: String,
}

/// What there is to load.
#[derive(Debug, Default)]
pub struct Loading {
    /// The principals, each with a token.
    pub principals: Vec<Bootstrap>,
    /// What can be used and may not mean what was wanted, in words.
    pub warnings: Vec<String>,
}

/// Reads everything that a configuration gives to load. Either all of it can be used or none is.
///
/// # Errors
///
/// [`BootstrapError`] names the first member that is wrong, and the mend.
pub fn read(config: &Config) -> Result<Loading, BootstrapError> {
    let mut loading = Loading::default();
    if let Some(path) = &config.bootstrap {
        let place = format!("HANDOFF_BOOTSTRAP: `{}`", path.display());
        let text = read_file(path).map_err(|problem| BootstrapError { place: place.clone(), problem })?;
        loading.add(place, text.expose())?;
    }
    if let Some(text) = &config.bootstrap_json {
        loading.add("HANDOFF_BOOTSTRAP_JSON".to_owned(), text.expose())?;
    }
    Ok(loading)
}

impl Loading {
    fn add(&mut self, place: String, text: &str) -> Result<(), BootstrapError> {
        match parse(text) {
            Ok(read) => {
                self.principals.extend(read.principals);
                self.warnings.extend(read.warnings.into_iter().map(|warning| format!("{place}: {warning}")));
                Ok(())
            }
            Err(problem) => Err(BootstrapError { place, problem }),
        }
    }
}

fn read_file(path: &Path) -> Result<Secret<String>, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    let outcome = file.take(LIMIT).read_to_string(&mut text);
    let text = Secret::new(text);
    outcome.map_err(|error| error.to_string())?;
    Ok(text)
}

fn parse(text: &str) -> Result<Loading, String> {
    let document = read_str(text).map_err(|error| error.to_string())?;
    read_document(&ValueReader::new(&document, "")).map_err(|error| match error.path.as_str() {
        "" => format!("the document {}", error.problem),
        _ => error.to_string(),
    })
}

fn read_document(document: &ValueReader<'_, '_>) -> Result<Loading, DecodeError> {
    let document = document.object()?;
    let array = document.array("principals")?;
    let mut loading = Loading::default();
    let mut tokens = HashSet::new();
    let mut roles = HashMap::new();
    for item in array.items() {
        let reader = item.object()?;
        let entry = read_entry(&reader, &mut loading.warnings)?;
        // Two entries with one token, or two roles of one person: whichever held would surprise somebody.
        if !tokens.insert(reader.string("token")?) {
            return Err(reader.error("token", "stands in an earlier entry as well; give each entry a token of its own"));
        }
        if entry.holder != Holder::Link
            && *roles.entry((entry.tenant.to_string(), reader.string("id")?)).or_insert(entry.role) != entry.role
        {
            return Err(reader.error("role", "differs from an earlier entry of the same `id`; a member has one role"));
        }
        reader.finish()?;
        loading.principals.push(entry);
    }
    document.finish()?;
    Ok(loading)
}

#[derive(Clone, Copy)]
enum Kind {
    Machine,
    Human,
    Link,
}

fn read_entry(entry: &ObjectReader<'_, '_>, warnings: &mut Vec<String>) -> Result<Bootstrap, DecodeError> {
    let tenant = OrgId::parse(entry.string("tenant_ref")?).map_err(|_| {
        entry.error("tenant_ref", "must be `org_` and a ULID, for example `org_01K3M7QW8ZC4YRXB2N6VD9FTHE`")
    })?;
    let kind =
        entry.choice("kind", &[("machine", Kind::Machine), ("human", Kind::Human), ("anonymous_link", Kind::Link)])?;
    let holder = match kind {
        Kind::Machine => Holder::Machine(
            ServiceAccountId::parse(entry.string("id")?)
                .map_err(|_| entry.error("id", "must be `sa_` and a ULID for the kind `machine`"))?,
        ),
        Kind::Human => Holder::Person(
            UserId::parse(entry.string("id")?)
                .map_err(|_| entry.error("id", "must be `usr_` and a ULID for the kind `human`"))?,
        ),
        Kind::Link if entry.optional("id").is_some() => {
            return Err(
                entry.error("id", "must be absent for the kind `anonymous_link`: a link is nobody in particular")
            );
        }
        Kind::Link => Holder::Link,
    };
    let strength = entry.optional_choice("auth_strength", &AuthStrength::ALL)?;
    let strength = match kind {
        // Whatever is said of a link, it is worth no more (section 3).
        Kind::Link => AuthStrength::LinkOnly,
        Kind::Machine | Kind::Human => strength.unwrap_or(AuthStrength::Session),
    };
    Ok(Bootstrap {
        tenant,
        holder,
        token: read_token(entry)?,
        role: entry.optional_choice("role", &Role::ALL)?.unwrap_or(Role::Viewer),
        strength,
        display: entry.optional_text("display", 1, 200)?.map(str::to_owned),
        scopes: read_scopes(entry, warnings)?,
        on_behalf_of: entry
            .optional_string("on_behalf_of")?
            .map(|id| PrincipalId::parse(id).map_err(|_| entry.error("on_behalf_of", "must be the id of a principal")))
            .transpose()?,
        test: entry.optional_boolean("test")?.unwrap_or(false),
    })
}

/// Reads a token: whatever can travel in a header as one word.
fn read_token(entry: &ObjectReader<'_, '_>) -> Result<Secret<String>, DecodeError> {
    let token = entry.text("token", 1, TOKEN_CHARS)?;
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(entry.error("token", "must be of visible ASCII characters without spaces"));
    }
    Ok(Secret::new(token.to_owned()))
}

/// Reads scopes. Names that are not known allow nothing, here as in a newer server's file, which is no fault; but a slip
/// looks the same.
fn read_scopes(entry: &ObjectReader<'_, '_>, warnings: &mut Vec<String>) -> Result<Scopes, DecodeError> {
    let Some(scopes) = entry.optional_array("scopes")? else { return Ok(Scopes::All) };
    let mut names = Vec::with_capacity(scopes.len());
    for (place, scope) in scopes.items().enumerate() {
        let name = scope.text(1, 200)?;
        if name != "*" && Scope::ALL.iter().all(|scope| scope.as_str() != name) {
            let meant = likeness::closest(name, Scope::ALL.iter().map(|scope| scope.as_str()));
            let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            let of = entry.error("scopes", String::new()).path;
            warnings.push(format!("`{of}[{place}]` is no scope of this server and allows nothing{meant}"));
        }
        names.push(name.to_owned());
    }
    Ok(Scopes::from(names))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENANT: &str = "org_01K3M7QW8ZC4YRXB2N6VD9FTHE";
    const PERSON: &str = "usr_01K3M7QW8ZC4YRXB2N6VD9FTHE";
    const MACHINE: &str = "sa_01K3M7QW8ZC4YRXB2N6VD9FTHE";

    fn document(entries: &[&str]) -> String {
        let entries: Vec<_> = entries.iter().map(|rest| format!(r#"{{"tenant_ref":"{TENANT}",{rest}}}"#)).collect();
        format!(r#"{{"principals":[{}]}}"#, entries.join(","))
    }

    #[test]
    fn what_is_not_said_has_its_default() {
        let entries = parse(&document(&[
            &format!(r#""kind":"machine","id":"{MACHINE}","token":"hunter1""#),
            r#""kind":"anonymous_link","token":"hunter2""#,
            r#""kind":"anonymous_link","token":"hunter3","auth_strength":"mfa","id":null"#,
        ]))
        .unwrap()
        .principals;
        let machine = &entries[0];
        assert_eq!(machine.holder, Holder::Machine(ServiceAccountId::parse(MACHINE).unwrap()));
        assert_eq!((machine.role, machine.strength), (Role::Viewer, AuthStrength::Session));
        assert_eq!((&machine.scopes, machine.test), (&Scopes::All, false));
        assert!(entries[1..].iter().all(|link| link.strength == AuthStrength::LinkOnly && link.holder == Holder::Link));
    }

    #[test]
    fn a_scope_that_is_not_known_is_a_warning_with_what_may_be_meant() {
        let scopes = r#""scopes":["*","handoff:request:read","hunter2"]"#;
        let loading =
            parse(&document(&[&format!(r#""kind":"machine","id":"{MACHINE}","token":"hunter1",{scopes}"#)])).unwrap();
        let [slip, nonsense] = loading.warnings.as_slice() else { panic!("{:?}", loading.warnings) };
        assert!(slip.starts_with("`principals[0].scopes[1]` is no scope"), "{slip}");
        assert!(slip.ends_with("did you mean `handoff:requests:read`?"), "{slip}");
        assert!(nonsense.ends_with("allows nothing") && !nonsense.contains("hunter2"), "{nonsense}");
    }

    #[test]
    fn a_fault_names_its_member_and_repeats_nothing() {
        let person = |rest: &str| document(&[&format!(r#""kind":"human","token":"hunter2","id":"{PERSON}"{rest}"#)]);
        let twice = |first: &str, second: &str| {
            let entry = |rest: &str| format!(r#""kind":"human","id":"{PERSON}",{rest}"#);
            document(&[&entry(first), &entry(second)])
        };
        for (text, begin) in [
            ("hunter2".to_owned(), ""),
            ("[]".to_owned(), "the document must be an object"),
            ("{}".to_owned(), "`principals` is required"),
            (r#"{"principals":[],"hunter":1}"#.to_owned(), "`hunter` is not a known member"),
            (
                person(r#","hunter2x":1"#).replace("hunter2x", "password"),
                "`principals[0].password` is not a known member",
            ),
            (person("").replace(TENANT, "hunter2"), "`principals[0].tenant_ref` must be"),
            (person("").replace("human", "hunter2"), "`principals[0].kind` must be"),
            (person("").replace("human", "machine"), "`principals[0].id` must be `sa_`"),
            (person("").replace("human", "anonymous_link"), "`principals[0].id` must be absent"),
            (person("").replace("\"hunter2\"", "\"hunter2 hunter2\""), "`principals[0].token` must be"),
            (person("").replace("\"token\"", "\"tokens\""), "`principals[0].token` is required"),
            (person(r#","role":"hunter2""#), "`principals[0].role` must be"),
            (person(r#","auth_strength":"hunter2""#), "`principals[0].auth_strength` must be"),
            (person(r#","scopes":"hunter2""#), "`principals[0].scopes` must be"),
            (person(r#","on_behalf_of":"hunter2""#), "`principals[0].on_behalf_of` must be"),
            (twice(r#""token":"hunter2""#, r#""token":"hunter2""#), "`principals[1].token` stands in"),
            (twice(r#""token":"a""#, r#""token":"b","role":"admin""#), "`principals[1].role` differs"),
        ] {
            let fault = parse(&text).unwrap_err();
            assert!(fault.starts_with(begin), "{fault}");
            assert!(!fault.contains("hunter2"), "{fault}");
        }
    }
}
