//! What the database itself limits, so that nobody holds up a tenant who went away without a word: a process that stands
//! still, a machine that froze, a network that swallows everything.

use crate::error::OpenError;

/// What every connection of ours says of itself. No step waits for a client, so a transaction in which nothing is asked for
/// seconds belongs to a node that stands still; its lock is of more use to the others.
pub(crate) const SESSION: [(&str, &str); 8] = [
    ("idle_in_transaction_session_timeout", "5s"),
    ("lock_timeout", "8s"),
    ("statement_timeout", "25s"),
    ("client_connection_check_interval", "5s"),
    ("tcp_keepalives_idle", "10"),
    ("tcp_keepalives_interval", "5"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "20s"),
];

/// The same, as far as it goes, where a pooler hands out sessions: it is said in each transaction.
pub(crate) const BEGIN: &str = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '5s'; SET LOCAL lock_timeout = '8s'; SET LOCAL statement_timeout = '25s'";

/// For a transaction that takes as long as it takes: it reads or writes a whole store, or changes the schema.
pub(crate) const UNLIMITED: &str =
    "SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0";

/// What an address may say behind its `?`.
const PARAMETERS: [&str; 18] = [
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "password",
    "port",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-mode",
    "ssl-root-cert",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "statement-cache-capacity",
    "user",
];

/// Refuses an address with a parameter that nothing here reads: it would be passed over in silence, or with a line in the log
/// that repeats its value, which may be a secret.
pub(crate) fn check_parameters(url: &str) -> Result<(), OpenError> {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let query = query.split('#').next().unwrap_or_default();
    let names = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| pair.split('=').next().unwrap_or_default());
    for name in names {
        let is_one_option = name.starts_with("options[") && name.ends_with(']');
        if !is_one_option && !PARAMETERS.contains(&name) {
            return Err(OpenError::Parameter);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_that_nothing_reads_is_refused_and_not_repeated() {
        for url in ["postgres://h/d", "postgres://h/d?sslmode=require&host=/run", "postgres://h/d?options[geqo]=off&"] {
            assert!(check_parameters(url).is_ok(), "{url}");
        }
        for url in ["postgres://h/d?sslpassword=hunter2", "postgres://h/d?sslmode=require&PASSWORD=hunter2"] {
            let refused = check_parameters(url).unwrap_err().to_string();
            assert!(refused.contains("sslmode") && !refused.contains("hunter2"), "{refused}");
        }
    }
}
