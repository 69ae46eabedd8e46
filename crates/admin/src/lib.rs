//! The operator's view of the gateway: the metrics page.
//!
//! Knows no transport, no policy and no source by name.

mod metrics;

pub use metrics::{METRICS, Metrics};
