//! Policy: who a caller is, and the layers every call passes.
//!
//! Knows no HTTP, no SQL and no method names. A feature that is off is a layer that is not in the
//! list, never a flag inside one.

pub mod authn;
mod breaker;
mod call_outcome;
mod concurrency;
mod deadline;
mod observe;
mod retry;

pub use breaker::Breaker;
pub use concurrency::Concurrency;
pub use deadline::Deadline;
pub use observe::{CallMetrics, METRICS, Observe, Words};
pub use retry::Retry;
