//! The other side of the wire: the gateway as a client. What the core asks becomes a request in the
//! server's revision, and what the server says becomes the core's client again.

mod entry;
mod era_detection;
mod facts;
mod headers;
mod notification;
mod request;
mod response;
mod task;

pub use super::header_annotations::invalid_header_annotation;
pub use era_detection::{EraVerdict, RetryHint, era_verdict, retry_hint};
pub use facts::{Page, ServerFacts, initialized, page};
pub use headers::modern_headers;
pub use notification::{ServerNotification, said, unasked_answer};
pub use request::{OutboundRequest, RequestEncoder};
pub use response::{failure, outcome, rename_elicitation_ids, url_elicitations};
pub use task::{Status, Task, task_of, unrelated};
