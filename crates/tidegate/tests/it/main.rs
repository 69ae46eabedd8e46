//! Tests of the real program, started as users start it and asked as clients ask.
#![allow(clippy::unwrap_used, reason = "all of this is test code")]

mod cli;
mod conformance;
mod health_change;
mod http_faults;
mod look;
mod peers;
mod remote;
mod seed0;
mod stdio;
mod support;
mod walk;
