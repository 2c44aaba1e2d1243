//! The record: receipts, the head of their chain, signatures, keys, the export.

use handoff_protocol::{
    decision::view::{ChainHeadView, Listing},
    id::{ReceiptId, RequestId},
    json::Json,
    signature::{Jwks, ReceiptSignature},
};

use crate::{
    address::{path, with_query},
    call::{Call, Pieces},
    client::Client,
    error::ClientError,
};

impl Client {
    /// Receipts in chain order, exactly as they were sealed: the whole chain without a limit (up to 1,000), else a page.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn receipts(&self, cursor: Option<&str>, limit: Option<u64>) -> Result<Listing<Json>, ClientError> {
        let limit = limit.map(|limit| limit.to_string());
        let mut query = Vec::new();
        query.extend(cursor.map(|cursor| ("cursor", cursor)));
        query.extend(limit.as_deref().map(|limit| ("limit", limit)));
        self.call(Call::get(with_query(path(&["receipts"])?, &query))).await
    }

    /// A receipt, exactly as it was sealed.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn receipt(&self, id: ReceiptId) -> Result<Json, ClientError> {
        self.call(Call::get(path(&["receipts", &id.to_string()])?)).await
    }

    /// The receipt of a request.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; `request_not_found` until there is one.
    pub async fn receipt_of(&self, request: RequestId) -> Result<Json, ClientError> {
        self.call(Call::get(path(&["requests", &request.to_string(), "receipt"])?)).await
    }

    /// The detached signature of a receipt (rule E-13).
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn receipt_signature(&self, id: ReceiptId) -> Result<ReceiptSignature, ClientError> {
        self.call(Call::get(path(&["receipts", &id.to_string(), "signature"])?)).await
    }

    /// The head of the chain of receipts. Keep it elsewhere: it shows later that no receipt was cut off.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn chain_head(&self) -> Result<ChainHeadView, ClientError> {
        self.call(Call::get(path(&["receipts", "chain-head"])?)).await
    }

    /// The published signing keys, retired ones included. Needs no credential.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn keys(&self) -> Result<Jwks, ClientError> {
        self.call(Call::get(path(&["keys"])?)).await
    }

    /// The export of all receipts with everything that proves them, as text, for
    /// [`bundle::verify`](handoff_protocol::bundle::verify).
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn export(&self) -> Result<String, ClientError> {
        self.send(Call::get(path(&["export"])?).of_any_size()).await?.text()
    }

    /// The same, piece by piece as it comes: however long the chain is, no more of it is held than whoever reads it keeps.
    ///
    /// # Errors
    ///
    /// [`ClientError`] if it does not begin; [`Pieces::next`] if it does not end.
    pub async fn export_in_pieces(&self) -> Result<Pieces, ClientError> {
        self.open(Call::get(path(&["export"])?)).await
    }
}
