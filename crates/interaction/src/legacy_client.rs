//! The adapter for legacy clients. They are asked on the stream of the call that the question
//! belongs to, in either era of the server.

mod client_questions;
mod round_trips;

pub use client_questions::{CallQuestions, ClientQuestions};
pub use round_trips::run_round_trips;
