//! One operation, said in the order in which one would tell it.

use handoff_protocol::{
    json::{Json, Object},
    principal::Scope,
};

use super::{component, components, object};

/// Who may call.
#[derive(Clone, Copy)]
pub(super) enum Callers {
    /// No credential is looked at.
    Anyone,
    /// A machine with this scope.
    Machine(Scope),
    /// Whoever holds this scope.
    Holder(Scope),
    /// A person, by role and strength.
    Person,
}

/// An operation while it is being described.
pub(super) struct Operation {
    path: &'static str,
    method: &'static str,
    callers: Callers,
    said: Object,
    parameters: Vec<Json>,
    body: Option<Json>,
    responses: Object,
    refusals: Vec<&'static str>,
}

impl Operation {
    pub(super) fn get(path: &'static str, id: &str, tag: &str, summary: &str) -> Self {
        Self::new("get", path, id, tag, summary)
    }

    pub(super) fn post(path: &'static str, id: &str, tag: &str, summary: &str) -> Self {
        Self::new("post", path, id, tag, summary)
    }

    pub(super) fn delete(path: &'static str, id: &str, tag: &str, summary: &str) -> Self {
        Self::new("delete", path, id, tag, summary)
    }

    fn new(method: &'static str, path: &'static str, id: &str, tag: &str, summary: &str) -> Self {
        let mut said = Object::new();
        said.insert("tags", vec![Json::from(tag)]);
        said.insert("operationId", id);
        said.insert("summary", summary);
        // What stands in braces in a path is a parameter of that name.
        let parameters =
            path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).map(components::in_path);
        Self {
            path,
            method,
            callers: Callers::Anyone,
            said,
            parameters: parameters.collect(),
            body: None,
            responses: Object::new(),
            refusals: Vec::new(),
        }
    }

    /// Says more than the summary does.
    pub(super) fn description(mut self, words: &str) -> Self {
        self.said.insert("description", words);
        self
    }

    pub(super) fn callers(mut self, callers: Callers) -> Self {
        self.callers = callers;
        self
    }

    /// Takes a parameter of the shared ones.
    pub(super) fn shared(mut self, name: &str) -> Self {
        self.parameters.push(component("parameters", name));
        self
    }

    /// Takes a parameter of its own in the query.
    pub(super) fn query(mut self, name: &str, words: &str, schema: Json) -> Self {
        self.parameters.push(components::in_query(name, words, schema));
        self
    }

    pub(super) fn body(mut self, schema: Json) -> Self {
        self.body = Some(object([("required", true.into()), ("content", json(schema))]));
        self
    }

    /// A body that may be left out, which is the same as `{}`.
    pub(super) fn optional_body(mut self, schema: Json) -> Self {
        self.body = Some(object([("required", false.into()), ("content", json(schema))]));
        self
    }

    pub(super) fn returns(self, status: &str, words: &str, schema: Json) -> Self {
        self.answers(status, words, Some(json(schema)))
    }

    pub(super) fn returns_text(self, status: &str, words: &str) -> Self {
        let text = object([("text/plain", object([("schema", object([("type", "string".into())]))]))]);
        self.answers(status, words, Some(text))
    }

    pub(super) fn returns_nothing(self, status: &str, words: &str) -> Self {
        self.answers(status, words, None)
    }

    fn answers(mut self, status: &str, words: &str, content: Option<Json>) -> Self {
        let mut response = Object::new();
        response.insert("description", words);
        if self.path.starts_with("/v1/") {
            response.insert("headers", components::common_headers());
        }
        if let Some(content) = content {
            response.insert("content", content);
        }
        self.responses.insert(status, Json::Object(response));
        self
    }

    /// Refuses under these statuses besides those that every operation of its callers has.
    pub(super) fn refuses(mut self, statuses: &[&'static str]) -> Self {
        self.refusals.extend(statuses);
        self
    }

    /// The path, the method, and the operation.
    pub(super) fn finish(mut self) -> (&'static str, &'static str, Json) {
        let bearer = || object([("bearer", Json::from(Vec::new()))]);
        let cookie = || object([("cookie", Json::from(Vec::new()))]);
        let (security, scopes) = match self.callers {
            Callers::Anyone => (Vec::new(), Vec::new()),
            Callers::Machine(scope) => (vec![bearer()], vec![Json::from(scope.as_str())]),
            Callers::Holder(scope) => (vec![bearer(), cookie()], vec![Json::from(scope.as_str())]),
            Callers::Person => (vec![bearer(), cookie()], Vec::new()),
        };
        if !security.is_empty() {
            self = self.refuses(&["401", "403", "429"]);
        }
        if self.path.starts_with("/v1/") {
            self = self.refuses(&["default"]);
        }
        for (status, name) in components::REFUSALS.iter().filter(|(status, _)| self.refusals.contains(status)) {
            self.responses.insert(*status, component("responses", name));
        }
        self.said.insert("security", security);
        self.said.insert("x-required-scopes", scopes);
        if !self.parameters.is_empty() {
            self.said.insert("parameters", self.parameters);
        }
        if let Some(body) = self.body {
            self.said.insert("requestBody", body);
        }
        self.said.insert("responses", self.responses);
        (self.path, self.method, Json::Object(self.said))
    }
}

fn json(schema: Json) -> Json {
    object([("application/json", object([("schema", schema)]))])
}
