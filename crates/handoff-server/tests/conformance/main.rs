//! The conformance suite against the built binary: the whole of it at both levels on both stores, and that it can fail.

#![expect(clippy::panic, clippy::unwrap_used, reason = "tests fail by panicking")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use handoff_conformance::{
    case::{self, Suite},
    deployment::{self, Disposable, Plan},
    map::Map,
    profile::Profile,
    report,
    run::{self, Conduct, Verdict},
};

fn tree(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn suite() -> Suite {
    case::load(&tree("conformance/cases")).unwrap_or_else(|faults| panic!("{}", faults.join("\n")))
}

fn plan(level: u8, link_only: bool) -> Plan {
    let server = env!("CARGO_BIN_EXE_handoffd").into();
    Plan { server, level, link_only, database: None, database_admin: None, variables: Vec::new() }
}

/// The same in a Postgres database.
fn plan_on_postgres(level: u8, link_only: bool) -> Plan {
    let database = handoff_postgres_cluster::shared().unwrap().database().unwrap();
    let database_admin = Some(database.admin_url().parse().unwrap());
    Plan { database: Some(database.owner_url().parse().unwrap()), database_admin, ..plan(level, link_only) }
}

/// Deploys, plays the cases, and stops. `alter` changes the profile before the run.
fn play(suite: &Suite, plan: &Plan, alter: impl FnOnce(&mut Profile)) -> (Profile, Vec<Verdict>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let outcome = runtime.block_on(async {
        let deployment = Disposable::start(plan).await?;
        let mut profile = deployment.profile()?;
        alter(&mut profile);
        // A database and its servers share the machine with the suite, whose cases have times to keep.
        let jobs = if plan.database.is_some() { 8 } else { Conduct::default().jobs };
        let conduct = Conduct { jobs, ..Conduct::default() };
        let verdicts = run::play(suite, profile.clone(), &conduct, |_| {}).await?;
        // Whatever the cases did, statements of SQL and crashes included, what is stored follows the rules.
        let mut check = Command::new(&plan.server);
        check.args(["--config", "handoffd.toml", "fsck"]).current_dir(deployment.directory());
        let checked = check.output().map_err(|error| error.to_string())?;
        if !checked.status.success() {
            return Err(String::from_utf8_lossy(&[checked.stdout, checked.stderr].concat()).into_owned());
        }
        Ok::<_, String>((profile, verdicts))
    });
    outcome.unwrap_or_else(|problem| panic!("{problem}"))
}

#[track_caller]
fn conforms(plan: &Plan) {
    let suite = suite();
    let (profile, verdicts) = play(&suite, plan, |_| {});
    assert_eq!(verdicts.len(), suite.cases.len());
    let red: Vec<_> = verdicts.iter().filter(|verdict| !verdict.passed()).collect();
    let words: String = red.iter().map(|verdict| report::lines(verdict, &profile)).collect();
    assert!(red.is_empty(), "{} of {} cases are red:\n{words}", red.len(), verdicts.len());
}

#[test]
fn the_server_conforms_at_level_1() {
    conforms(&plan(1, false));
}

#[test]
fn the_server_conforms_at_level_2_where_links_may_answer() {
    conforms(&plan(2, true));
}

#[test]
fn the_server_conforms_on_postgres_at_level_1() {
    conforms(&plan_on_postgres(1, false));
}

#[test]
fn the_server_conforms_on_postgres_at_level_2_where_links_may_answer() {
    conforms(&plan_on_postgres(2, true));
}

#[test]
fn cases_and_specification_name_each_other() {
    let map = Map::load(&tree("spec/map.json")).unwrap_or_else(|problem| panic!("{problem}"));
    map.compare(&suite()).unwrap_or_else(|differences| panic!("{}", differences.join("\n")));
}

#[test]
fn hooks_that_do_nothing_make_the_case_of_the_store_red() {
    let mut suite = suite();
    suite.cases.retain(|case| case.id == "C-15");
    for does_nothing in ["true", "false"] {
        let (profile, verdicts) = play(&suite, &plan(1, false), |profile| {
            for command in profile.hooks.values_mut() {
                *command = vec![does_nothing.to_owned()];
            }
        });
        let [verdict] = verdicts.as_slice() else { panic!("C-15 is one case") };
        assert!(!verdict.passed(), "C-15 is green with hooks that are `{does_nothing}`");
        assert!(report::lines(verdict, &profile).contains("(hook "), "{}", report::lines(verdict, &profile));
    }
}

#[test]
fn hooks_that_look_at_nothing_make_cases_red() {
    let nothing = ["echo", "nothing to see here"].map(str::to_owned).to_vec();
    for (hook, id) in [("log", "C-7"), ("store", "C-7"), ("events", "C-23"), ("restart", "X-survives")] {
        let mut suite = suite();
        suite.cases.retain(|case| case.id == id);
        let (profile, verdicts) = play(&suite, &plan(2, false), |profile| {
            profile.hooks.insert(hook.to_owned(), nothing.clone());
        });
        let [verdict] = verdicts.as_slice() else { panic!("{id} is one case") };
        let lines = report::lines(verdict, &profile);
        assert!(!verdict.passed() && lines.contains(hook), "{id} with a `{hook}` that does nothing: {lines}");
    }
}

#[test]
fn a_store_that_lets_a_receipt_be_changed_makes_the_case_of_the_store_red() {
    let mut suite = suite();
    suite.cases.retain(|case| case.id == "C-15");
    // Only one of the two refusals is taken away, so that the other cannot be what is seen.
    for hook in ["change_receipt", "delete_receipt"] {
        let (_, verdicts) = play(&suite, &plan(1, false), |profile| {
            profile.hooks.insert(hook.to_owned(), vec!["true".to_owned()]);
        });
        assert!(verdicts.iter().all(|verdict| !verdict.passed()), "C-15 is green although `{hook}` succeeds");
    }
}

#[test]
fn a_disposable_deployment_shows_its_secrets_to_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    runtime
        .block_on(deployment::deploy(&plan(2, true), directory.path()))
        .unwrap_or_else(|problem| panic!("{problem}"));
    let again = runtime.block_on(deployment::deploy(&plan(2, true), directory.path()));
    runtime.block_on(deployment::stop(directory.path())).unwrap();
    assert!(again.expect_err("two deployments in one directory").contains("holds a deployment already"));
    for name in ["profile.toml", "handoffd.toml", "bootstrap.json"] {
        let mode = fs::metadata(directory.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}");
    }
    // A server that has stopped is stopped.
    runtime.block_on(deployment::stop(directory.path())).unwrap();
}
