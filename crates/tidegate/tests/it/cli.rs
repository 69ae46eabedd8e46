//! The command line: outputs and exit codes.

mod check;
mod config;
mod failed_server;
mod gateways;
mod pipes;
mod secrets;
mod signals;
mod sources;
mod terminal;
mod usage;
