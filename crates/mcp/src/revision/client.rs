//! The other side of the wire: the gateway as a client. What the core asks becomes a request in the
//! server's revision, and what the server says becomes the core's terms again.

mod answer;
mod ask;
mod facts;
mod headers;
mod notice;

pub use answer::{failure, outcome};
pub use ask::{Outbound, Wording};
pub use facts::{Facts, Page, discovered, initialized, page};
pub use headers::modern_headers;
pub use notice::{Said, said, unasked_answer};
