//! What those who run the gateway see: the page of metrics.
//!
//! Knows no door, no policy and no source by name.

mod metrics;

pub use metrics::{FIGURES, Metrics};
