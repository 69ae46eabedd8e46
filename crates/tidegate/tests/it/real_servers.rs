//! Real servers from npm and PyPI behind one gateway: their responses through it equal their direct
//! responses, and everything they list works.

mod client;
mod comparison;
mod deployment;
mod differences;
mod names;
mod parity;
mod program;
mod recorder;
mod same_names;
mod savings;
mod scripts;
mod server_kind;
mod suite;
mod transport;
mod walk;
mod web_pages;
mod workspace;
