//! The worked examples of `spec/vectors/signing.json`, which another program computed, held against this one.

#[cfg(test)]
mod spec_vectors {
    use std::{fs, path::PathBuf};

    use base64::{Engine as _, engine::general_purpose::STANDARD};
    use handoff_protocol::{
        bundle::{self, Trust},
        callback::{CallbackHeaders, CallbackSecret, sign, sign_standard, verify},
        chain::{Head, Link, core_hash},
        continuation::{ContinuationKey, Keyring, Place, open, seal},
        decision::capability::BlastRadius,
        digest::Digest,
        id::{DeliveryId, KeyId, OrgId, RequestId},
        json::{Json, from_json, read_str},
        secret::Secret,
        signature::{KeySet, PublicKey, ReceiptSignature, SigningKey, signature_input},
        timestamp::Timestamp,
    };

    fn vectors(part: &str) -> Json {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/signing.json");
        let document = read_str(&fs::read_to_string(path).unwrap()).unwrap();
        document.get(part).unwrap().clone()
    }

    fn text<'a>(json: &'a Json, member: &str) -> &'a str {
        json.get(member).and_then(Json::as_str).unwrap_or_else(|| panic!("{member} is a text"))
    }

    fn seconds(json: &Json, member: &str) -> Timestamp {
        Timestamp::from_unix_seconds(json.get(member).and_then(Json::as_number).unwrap().safe_integer().unwrap())
    }

    #[test]
    fn canonical_text_and_its_digest_are_those_of_the_example() {
        let example = vectors("canonical");
        let canonical = read_str(text(&example, "given")).unwrap().canonical().unwrap();
        assert_eq!(canonical, text(&example, "canonical"));
        assert_eq!(Digest::of(&canonical).hex(), text(&example, "sha256"));
    }

    #[test]
    fn the_digests_of_a_request_are_those_of_the_example() {
        let example = vectors("request");
        for (value, digest) in
            [("raise", "body_digest"), ("rendering", "rendered_digest"), ("declared", "request_digest")]
        {
            let computed = Digest::of_json(example.get(value).unwrap()).unwrap();
            assert_eq!(computed.to_string(), text(&example, digest), "{value}");
        }
        let raise = example.get("raise").unwrap();
        let question = [
            text(raise, "waiter_ref").to_owned(),
            raise.get("requires").unwrap().canonical().unwrap(),
            raise.get("prompt").unwrap().get("title").unwrap().canonical().unwrap(),
        ];
        assert_eq!(question.concat(), text(&example, "dedupe_text"));
        assert_eq!(format!("derived:{}", Digest::of(question.concat()).hex()), text(&example, "dedupe_key"));
        let blast = vectors("blast_radius");
        let value: BlastRadius = from_json(blast.get("value").unwrap().clone()).unwrap();
        assert_eq!(value.digest().to_string(), text(&blast, "digest"));
    }

    #[test]
    fn links_and_signatures_are_those_of_the_example() {
        let example = vectors("receipts");
        // The 32 bytes of the seed are written as a digest is.
        let seed = *Digest::parse(&format!("sha256:{}", text(&example, "seed_hex"))).unwrap().as_bytes();
        let kid = text(example.get("jwk").unwrap(), "kid");
        let key = SigningKey::from_seed(KeyId::parse(kid).unwrap(), &Secret::new(seed));
        let published = PublicKey::from_jwk(&from_json(example.get("jwk").unwrap().clone()).unwrap()).unwrap();
        assert_eq!(published, key.public_key());
        let keys = KeySet::new([published]).unwrap();
        let mut head = Head::GENESIS;
        for link in example.get("links").and_then(Json::as_array).unwrap() {
            let core = link.get("core").unwrap();
            assert_eq!(core.canonical().unwrap(), text(link, "core_canonical"));
            let hash = core_hash(core).unwrap();
            assert_eq!(hash.hex(), text(link, "core_hash"));
            let sealed: Link = head.append(core).unwrap();
            assert_eq!(sealed.prev_digest.to_string(), text(link, "prev_digest"));
            let joined = format!("{}\n{}\n{}", sealed.height, sealed.prev_digest, hash.hex());
            assert_eq!(
                (joined.as_str(), sealed.digest.to_string().as_str()),
                (text(link, "link_text"), text(link, "digest"))
            );
            assert_eq!(signature_input(kid, &sealed.digest), text(link, "signature_text"));
            let signature: ReceiptSignature = from_json(link.get("signature").unwrap().clone()).unwrap();
            assert_eq!(key.sign(&sealed.digest), signature);
            assert!(keys.verify(&sealed.digest, &signature).is_ok());
            head = sealed.head();
        }
        assert_eq!(head, from_json::<Head>(example.get("head").unwrap().clone()).unwrap());
    }

    #[test]
    fn callbacks_are_signed_accepted_and_refused_as_in_the_example() {
        let example = vectors("callback");
        let secrets = |json: &Json| -> Vec<CallbackSecret> {
            let texts = json.get("secrets").and_then(Json::as_array).unwrap().iter();
            texts.map(|text| CallbackSecret::new(text.as_str().unwrap()).unwrap()).collect()
        };
        let (body, delivery) = (text(&example, "body"), text(&example, "delivery"));
        let at = seconds(&example, "time");
        let header = sign(&secrets(&example), at, DeliveryId::parse(delivery).unwrap(), body.as_bytes()).unwrap();
        assert_eq!(header, text(&example, "header"));
        let attempt = |case: &Json| {
            let or = |member: &str, otherwise| case.get(member).and_then(Json::as_str).unwrap_or(otherwise);
            let delivery = or("delivery", delivery);
            let headers = CallbackHeaders {
                signature: Some(&header),
                delivery: Some(delivery),
                idempotency_key: Some(delivery),
                sequence: Some("1"),
                ..CallbackHeaders::default()
            };
            let held = secrets(if case.get("secrets").is_some() { case } else { &example });
            verify(&headers, or("body", body).as_bytes(), &held, seconds(case, "now")).is_ok()
        };
        for (list, wanted) in [("accepted", true), ("refused", false)] {
            for case in example.get(list).and_then(Json::as_array).unwrap() {
                assert_eq!(attempt(case), wanted, "{}", text(case, "why"));
            }
        }
        let example = vectors("standard_webhooks");
        let signature = sign_standard(
            &[CallbackSecret::new(text(&example, "secret")).unwrap()],
            seconds(&example, "timestamp"),
            DeliveryId::parse(text(&example, "id")).unwrap(),
            text(&example, "body").as_bytes(),
        );
        assert_eq!(signature.unwrap(), text(&example, "signature"));
    }

    #[test]
    fn a_payload_is_sealed_as_in_the_example() {
        let example = vectors("continuation");
        let key = format!("{}:{}", text(&example, "key_name"), text(&example, "key_base64"));
        let keyring = Keyring::new([ContinuationKey::parse(&key).unwrap()]).unwrap();
        let place = Place {
            tenant: OrgId::parse(text(&example, "org_id")).unwrap(),
            request: RequestId::parse(text(&example, "request_id")).unwrap(),
            field: "resume_payload",
        };
        let bytes = |member: &str| STANDARD.decode(text(&example, member)).unwrap();
        let nonce = <[u8; 24]>::try_from(bytes("nonce_base64")).unwrap();
        let sealed = seal(&keyring, place, nonce, &bytes("payload_base64")).unwrap();
        let kept = serde_json::to_value(&sealed).unwrap();
        assert_eq!(kept["sealed"], text(&example, "sealed_base64"));
        assert_eq!(kept["check"], text(&example, "key_check"));
        assert_eq!(open(&keyring, place, &sealed).unwrap(), bytes("payload_base64"));
    }

    #[test]
    fn exports_and_proofs_verify_as_in_the_example() {
        for part in ["bundle", "proof"] {
            let document = vectors(part).get("document").unwrap().clone();
            let sound = |document: &Json| {
                let report = bundle::verify(document.to_text().as_bytes(), &Trust::default()).unwrap();
                (report.is_sound(), report.signed)
            };
            let receipts = if part == "bundle" { 2 } else { 1 };
            assert_eq!(sound(&document), (true, receipts), "{part}");
            let mut changed = document;
            let name = if part == "bundle" { "exported_at" } else { "made_at" };
            changed.as_object_mut().unwrap().insert(name, "2026-10-01T12:00:01Z");
            assert_eq!(sound(&changed), (false, receipts), "{part}: the digest covers it");
        }
    }
}
