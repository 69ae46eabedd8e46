//! The fixture: what it claims to be, it is, as foreign eyes and our own see it.
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
