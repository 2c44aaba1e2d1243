//! Starts a cluster for tests, prints the address at which its superuser comes in, and removes it once its input ends.
//!
//! `cargo xtask test` runs this beside the tests. Whoever tries something out can, too: `cargo run -p
//! handoff-postgres-cluster`, and Ctrl-D in the end. With the argument `database` it makes a database in the cluster that
//! `HANDOFF_TEST_POSTGRES` names, and prints the addresses at which its owner and the superuser come in, a line each.
#![expect(clippy::print_stdout, reason = "the address goes to standard output")]

use std::{
    env,
    io::{self, Read as _, Write as _},
    process::ExitCode,
};

use handoff_postgres_cluster::{Cluster, ClusterError, Settings, VARIABLE};

fn main() -> ExitCode {
    if env::args().nth(1).as_deref() == Some("database") {
        return match database() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                println!("error: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let cluster = match Cluster::start(&Settings::default()) {
        Ok(cluster) => cluster,
        Err(error) => {
            // On one line of standard output, too: whoever reads the address learns why there is none.
            println!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("{}", cluster.address());
    // An error means that whoever started this is gone already.
    let _ = io::stdout().flush();
    let _ = io::stdin().read_to_end(&mut Vec::new());
    drop(cluster);
    ExitCode::SUCCESS
}

/// Makes a database in a cluster that runs.
fn database() -> Result<(), ClusterError> {
    let database = Cluster::at(&env::var(VARIABLE).unwrap_or_default())?.database()?;
    println!("{}\n{}", database.owner_url(), database.admin_url());
    Ok(())
}
