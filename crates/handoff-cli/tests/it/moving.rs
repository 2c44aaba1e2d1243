//! `handoff export --store` and `handoff import`: a whole store in a file, and out of it.

use std::fs;

use super::bench::{self, Ran, bare};

async fn run(arguments: &[&str], database: &str) -> Ran {
    let mut command = bare(arguments);
    command.env("HANDOFF_DATABASE_URL", database);
    bench::run(command, "").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_is_written_to_a_file_of_its_owner_and_fills_an_empty_one() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let (old, new, file) = (format!("sqlite:{}", at("old.db")), format!("sqlite:{}", at("new.db")), at("all"));
    let key = run(&["keys", "issue", "builder"], &old).await.out;
    assert!(key.starts_with("hk_"));

    let exported = run(&["export", "--store", "-o", &file], &old).await;
    assert_eq!(exported.code, 0, "{}", exported.err);
    assert!(exported.out.contains("rows tenants="), "{}", exported.out);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o077, 0, "it is as secret as the store");
    }
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains(key.trim()), "a store has no key in it");
    let piped = run(&["export", "--store"], &old).await;
    assert!(piped.out == text && piped.err == exported.out, "the file goes to the output, the words beside it");

    let imported = run(&["import", &file], &new).await;
    assert_eq!((imported.code, &imported.out), (0, &exported.out), "{}", imported.err);
    let machines = |listed: Ran| listed.out.replace(' ', "");
    assert_eq!(
        machines(run(&["keys", "list"], &new).await),
        machines(run(&["keys", "list"], &old).await),
        "who could enter there can enter here"
    );

    let again = run(&["import", &file], &new).await;
    assert_eq!((again.code, again.out.as_str()), (1, ""));
    assert!(again.err.contains("the store has something in it already; name an empty one"), "{}", again.err);
    let third = format!("sqlite:{}", at("third.db"));
    let missing = run(&["import", &at("nowhere")], &third).await;
    assert!(missing.code == 1 && missing.err.contains("cannot be read"), "{}", missing.err);
    assert!(!fs::exists(at("third.db")).unwrap(), "a name that is wrong makes no store");
    let missing = run(&["export", "--store", "-o", &at("none")], &third).await;
    assert!(missing.code == 1 && missing.err.contains("there is no store at"), "{}", missing.err);
    assert!(!fs::exists(at("none")).unwrap() && !fs::exists(at("third.db")).unwrap());
    let cut: String = text.lines().take(3).map(|line| format!("{line}\n")).collect();
    fs::write(&file, cut).unwrap();
    let refused = run(&["import", &file], &third).await;
    assert!(refused.code == 1 && refused.err.contains("the file ends after line 3"), "{}", refused.err);
}
