//! Remote servers behind a gateway, as clients see them: a fixture is the server, with real sockets on
//! both sides.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod catalog_refresh;
mod client_classes;
mod client_state;
mod cross_era_questions;
mod extensions;
mod incomplete_lists;
mod instructions;
mod killed_server;
mod malformed_messages;
mod principal_isolation;
mod server_errors;
mod server_processes;
mod silent_client;
mod source_layers;
mod support;
mod task_updates;
mod tasks;
mod undeclared_capabilities;
