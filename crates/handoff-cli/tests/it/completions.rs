//! `handoff completions`: every shell gets a script that knows the commands.

use super::bench::{self, bare};

#[tokio::test(flavor = "multi_thread")]
async fn every_shell_gets_a_script_that_knows_the_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = bench::run(bare(&["completions", shell]), "").await;
        assert_eq!(ran.code, 0, "{shell}: {}", ran.err);
        for word in ["redeem", "--waiter-ref", "resume"] {
            let word = if shell == "fish" { word.trim_start_matches('-') } else { word };
            assert!(ran.out.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(bench::run(bare(&["completions", "cmd"]), "").await.code, 2);
}
