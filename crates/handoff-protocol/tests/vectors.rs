//! The published vectors of signatures and chains: the facts that stand here, and the whole file where it is at hand.

#[cfg(test)]
mod vectors {
    use std::fs;
    use std::path::PathBuf;

    use ed25519_dalek::Signer as _;
    use handoff_protocol::callback::{CallbackError, CallbackHeaders, CallbackSecret, sign, verify};
    use handoff_protocol::chain::{ChainVerifier, Head, Link, core_hash, link_digest, verify_alone};
    use handoff_protocol::digest::Digest;
    use handoff_protocol::id::{DeliveryId, KeyId};
    use handoff_protocol::json::{self, Json};
    use handoff_protocol::secret::Secret;
    use handoff_protocol::signature::{Jwk, KeySet, ReceiptSignature, SignatureError, SigningKey, signature_input};
    use handoff_protocol::timestamp::Timestamp;

    const KID: &str = "rk_01K3MB2R4Y8ZC4YRXB2N6VD9FT";
    /// The seed is the hash of this text; it is for tests only.
    const SEED_PREIMAGE: &str = "handoff-spec-v0.1-test-vector-key";
    const CORE_HASH: &str = "sha256:2763f39ef8a61d493106d3db302ec36cae5c024ca3da3a019d483ccc29704ad1";
    const DIGEST: &str = "sha256:919f8870391849de4e7b1d5b249ccbaaa7d5a7d3f500f5571c5a92dd0c3909db";
    const SIGNATURE: &str = "av8Iq2KkysJR6J3na_k6GHTS26ajN3CNsT4iOyHcJUy9mTxvF1hD0moPcg4kFGkklv1u2cGiijm76V2icmwZCw";

    fn digest(text: &str) -> Digest {
        Digest::parse(text).unwrap()
    }

    fn seed() -> [u8; 32] {
        *Digest::of(SEED_PREIMAGE).as_bytes()
    }

    fn signing_key() -> SigningKey {
        SigningKey::from_seed(KeyId::parse(KID).unwrap(), &Secret::new(seed()))
    }

    #[test]
    fn published_links_are_reproduced() {
        let core = digest(CORE_HASH);
        assert_eq!(link_digest(4211, Digest::zero(), core), digest(DIGEST));
        let next = digest("sha256:a4070dc230b7f9fd0bcd692d26702ef962ee80573587427c9e608f84a6e9829a");
        let sealed = digest("sha256:1c4738c06a55a1ecc2217b55ac20fa6ba65319e81fc3b7ac49a726536afeb669");
        assert_eq!(link_digest(4212, digest(DIGEST), next), sealed);
        let moved = digest("sha256:5baa020b6b7cde82535c50e3d36d9c3233c232727854d92f78b7e4985b8746d7");
        assert_eq!(link_digest(4210, Digest::zero(), core), moved);
        let ones = digest(&format!("sha256:{}", "1".repeat(64)));
        let relinked = digest("sha256:d233ae224600302ee5588c70fee991b76bf8d7bc7c790e616a0b67dcc79dce47");
        assert_eq!(link_digest(4211, ones, core), relinked);
    }

    #[test]
    fn an_empty_chain_is_at_height_zero_with_the_zero_digest() {
        let first = Head::GENESIS.append(&Json::Null).unwrap();
        assert_eq!((first.height, first.prev_digest.to_string()), (1, format!("sha256:{}", "0".repeat(64))));
    }

    #[test]
    fn the_published_signature_is_reproduced() {
        let key = signing_key();
        assert_eq!(key.public_key().to_jwk().x.unwrap(), "-4PnI03vtUAtMSPOF1PfLjAxMoXPGU9LdlG_VTBkb5g");
        let signature = key.sign(&digest(DIGEST));
        let published = ReceiptSignature { alg: "Ed25519".into(), kid: KID.into(), sig: SIGNATURE.into() };
        assert_eq!(signature, published);
        assert!(KeySet::new([key.public_key()]).unwrap().verify(&digest(DIGEST), &published).is_ok());
    }

    #[test]
    fn the_published_signature_counts_for_nothing_else() {
        let keys = KeySet::new([signing_key().public_key()]).unwrap();
        let published = ReceiptSignature { alg: "Ed25519".into(), kid: KID.into(), sig: SIGNATURE.into() };
        for altered in [
            "sha256:c70b1f2ea67f3677ef4131e2e53451f42c4d8292d3fe6254e3a02203d2d1e761",
            "sha256:5baa020b6b7cde82535c50e3d36d9c3233c232727854d92f78b7e4985b8746d7",
            "sha256:d233ae224600302ee5588c70fee991b76bf8d7bc7c790e616a0b67dcc79dce47",
        ] {
            assert_eq!(keys.verify(&digest(altered), &published), Err(SignatureError::Invalid));
        }
        let unknown = ReceiptSignature { kid: "rk_unknown".into(), ..published };
        assert_eq!(keys.verify(&digest(DIGEST), &unknown), Err(SignatureError::UnknownKey));
        assert_eq!(keys.verify(&digest(DIGEST), &of_other_version()), Err(SignatureError::Invalid));
    }

    /// A signature by the right key over the right digest, under the name of another version of the scheme.
    fn of_other_version() -> ReceiptSignature {
        use base64::Engine as _;

        let input = signature_input(KID, &digest(DIGEST)).replace("receipt-v1", "receipt-v2");
        let bytes = ed25519_dalek::SigningKey::from_bytes(&seed()).sign(input.as_bytes()).to_bytes();
        let sig = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes);
        ReceiptSignature { alg: "Ed25519".into(), kid: KID.into(), sig }
    }

    #[test]
    fn every_vector_of_the_contract_holds_where_the_contract_is_at_hand() {
        let Some(contract) = Contract::find() else {
            println!("skipped: no contract files here; HANDOFF_CONTRACTS names their folder");
            return;
        };
        let vectors = json::read(&contract.bytes("signing-vectors.json")).unwrap();
        for point in at(&vectors, "canonical_json/fixed_points").as_array().unwrap() {
            let bytes = contract.bytes(text(point, "file"));
            assert_eq!(json::read(&bytes).unwrap().canonical().unwrap().as_bytes(), bytes);
            assert_eq!(Digest::of(&bytes).hex(), text(point, "sha256"));
        }
        contract.callback(at(&vectors, "callback"));
        contract.receipt(at(&vectors, "receipt"));
        let first = Head::GENESIS.append(&Json::Null).unwrap();
        assert_eq!(first.height, number(at(&vectors, "genesis"), "height"));
        assert_eq!(first.prev_digest.to_string(), text(at(&vectors, "genesis"), "prev_digest"));
    }

    /// The member at a path of names with slashes between them.
    fn at<'a>(value: &'a Json, path: &str) -> &'a Json {
        path.split('/').fold(value, |value, name| value.get(name).unwrap_or_else(|| panic!("no member {path}")))
    }

    fn text<'a>(value: &'a Json, path: &str) -> &'a str {
        at(value, path).as_str().unwrap()
    }

    fn number(value: &Json, path: &str) -> u64 {
        at(value, path).as_i64().unwrap().try_into().unwrap()
    }

    fn instant(value: &Json, path: &str) -> Timestamp {
        Timestamp::from_unix_seconds(at(value, path).as_i64().unwrap())
    }

    /// Makes the change that a vector describes, and makes sure that it changes something.
    fn replaced(bytes: &[u8], change: &Json) -> Vec<u8> {
        let original = str::from_utf8(bytes).unwrap();
        let changed = original.replace(text(change, "from"), text(change, "to"));
        assert_ne!(changed, original);
        changed.into_bytes()
    }

    /// The folder of the decision contract.
    struct Contract(PathBuf);

    impl Contract {
        fn find() -> Option<Self> {
            let sibling = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/contracts"));
            let folder = std::env::var_os("HANDOFF_CONTRACTS").map_or_else(sibling, PathBuf::from).join("decisions");
            folder.join("signing-vectors.json").exists().then_some(Self(folder))
        }

        fn bytes(&self, file: &str) -> Vec<u8> {
            fs::read(self.0.join(file)).unwrap()
        }

        fn callback(&self, vectors: &Json) {
            let body = self.bytes(text(vectors, "body_file"));
            let (time, delivery) = (instant(vectors, "timestamp"), text(vectors, "delivery_id"));
            let secret = |name: &Json| {
                let name = name.as_str().unwrap();
                CallbackSecret::new(text(vectors, &format!("secrets/{name}"))).unwrap()
            };
            let (a, b) = (secret(&"A".into()), secret(&"B".into()));
            let signed = |secrets: &[CallbackSecret], delivery: &str, body: &[u8]| {
                sign(secrets, time, DeliveryId::parse(delivery).unwrap(), body).unwrap()
            };

            assert_eq!(Digest::of(&body).hex(), text(vectors, "body_sha256"));
            let both = text(vectors, "headers_two_active_secrets/Handoff-Signature");
            assert_eq!(signed(&[a.clone(), b], delivery, &body), both);
            let one = text(vectors, "headers_one_active_secret/Handoff-Signature");
            assert_eq!(signed(std::slice::from_ref(&a), delivery, &body), one);

            let headers = at(vectors, "headers_two_active_secrets");
            let run = |vector: &Json| {
                let active: Vec<_> = at(vector, "active").as_array().unwrap().iter().map(secret).collect();
                let delivery = vector.get("delivery_id").map_or(delivery, |id| id.as_str().unwrap());
                let body = vector.get("body_replace").map_or_else(|| body.clone(), |change| replaced(&body, change));
                let header = |name: &str| {
                    let changed = vector.get("headers_override").and_then(|headers| headers.get(name));
                    changed.or_else(|| headers.get(name)).map(|value| value.as_str().unwrap())
                };
                let headers = CallbackHeaders {
                    signature: Some(text(vector, "header")),
                    delivery: Some(delivery),
                    idempotency_key: Some(delivery),
                    sequence: header("Handoff-Sequence"),
                    signal: header("Handoff-Signal"),
                    version: header("Handoff-Version"),
                };
                // What the sender would have signed: this body for this delivery.
                for member in ["signature_over_tampered_body_with_A", "genuine_signature_for_that_delivery_with_A"] {
                    if let Some(published) = vector.get(member) {
                        let header = signed(std::slice::from_ref(&a), delivery, &body);
                        assert!(header.ends_with(published.as_str().unwrap()), "{member}");
                    }
                }
                verify(&headers, &body, &active, instant(vector, "now")).map(|verified| verified.sequence)
            };

            for vector in at(vectors, "positive").as_array().unwrap() {
                assert_eq!(run(vector), Ok(number(vectors, "sequence")), "{}", text(vector, "id"));
            }
            for vector in at(vectors, "negative").as_array().unwrap() {
                let expected = match text(vector, "id") {
                    "tampered_body" | "replayed_onto_other_delivery" | "retired_secret" => {
                        CallbackError::SignatureMismatch
                    }
                    "stale_timestamp" => CallbackError::Stale,
                    "sequence_header_disagrees" => CallbackError::SequenceMismatch,
                    id => panic!("a vector that this test does not know: {id}"),
                };
                assert_eq!(run(vector), Err(expected), "{}", text(vector, "id"));
            }
        }

        fn receipt(&self, vectors: &Json) {
            assert_eq!(Digest::of(text(vectors, "seed_preimage_utf8")).hex(), text(vectors, "seed_hex"));
            let key = signing_key();
            let jwk: Jwk = serde_json::from_str(&at(vectors, "jwk").to_text()).unwrap();
            assert_eq!(key.public_key().to_jwk(), jwk);
            let keys = KeySet::new([key.public_key()]).unwrap();

            let core_bytes = self.bytes(text(vectors, "core_file"));
            let core = json::read(&core_bytes).unwrap();
            assert_eq!(core_hash(&core).unwrap().hex(), text(vectors, "core_sha256"));
            let (height, previous) = (number(vectors, "height"), digest(text(vectors, "prev_digest")));
            let link = Link::seal(height, previous, &core).unwrap();
            assert_eq!(link.digest.to_string(), text(vectors, "chain_digest"));
            assert_eq!(signature_input(text(vectors, "kid"), &link.digest), text(vectors, "signature_input"));
            let object = serde_json::to_string(&key.sign(&link.digest)).unwrap();
            assert_eq!(json::read_str(&object).unwrap(), *at(vectors, "signature_object"));
            let published: ReceiptSignature = serde_json::from_str(&object).unwrap();
            assert!(keys.verify(&link.digest, &published).is_ok());

            let first = json::read(&self.bytes("fixtures/08-receipt-decision.json")).unwrap();
            let next = json::read(&self.bytes(text(vectors, "next_link/receipt_file"))).unwrap();
            assert_eq!(verify_alone(&next).unwrap().digest.to_string(), text(vectors, "next_link/chain_digest"));
            let mut verifier = ChainVerifier::after(Head { height: height - 1, digest: previous });
            verifier.check(&first);
            verifier.check(&next);
            assert_eq!(verifier.finish().findings, []);

            for vector in at(vectors, "negative").as_array().unwrap() {
                let change = at(vector, "change");
                let changed = |core: &Json, height, previous| Link::seal(height, previous, core).unwrap().digest;
                let (altered, signature, expected) = match text(vector, "id") {
                    "core_byte_altered" => {
                        let core = json::read(&replaced(&core_bytes, at(change, "core_replace"))).unwrap();
                        (changed(&core, height, previous), published.clone(), SignatureError::Invalid)
                    }
                    "height_changed" => {
                        let altered = changed(&core, number(change, "height"), previous);
                        (altered, published.clone(), SignatureError::Invalid)
                    }
                    "prev_digest_changed" => {
                        let altered = changed(&core, height, digest(text(change, "prev_digest")));
                        (altered, published.clone(), SignatureError::Invalid)
                    }
                    "unknown_kid" => {
                        let renamed = ReceiptSignature { kid: text(change, "kid").to_owned(), ..published.clone() };
                        (link.digest, renamed, SignatureError::UnknownKey)
                    }
                    "wrong_prefix_version" => (link.digest, of_other_version(), SignatureError::Invalid),
                    id => panic!("a vector that this test does not know: {id}"),
                };
                if let Some(published) = vector.get("chain_digest") {
                    assert_eq!(altered.to_string(), published.as_str().unwrap());
                }
                assert_eq!(keys.verify(&altered, &signature), Err(expected), "{}", text(vector, "id"));
            }
        }
    }
}
