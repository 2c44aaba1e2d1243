//! The server that commands talk to, and the credentials they talk with.

use clap::Args;
use handoff_client::Client;

use crate::failure::Failure;

/// Where the server listens unless told otherwise.
const DEFAULT_URL: &str = "http://127.0.0.1:8080";

/// Which server, and who is asking. Prefer the environment for secrets: other users see a process's arguments.
#[derive(Args, Clone)]
pub(crate) struct Remote {
    /// The server's address
    #[arg(
        long,
        env = "HANDOFF_URL",
        hide_env_values = true,
        default_value = DEFAULT_URL,
        value_name = "URL",
        help_heading = "Server"
    )]
    url: String,
    /// A machine's key; better given in the environment
    #[arg(long, env = "HANDOFF_API_KEY", hide_env_values = true, value_name = "KEY", help_heading = "Server")]
    key: Option<String>,
}

impl Remote {
    /// A client that acts as the machine.
    pub(crate) fn machine(&self) -> Result<Client, Failure> {
        let key = given(self.key.as_deref())
            .ok_or_else(|| Failure::usage("no key: set HANDOFF_API_KEY; `handoff keys issue NAME` makes one"))?;
        self.client(key)
    }

    /// A client that acts as a person, by a token of their own.
    pub(crate) fn person(&self, token: Option<&str>) -> Result<Client, Failure> {
        let token = given(token).ok_or_else(|| {
            Failure::usage("no person: set HANDOFF_PERSON_TOKEN; `handoff person key PERSON` makes a token")
        })?;
        self.client(token)
    }

    fn client(&self, token: &str) -> Result<Client, Failure> {
        let url = given(Some(&self.url)).unwrap_or(DEFAULT_URL);
        Ok(Client::new(url, token.trim().to_owned())?)
    }
}

/// A variable that is set to nothing counts as not set.
pub(crate) fn given(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.trim().is_empty())
}
