//! The section `http`. Must not know any status.

use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_server::ErrorStatus;

/// The section `http` as written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub(crate) struct HttpSection {
    /// The HTTP status of errors at the MCP endpoints. `spec`: as in the MCP specification, which is 200
    /// for most errors of calls. `mapped`: the status that describes the error, such as 404 for an
    /// unknown resource; every error also has it in `data.httpStatus`. Use `mapped` only for clients
    /// that expect it: MCP SDKs take such a status for a failure of the transport, and 404 for the end
    /// of their session.
    #[schemars(extend("default" = "spec"))]
    pub(crate) error_status: Option<ErrorStatusSetting>,
}

// No doc comments: they would replace the reference text of the field.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ErrorStatusSetting {
    Spec,
    Mapped,
}

impl From<ErrorStatusSetting> for ErrorStatus {
    fn from(setting: ErrorStatusSetting) -> Self {
        match setting {
            ErrorStatusSetting::Spec => Self::Spec,
            ErrorStatusSetting::Mapped => Self::Mapped,
        }
    }
}
