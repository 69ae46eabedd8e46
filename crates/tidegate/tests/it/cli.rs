//! The command line: outputs and exit codes.

mod check;
mod config;
mod pipes;
mod secrets;
mod signals;
mod terminal;
mod usage;
