//! The five revisions of the protocol: how a message is classified, lifted into a request of the
//! core, and how a reply is lowered into messages. [`client`] is the mirror image, for the servers
//! behind the gateway. Nothing outside this folder names or compares a revision.

mod change_filter;
mod classify;
pub mod client;
pub mod client_capabilities;
mod header_annotations;
mod header_value;
mod lift_legacy;
mod lift_modern;
mod lifted;
mod lower;
mod meta;
pub mod methods;
pub mod multi_round_trip;
mod param_headers;
mod params;
pub mod question;
mod result;
mod standard_headers;
pub mod tasks;
pub mod url_elicitation;
mod version;

pub use classify::{Classification, classify, required_session_id};
pub use lift_legacy::lift_legacy;
pub use lift_modern::lift_modern;
pub use lifted::{HandshakeRequest, Lifted, LiftedRequest};
pub use lower::{
    Lowering, OutgoingMessage, error_response, legacy_change_notification, legacy_log_notification,
    tool_error_result,
};
pub use meta::keys as meta_keys;
pub use methods::{Method, MethodKind};
pub use param_headers::check_param_headers;
pub use standard_headers::StandardHeaders;
pub use version::Revision;
