//! Policy: who a caller is (`authn`), and the layers that calls pass through.
//!
//! Knows no HTTP, no SQL and no method names. A disabled feature is a layer that is absent from the
//! list, never a flag inside one.

pub mod authn;
mod breaker;
mod call_end;
mod concurrency;
mod config;
mod deadline;
mod observe;
mod retry;
#[cfg(test)]
mod scripted;

pub use breaker::Breaker;
pub use concurrency::Concurrency;
pub use config::{CallPolicy, CallPolicySection, CallTimeoutSection, CallTimeouts};
pub use deadline::Deadline;
pub use observe::{CallMetrics, METRICS, MetricLabels, Observe};
pub use retry::Retry;
