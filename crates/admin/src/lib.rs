//! What operators of the gateway see: the metrics page.
//!
//! Knows no transport, no policy and no source by name.

mod metrics;

pub use metrics::{METRICS, Metrics};
