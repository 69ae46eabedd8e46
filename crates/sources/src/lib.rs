//! The built-in sources: `system`, `memory`, `files`, `prompts`, the capability index, and the
//! gateway tools.
//!
//! Must not know JSON-RPC, revisions, sessions or SQL.

mod declarations;
pub mod files;
mod folder;
pub mod gateway_tools;
pub mod index;
mod kind;
pub mod memory;
pub mod prompts;
pub mod system;
pub mod tokens;

pub use folder::{InvalidPattern, Patterns};
pub use kind::{BuildContext, BuiltSource, LazyStore, SourceConfig, SourceSection};
