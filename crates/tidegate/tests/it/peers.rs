//! Foreign clients: each connects, lists, reads, calls and subscribes.

mod inspector;
mod mcpdo;
mod rust;
mod sdks;
