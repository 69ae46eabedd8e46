//! Real servers from npm and PyPI, all behind one gateway: what they answer through it is what they
//! answer directly, and everything they list works.

mod actor;
mod client;
mod differences;
mod ground;
mod names;
mod page;
mod parity;
mod program;
mod real;
mod same_names;
mod savings;
mod scripts;
mod unlike;
mod walk;
mod wire;
mod world;
