//! How a server is reached: HTTP, a child process over stdio, or the SSE transport of 2024-11-05.

pub(crate) mod http;
pub(crate) mod sse;
pub(crate) mod stdio;
