//! The gateway as a client of the servers behind it: encodes requests in the server's revision and
//! parses the server's messages. The mirror image of lift and lower.

mod era_detection;
mod headers;
mod legacy_task;
mod list_entry;
mod list_page;
mod notification;
mod request;
mod response;
mod server_facts;

pub use super::header_annotations::invalid_header_annotation;
pub use era_detection::{EraVerdict, RetryHint, era_verdict, retry_hint};
pub use headers::{modern_headers, modern_notification_headers};
pub use legacy_task::{LegacyTask, LegacyTaskStatus, related_task, without_related_task};
pub use list_page::{ListPage, MistypedMembers, parse_list_page};
pub use notification::{ServerNotification, answer_without_client, parse_notification};
pub use request::{OutboundRequest, RequestEncoder};
pub use response::{ExpectedResult, parse_error, parse_outcome};
pub use server_facts::{ServerFacts, SessionSupport, parse_declared, parse_initialize_result};
