//! The command line: what is said where, and the exit codes.

mod check;
mod config;
mod pipes;
mod secrets;
mod signals;
mod terminal;
mod usage;
