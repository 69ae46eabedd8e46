//! Built-in sources. Each is a folder: what it declares, and what it knows.
//!
//! Knows no JSON-RPC, no revisions and no sessions.

pub mod bridge;
mod declarations;
pub mod files;
mod folder;
pub mod index;
mod kind;
pub mod memory;
pub mod prompts;
pub mod system;
pub mod tokens;
pub use folder::{BadPattern, Patterns};
pub use kind::{BuildContext, BuiltSource, LazyStore, SourceConfig, SourceSection};
