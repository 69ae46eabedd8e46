//! Logging to standard error, the only log destination.

mod queue;
mod writer;

use std::io::stderr;

use tracing_subscriber::filter::LevelFilter;

pub(crate) use queue::{LogGuard, StatusLine};

use crate::config::{Log, LogFormat, LogLevel};

/// Starts logging. Lines logged after the guard is dropped are discarded.
pub(crate) fn start(log: &Log, color: bool) -> LogGuard {
    let (queue, guard) = queue::start(stderr());
    let builder = tracing_subscriber::fmt()
        .with_writer(queue)
        // The gateway must survive a closed standard error.
        .log_internal_errors(false)
        .with_ansi(color)
        .with_max_level(level_filter(log.level));
    match log.format {
        LogFormat::Text => builder.with_target(false).init(),
        LogFormat::Json => builder.json().flatten_event(true).init(),
    }
    log_panics();
    guard
}

/// Logs panics as errors. The error response of the call that panicked is sent by other code.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let location = panic.location().map(ToString::to_string);
        let message = panic.payload_as_str().unwrap_or("no message");
        tracing::error!(location, message, "panicked");
    }));
}

fn level_filter(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}
