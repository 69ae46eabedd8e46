//! The program: command line, configuration, assembly of the gateway, and the commands.

mod assemble;
pub mod cli;
pub mod config;
mod log;
pub mod reference;
mod run;

pub use run::main;
