//! Tests of the real program, started as users start it and used as clients use it.
#![allow(clippy::unwrap_used, reason = "all of this is test code")]

mod asked_again;
mod bridge;
mod capability;
mod children;
mod cli;
mod conformance;
mod docs;
mod eras;
mod faults;
mod folders;
mod health_change;
mod http_faults;
mod look;
mod memory;
mod metrics;
mod own_stream;
mod own_tools;
mod page;
mod peers;
mod reach;
mod real_servers;
mod remote;
mod seed0;
mod stdio;
mod support;
mod walk;
