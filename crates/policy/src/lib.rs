//! Policy: who a caller is, and the layers every call passes.
//!
//! Knows no HTTP, no SQL and no method names. A feature that is off is a layer that is not in the
//! list, never a flag inside one.

pub mod authn;
mod deadline;
mod observe;

pub use deadline::Deadline;
pub use observe::Observe;
