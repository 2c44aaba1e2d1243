//! The signer port: who signs receipts.

use handoff_protocol::{
    digest::Digest,
    signature::{PublicKey, ReceiptSignature, SigningKey},
};

/// Signs the digests of receipts (rule E-13). It is called inside a transaction, so it must not wait for anything.
pub trait Signer: Send + Sync + 'static {
    /// Signs a receipt's digest.
    fn sign(&self, digest: &Digest) -> ReceiptSignature;

    /// The public half, for publication.
    fn public_key(&self) -> PublicKey;
}

impl Signer for SigningKey {
    fn sign(&self, digest: &Digest) -> ReceiptSignature {
        Self::sign(self, digest)
    }

    fn public_key(&self) -> PublicKey {
        Self::public_key(self)
    }
}
