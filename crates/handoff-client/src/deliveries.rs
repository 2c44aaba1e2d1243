//! Deliveries: read one, report how far it got.

use handoff_protocol::{
    decision::{Delivery, wire::ReportedGrade},
    id::DeliveryId,
    json::{Json, to_json},
};

use crate::{address::path, call::Call, client::Client, error::ClientError, key::CallKey, requests::key_or_minted};

impl Client {
    /// A delivery as it stands, with what was tried.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn delivery(&self, id: DeliveryId) -> Result<Delivery, ClientError> {
        self.call(Call::get(path(&["deliveries", &id.to_string()])?)).await
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
