//! Where the program says what it does: standard error, and nowhere else.

mod queue;

use std::io::{IsTerminal, stderr};

use tracing_subscriber::filter::LevelFilter;

pub(crate) use queue::Writing;

use crate::config::{Log, LogFormat, LogLevel};

/// Starts logging, for as long as what it returns is kept. A panic is logged like everything else;
/// its call is answered elsewhere.
pub(crate) fn start(log: &Log) -> Writing {
    let (queue, writing) = queue::start(stderr());
    let builder = tracing_subscriber::fmt()
        .with_writer(queue)
        // A standard error that is gone must not end the gateway.
        .log_internal_errors(false)
        .with_ansi(stderr().is_terminal())
        .with_max_level(level(log.level));
    match log.format {
        LogFormat::Text => builder.with_target(false).init(),
        LogFormat::Json => builder.json().flatten_event(true).init(),
    }
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        let words = panic.payload_as_str().unwrap_or("a panic without words");
        tracing::error!(place, panic = words, "panicked");
    }));
    writing
}

fn level(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}
