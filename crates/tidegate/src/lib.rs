//! The program: command line, configuration, and the one place where everything is put together.

mod assemble;
pub mod cli;
pub mod config;
mod log;
pub mod reference;
mod run;

pub use run::main;
