//! Deliveries: read them, report how far one got.

use handoff_protocol::{
    decision::{Delivery, wire::ReportedGrade},
    id::{DeliveryId, RequestId},
    json::{Json, to_json},
};
use serde::Deserialize;

use crate::{address::path, call::Call, client::Client, error::ClientError, key::CallKey, requests::key_or_minted};

/// The deliveries of a request as served.
#[derive(Deserialize)]
struct Deliveries {
    data: Vec<Delivery>,
}

impl Client {
    /// A delivery as it stands, with what was tried.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn delivery(&self, id: DeliveryId) -> Result<Delivery, ClientError> {
        self.call(Call::get(path(&["deliveries", &id.to_string()])?)).await
    }

    /// The deliveries of a request, in the order of their making.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn deliveries(&self, request: RequestId) -> Result<Vec<Delivery>, ClientError> {
        let list: Deliveries = self.call(Call::get(path(&["requests", &request.to_string(), "deliveries"])?)).await?;
        Ok(list.data)
    }

    /// Reports how far a delivery got, with the evidence at hand. Repeating it changes nothing.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn report_grade(
        &self,
        id: DeliveryId,
        grade: ReportedGrade,
        key: Option<&CallKey>,
    ) -> Result<Delivery, ClientError> {
        let key = key_or_minted(key)?;
        let grade = to_json(&grade).unwrap_or_default();
        let path = path(&["deliveries", &id.to_string(), "grade"])?;
        self.call(Call::post(path, &Json::object([("grade", grade)])).under(&key)).await
    }
}
