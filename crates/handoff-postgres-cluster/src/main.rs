//! Starts a cluster for tests, prints the address at which its superuser comes in, and removes it once its input ends.
//!
//! `cargo xtask test` runs this beside the tests. Whoever tries something out can, too: `cargo run -p
//! handoff-postgres-cluster`, and Ctrl-D in the end.
#![expect(clippy::print_stdout, reason = "the address goes to standard output")]

use std::{
    io::{self, Read as _, Write as _},
    process::ExitCode,
};

use handoff_postgres_cluster::{Cluster, Settings};

fn main() -> ExitCode {
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
