//! The key that signs receipts, in a file of its own: `{"kid":"rk_…","seed":"…"}`.

use std::path::{Path, PathBuf};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use handoff_engine::{
    clock::{Clock as _, SystemClock},
    entropy::{Entropy as _, EntropyError, SystemEntropy},
};
use handoff_protocol::{
    id::{KeyId, Mint, Ulid},
    json::{Json, read_str},
    secret::Secret,
    signature::SigningKey,
};
use zeroize::Zeroizing;

use crate::private_file::{self, PrivateFileError};

/// The signing key could not be loaded or made. Nothing of it is ever repeated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SigningKeyError {
    /// The file cannot be read or written, or others may read it.
    #[error("the signing key: {0}")]
    File(#[from] PrivateFileError),
    /// The file holds something else. A key that is lost cannot be made again, so it is never overwritten.
    #[error("`{0}` holds no signing key; put the key back, or name another file in HANDOFF_SIGNING_KEY_FILE")]
    NotAKey(PathBuf),
    /// No key can be made.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
}

/// Loads the key; none when there is no file.
///
/// # Errors
///
/// [`SigningKeyError`].
pub fn load(path: impl AsRef<Path>) -> Result<Option<SigningKey>, SigningKeyError> {
    let path = path.as_ref();
    let Some(text) = private_file::read(path)? else { return Ok(None) };
    parse(&text).map(Some).ok_or_else(|| SigningKeyError::NotAKey(path.to_path_buf()))
}

/// Loads the key, or makes one when there is no file.
///
/// The file is there as a whole or not at all, and of several processes that make one at once, all get the same key
/// (rule E-13).
///
/// # Errors
///
/// [`SigningKeyError`].
pub fn load_or_create(path: impl AsRef<Path>) -> Result<SigningKey, SigningKeyError> {
    let path = path.as_ref();
    if let Some(key) = load(path)? {
        return Ok(key);
    }
    let (kid, seed) = draw()?;
    let text = Secret::new(format!(
        "{{\"kid\":\"{kid}\",\"seed\":\"{}\"}}\n",
        Zeroizing::new(URL_SAFE_NO_PAD.encode(seed.expose())).as_str()
    ));
    if private_file::create(path, &text)? {
        return Ok(SigningKey::from_seed(kid, &seed));
    }
    // Another process was first.
    let text = private_file::read(path)?;
    text.as_ref().and_then(parse).ok_or_else(|| SigningKeyError::NotAKey(path.to_path_buf()))
}

fn draw() -> Result<(KeyId, Secret<[u8; 32]>), EntropyError> {
    let kid = Mint::new(SystemClock.now(), Ulid::MIN, SystemEntropy.seed()?).next();
    Ok((kid, Secret::new(SystemEntropy.seed()?)))
}

fn parse(text: &Secret<String>) -> Option<SigningKey> {
    let json = read_str(text.expose().trim()).ok()?;
    let kid = KeyId::parse(json.get("kid").and_then(Json::as_str)?).ok()?;
    let bytes = Zeroizing::new(URL_SAFE_NO_PAD.decode(json.get("seed").and_then(Json::as_str)?).ok()?);
    let seed = Secret::new(<[u8; 32]>::try_from(bytes.as_slice()).ok()?);
    Some(SigningKey::from_seed(kid, &seed))
}

#[cfg(test)]
mod tests {
    use std::{fs, thread};

    use handoff_protocol::digest::Digest;

    use super::*;

    #[test]
    fn the_key_is_made_once_and_loaded_from_then_on() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("signing-key.json");
        let made = load_or_create(&path).unwrap();
        let loaded = load_or_create(&path).unwrap();
        let digest = Digest::of("receipt");
        assert_eq!(made.sign(&digest), loaded.sign(&digest));
    }

    #[test]
    fn processes_that_begin_at_once_get_one_key() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("signing-key.json");
        let kids: Vec<KeyId> = thread::scope(|scope| {
            let makers: Vec<_> = (0..8).map(|_| scope.spawn(|| load_or_create(&path).unwrap().kid())).collect();
            makers.into_iter().map(|maker| maker.join().unwrap()).collect()
        });
        assert!(kids.windows(2).all(|pair| pair[0] == pair[1]), "{kids:?}");
    }

    #[test]
    fn a_file_without_a_key_is_refused_unchanged_and_not_repeated() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("signing-key.json");
        let good = "rk_01K3MB2R4Y8ZC4YRXB2N6VD9FT";
        for text in [
            String::new(),
            "hunter2".to_owned(),
            format!("{{\"kid\":\"{good}\",\"seed\":\"hunter2\"}}"),
            format!("{{\"kid\":\"hunter2\",\"seed\":\"{}\"}}", URL_SAFE_NO_PAD.encode([7; 32])),
        ] {
            private_file::replace(&path, &Secret::new(text.clone())).unwrap();
            let error = load_or_create(&path).unwrap_err();
            assert!(matches!(error, SigningKeyError::NotAKey(_)));
            assert!(!error.to_string().contains("hunter2"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}
