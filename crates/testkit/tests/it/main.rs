//! The fixture: what it claims to be, it is, as foreign eyes and our own see it.
#![allow(clippy::unwrap_used, reason = "all of this is test code")]

mod conformance;
mod faults;
mod flaws;
mod forms;
mod legacy;
mod modern;
mod pages;
mod pipe;
mod program;
mod sse;
mod support;
