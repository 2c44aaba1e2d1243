//! `handoff verify`: whatever is changed is found and named.

use std::fs;

use handoff_protocol::{
    bundle::{self, Trust},
    json::{Json, read},
};

use super::bench::{self, Bench, bare};

/// The same numbers in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound).unwrap()).unwrap()
    }
}

/// A copy with one byte changed, if that changes what the JSON means.
fn changed(original: &[u8], at: usize, by: u8) -> Option<Vec<u8>> {
    let mut copy = original.to_vec();
    copy[at] ^= by;
    let same = matches!((read(original), read(&copy)), (Ok(one), Ok(other)) if one == other);
    (!same).then_some(copy)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_changed_byte_is_found() {
    let bench = Bench::start().await;
    bench.answered(3).await;
    let path = bench.export("export.json").await;
    let original = fs::read(&path).unwrap();
    assert_eq!(bench::run(bare(&["verify", &path]), "").await.code, 0);

    // Every byte once, by the same rules that the command uses.
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut found = 0;
    for at in 0..original.len() {
        let by = u8::try_from(1 + numbers.below(127)).unwrap();
        let Some(copy) = changed(&original, at, by) else { continue };
        let missed = bundle::verify(&copy, &Trust::default()).is_ok_and(|report| report.is_sound());
        assert!(
            !missed,
            "byte {at} changed by {by}: {}",
            String::from_utf8_lossy(&copy[at.saturating_sub(40)..at + 1])
        );
        found += 1;
    }
    assert!(found > original.len() * 9 / 10, "{found} of {}", original.len());

    // Some of them through the command.
    let copy_path = bench.path("copy.json").display().to_string();
    let mut tried = 0;
    while tried < 60 {
        let (at, by) = (numbers.below(original.len()), u8::try_from(1 + numbers.below(127)).unwrap());
        let Some(copy) = changed(&original, at, by) else { continue };
        fs::write(&copy_path, copy).unwrap();
        let ran = bench::run(bare(&["verify", &copy_path]), "").await;
        // What the change made unreadable is no export any more; it is as little a sound one.
        let expected = if bundle::verify(&fs::read(&copy_path).unwrap(), &Trust::default()).is_ok() { 8 } else { 1 };
        assert_eq!(ran.code, expected, "byte {at} changed by {by}\n{}{}", ran.out, ran.err);
        tried += 1;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_is_named_with_its_height_and_receipt() {
    let bench = Bench::start().await;
    bench.answered(3).await;
    let path = bench.export("export.json").await;
    let text = fs::read_to_string(&path).unwrap();
    let receipts: Vec<Json> = bench.client().receipts(None, None).await.unwrap().data;
    let second = receipts[1].get("id").and_then(Json::as_str).unwrap();

    // The note of the second receipt, and nothing else.
    let at = text.find(second).unwrap();
    let altered = format!("{}{}", &text[..at], text[at..].replacen("\"yes\"", "\"no!\"", 1));
    let ran = bench::run(bare(&["verify", "-", "--json"]), &altered).await;
    assert_eq!(ran.code, 8);
    let findings = ran.json().get("findings").unwrap().as_array().unwrap().to_vec();
    assert_eq!(findings.len(), 1, "one altered receipt is one finding: {}", ran.out);
    assert_eq!(findings[0].get("height").and_then(Json::as_i64), Some(2));
    assert_eq!(findings[0].get("receipt_id").and_then(Json::as_str), Some(second));
    assert_eq!(findings[0].get("kind").and_then(Json::as_str), Some("digest"));

    let people = bench::run(bare(&["verify", "-"]), &altered).await;
    assert!(people.out.starts_with("verdict   NOT verified: 1 thing is wrong\n"), "{}", people.out);
    assert!(people.out.contains("receipts  3, 2 signed and unchanged"), "{}", people.out);
    assert!(people.out.contains(&format!("wrong     height 2 {second} digest: ")), "{}", people.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_heads_from_elsewhere_are_held_against_it() {
    let bench = Bench::start().await;
    bench.answered(1).await;
    let early = bench.export("early.json").await;
    bench.answered(2).await;
    let late = bench.export("late.json").await;
    let head = bench.client().chain_head().await.unwrap();
    let head = format!("{}:{}", head.height, head.head_digest);
    let keys = bench.path("keys.json").display().to_string();
    fs::write(&keys, bench.run(&["keys", "signing", "--json"]).await.out).unwrap();

    let sound = bench::run(bare(&["verify", &late, "--keys", &keys, "--head", &head]), "").await;
    assert_eq!(sound.code, 0, "{}", sound.out);
    assert!(sound.out.starts_with("verdict   verified: "), "{}", sound.out);
    assert!(!sound.out.contains("note "), "nothing is left open: {}", sound.out);
    let cut = bench::run(bare(&["verify", &early, "--keys", &keys, "--head", &head]), "").await;
    assert_eq!(cut.code, 8);
    assert!(cut.out.contains("its tail is missing"), "{}", cut.out);

    let other = Bench::start().await;
    fs::write(&keys, other.run(&["keys", "signing", "--json"]).await.out).unwrap();
    let foreign = bench::run(bare(&["verify", &late, "--keys", &keys]), "").await;
    assert_eq!(foreign.code, 8);
    assert_eq!(foreign.out.matches("unknown-key").count(), 3, "{}", foreign.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_checked_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing.json").display().to_string();
    let ran = bench::run(bare(&["verify", &missing]), "").await;
    assert_eq!(ran.code, 1);
    assert!(ran.err.starts_with("handoff: `") && ran.err.contains("cannot be read"), "{}", ran.err);
    for (input, words) in [("", "not a JSON document"), ("{}", "not an export bundle"), ("[1]", "not an export bundle")]
    {
        let ran = bench::run(bare(&["verify", "-"]), input).await;
        assert_eq!((ran.code, ran.err.lines().count()), (1, 1), "{}", ran.err);
        assert!(ran.err.starts_with("handoff: standard input: ") && ran.err.contains(words), "{}", ran.err);
    }
    let keys = bench::run(bare(&["verify", "-"]), r#"{"keys":[]}"#).await;
    assert_eq!(keys.code, 1);
    assert!(
        keys.err.contains("a set of published keys and no export") && keys.err.contains("--keys FILE"),
        "{}",
        keys.err
    );
    let other = directory.path().join("other.json").display().to_string();
    for text in ["{\"format\":\"handoff-export/9\"}", "{\"format\":\"handoff-exp"] {
        fs::write(&other, text).unwrap();
        let ran = bench::run(bare(&["verify", &other]), "").await;
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert!(ran.err.contains(&format!("`{other}`: ")), "the file is named: {}", ran.err);
    }
    for head in ["7", "x:sha256:00", "7:sha256:00"] {
        assert_eq!(bench::run(bare(&["verify", "-", "--head", head]), "{}").await.code, 2, "{head}");
    }
}
