use serde_json::json;

use super::*;
use crate::json::digest;

const TENANT: &str = "org_01K3M7QW8ZC4YRXB2N6VD9FTHE";

/// Seals a receipt in another way than the walker opens one: by formatting, from a value that never had a `chain`.
fn sealed(number: u64, previous: &str, mut core: Value) -> (String, String) {
    core["id"] = json!(format!("rcpt_{number}"));
    core["org_id"] = json!(TENANT);
    let hash = digest(&core).unwrap().replace("sha256:", "");
    let digest = format!("sha256:{}", sha256_hex(format!("{number}\n{previous}\n{hash}").as_bytes()));
    core["chain"] = json!({"height": number, "prev_digest": previous, "digest": digest});
    (core.to_string(), digest)
}

fn chain(length: u64) -> Vec<String> {
    let mut previous = GENESIS.to_owned();
    let texts = (1..=length).map(|number| {
        let (text, digest) =
            sealed(number, &previous, json!({"kind": "decision", "n": number, "\u{10000}": "\u{e000}"}));
        previous = digest;
        text
    });
    texts.collect()
}

fn head(texts: &[String]) -> Head {
    let last = texts.last().map(|text| link(text).unwrap());
    let digest = last.map_or(GENESIS.to_owned(), |last| last.digest);
    Head { tenant: TENANT.to_owned(), height: u64::try_from(texts.len()).unwrap(), digest }
}

#[test]
fn a_chain_that_is_whole_passes() {
    let texts = chain(4);
    let links = walk(&texts).unwrap();
    assert_eq!(links.len(), 4);
    agree(&links, &head(&texts), &head(&texts)).unwrap();
    agree(&links, &head(&texts[..2]), &head(&texts)).unwrap();
    agree(&[], &head(&[]), &head(&[])).unwrap();
}

#[test]
fn the_digest_of_a_small_receipt_is_that_of_another_program() {
    // core='{"id":"rcpt_1","org_id":"org_1"}'; c=$(printf '%s' "$core" | sha256sum | cut -d' ' -f1)
    // printf '1\nsha256:%064d\n%s' 0 "$c" | sha256sum
    let known = "sha256:909920f50c86e1b958e101e16925a1c40492be9c3fece80c584cfe18bd21473d";
    let text = format!(
        r#"{{"id":"rcpt_1","org_id":"org_1","chain":{{"height":1,"prev_digest":"{GENESIS}","digest":"{known}"}}}}"#
    );
    assert_eq!(link(&text).unwrap().digest, known);
}

#[test]
fn whatever_is_altered_in_a_chain_is_found() {
    let good = chain(3);
    let altered = |from: &str, to: &str| {
        let mut texts = good.clone();
        assert!(texts[1].contains(from));
        texts[1] = texts[1].replacen(from, to, 1);
        texts
    };
    let second = link(&good[1]).unwrap();
    let mut without = good.clone();
    without.remove(1);
    let mut swapped = good.clone();
    swapped.swap(1, 2);
    let mut late = vec![sealed(2, GENESIS, json!({})).0];
    let mut elsewhere = vec![sealed(1, &second.digest, json!({})).0];
    let mut foreign = good[..1].to_vec();
    let other = sealed(2, &link(&good[0]).unwrap().digest, json!({})).0;
    foreign.push(other);
    for (texts, why) in [
        (altered("decision", "policy"), "tampered"),
        (altered("\"n\":2", "\"n\":2.0"), "written `2.0`"),
        (altered("\"n\":2", "\"n\":2e0"), "written `2e0`"),
        (altered("\"n\":2", "\"n\":2,\"n\":2"), "stands twice"),
        (altered("\"n\":2,", ""), "tampered"),
        (altered("\"height\":2", "\"height\":7"), "tampered"),
        (altered("\"chain\"", "\"train\""), "`chain` is missing"),
        (altered(&second.digest, GENESIS), "tampered"),
        (without, "height is 3"),
        (swapped, "height is 3"),
        (std::mem::take(&mut late), "height is 2"),
        (std::mem::take(&mut elsewhere), "names sha256"),
    ] {
        let found = walk(&texts).unwrap_err();
        assert!(found.contains(why), "{why}: {found}");
    }
    walk(&foreign).unwrap();
}

#[test]
fn receipts_of_two_tenants_or_with_one_id_are_no_chain() {
    let first = chain(1);
    let previous = link(&first[0]).unwrap().digest;
    let resealed = |core: &Value| {
        let hash = digest(core).unwrap().replace("sha256:", "");
        let digest = format!("sha256:{}", sha256_hex(format!("2\n{previous}\n{hash}").as_bytes()));
        let mut sealed = core.clone();
        sealed["chain"] = json!({"height": 2, "prev_digest": previous, "digest": digest});
        vec![first[0].clone(), sealed.to_string()]
    };
    assert!(walk(&resealed(&json!({"id": "rcpt_2", "org_id": "org_2"}))).unwrap_err().contains("is of org_2"));
    assert!(walk(&resealed(&json!({"id": "rcpt_1", "org_id": TENANT}))).unwrap_err().contains("id of an earlier"));
}

#[test]
fn a_head_that_the_chain_does_not_have_is_found() {
    let texts = chain(3);
    let links = walk(&texts).unwrap();
    let good = head(&texts);
    let wrong = Head { digest: GENESIS.to_owned(), ..good.clone() };
    let higher = Head { height: 4, ..good.clone() };
    let foreign = Head { tenant: "org_other".to_owned(), ..good.clone() };
    assert!(agree(&links, &good, &wrong).unwrap_err().contains("has sha256"));
    assert!(agree(&links, &higher, &higher).unwrap_err().contains("3 receipts"));
    assert!(agree(&links[..2], &good, &good).unwrap_err().contains("2 receipts"));
    assert!(agree(&links, &head(&texts[..1]), &head(&texts[..2])).unwrap_err().contains("3 receipts"));
    assert!(agree(&links, &foreign, &foreign).unwrap_err().contains("org_other"));
    let empty = Head { digest: good.digest, ..head(&[]) };
    assert!(agree(&[], &empty, &empty).is_err());
}

#[test]
fn a_page_is_split_to_the_byte() {
    let page = "{\"has_more\":false, \"data\":[ {\"a\" : 1.0} ,{\"b\":\"}\"}], \"next_cursor\":null}";
    assert_eq!(receipts_of(page).unwrap(), ["{\"a\" : 1.0}", "{\"b\":\"}\"}"]);
    receipts_of("[]").unwrap_err();
}
