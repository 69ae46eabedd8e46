//! The other side of the wire: the gateway as a client. What the core asks becomes a request in the
//! server's revision, and what the server says becomes the core's terms again.

mod answer;
mod ask;
mod entry;
mod facts;
mod headers;
mod notice;
mod task;
mod verdict;

pub use super::header_marks::wrong_header_mark;
pub use answer::{failure, outcome, renamed_errands, url_elicitations};
pub use ask::{Outbound, Wording};
pub use facts::{Facts, Page, initialized, page};
pub use headers::modern_headers;
pub use notice::{Said, said, unasked_answer};
pub use task::{Status, Task, task_of, unrelated};
pub use verdict::{Complaint, Verdict, complaint, verdict};
