//! The example does what its words say.

use std::process::Command;

#[test]
fn one_answer_is_delivered_authorizes_one_effect_and_verifies() {
    let output = Command::new(env!("CARGO_BIN_EXE_example-embed")).output().expect("the example runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    for line in [
        "the tool itself: a machine cannot answer",
        "answered: {\"decision\":\"ship\"}",
        "attempt 1: first_redemption true",
        "attempt 2: first_redemption false",
        "verified: 1 receipt, 1 signed, sound: true",
    ] {
        assert!(text.contains(line), "no line with {line:?} in:\n{text}");
    }
}
