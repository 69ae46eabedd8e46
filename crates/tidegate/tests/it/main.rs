//! Tests of the real program, started as users start it and used as clients use it.
#![allow(clippy::unwrap_used, reason = "all of this is test code")]

mod bridge;
mod browser;
mod capability_index;
mod child_processes;
mod cli;
mod cli_commands;
mod conformance;
mod connectivity;
mod docs;
mod documented_call;
mod entry_sources;
mod era_detection;
mod extensions;
mod faults;
mod folders;
mod gateway_tools;
mod generated_docs;
mod health_change;
mod http_errors;
mod lists;
mod logs_outside_calls;
mod many_clients;
mod memory;
mod metrics;
mod peers;
mod real_servers;
mod remote;
mod resource_endpoint;
mod retry_once;
mod sampled_models;
mod session_stream_questions;
mod stdio;
mod subscriptions;
mod support;
mod walk;
