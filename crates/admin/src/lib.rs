//! What those who run the gateway see: the page of metrics.
//!
//! Knows no transport, no policy and no source by name.

mod metrics;

pub use metrics::{METRICS, Metrics};
