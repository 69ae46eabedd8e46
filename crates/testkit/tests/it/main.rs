//! Tests of the fixture, with the official conformance suite and directly.
#![allow(clippy::unwrap_used, reason = "all of this is test code")]

mod conformance;
mod defects;
mod faults;
mod legacy;
mod modern;
mod pagination;
mod program;
mod response_formats;
mod sse;
mod stdio;
mod support;
