//! Servers behind a gateway, as its clients see them: a fixture that plays the server, real sockets
//! on both sides.

#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod bridge;
mod classes;
mod conduct;
mod flaws;
mod fresh;
mod killed;
mod malformed;
mod programs;
mod strangers;
mod support;
mod task_news;
mod tasks;
mod undeclared;
