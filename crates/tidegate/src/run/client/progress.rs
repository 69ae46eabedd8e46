//! Shows which gateway a command asks and which sources are still starting: on a terminal as plain
//! text, with `-v` as log lines, otherwise not at all.

use std::convert::Infallible;
use std::future::pending;
use std::io::{self, Write as _};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use terminal_size::{Width, terminal_size_of};

use super::connection::GatewayConnection;
use super::target::Target;
use crate::config::{Environment, LogLevel};
use crate::log::{LogGuard, StatusLine};
use crate::run::report::is_interactive;

/// How long a start may take before it is shown.
const DELAY: Duration = Duration::from_millis(200);

/// The width of a terminal that does not report its own.
const DEFAULT_WIDTH: u16 = 80;

pub(super) enum Progress {
    Terminal(StatusLine),
    Log,
    Silent,
}

impl Progress {
    pub(super) fn new(
        log: &LogGuard,
        level: LogLevel,
        is_silent: bool,
        environment: &Environment<'_>,
    ) -> Self {
        match level {
            LogLevel::Info | LogLevel::Debug | LogLevel::Trace => Self::Log,
            LogLevel::Error | LogLevel::Warn if !is_silent && is_interactive(environment) => {
                Self::Terminal(log.status_line())
            }
            LogLevel::Error | LogLevel::Warn => Self::Silent,
        }
    }

    /// Shows which gateway is used.
    pub(super) fn announce(&self, target: &Target) {
        match self {
            Self::Terminal(_) => {
                writeln!(io::stderr(), "{target}").ok();
            }
            Self::Log => tracing::info!("{target}"),
            Self::Silent => {}
        }
    }

    /// Does the work of a command. Until the first response, shows the sources that are starting.
    pub(super) async fn show_while<T>(
        self,
        connection: &GatewayConnection,
        work: impl Future<Output = T>,
    ) -> T {
        let Self::Terminal(line) = self else {
            return work.await;
        };
        // Before the work starts: its first response removes the line.
        connection.set_status_line(line);
        tokio::select! {
            result = work => result,
            never = show_starting(connection) => match never {},
        }
    }
}

async fn show_starting(connection: &GatewayConnection) -> Infallible {
    let mut starting: Vec<String> = connection.source_names().collect();
    let total = starting.len();
    let mut ready: FuturesUnordered<_> = connection.ready_sources().collect();
    let delay = tokio::time::sleep(DELAY);
    tokio::pin!(delay);
    loop {
        tokio::select! {
            Some(name) = ready.next() => starting.retain(|one| *one != name),
            () = &mut delay, if !delay.is_elapsed() => {}
            else => return pending().await,
        }
        if delay.is_elapsed() {
            connection.show_status(starting_text(&starting, total, terminal_width()));
        }
    }
}

fn terminal_width() -> usize {
    let width = terminal_size_of(io::stderr()).map(|(Width(width), _)| width);
    usize::from(width.unwrap_or(DEFAULT_WIDTH))
}

/// `starting 2 of 5 sources: github, docs`, with as many names as fit on one line.
fn starting_text(starting: &[String], total: usize, width: usize) -> String {
    const MORE: &str = ", …";
    if starting.is_empty() {
        return String::new();
    }
    // A line that fills the last column wraps on some terminals.
    let width = width.saturating_sub(1);
    let mut text = format!("starting {} of {total} sources", starting.len());
    for (index, name) in starting.iter().enumerate() {
        let separator = if index == 0 { ": " } else { ", " };
        let is_last = index + 1 == starting.len();
        let reserve = if is_last { 0 } else { MORE.chars().count() };
        let length = text.chars().count() + separator.len() + name.chars().count();
        if length + reserve > width {
            if index > 0 {
                text += MORE;
            }
            break;
        }
        text = format!("{text}{separator}{name}");
    }
    text.chars().take(width).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_many_starting_sources_as_fit() {
        let names = ["github", "docs", "search"].map(str::to_owned);
        for (width, expected) in [
            (80, "starting 3 of 5 sources: github, docs, search"),
            (46, "starting 3 of 5 sources: github, docs, search"),
            (45, "starting 3 of 5 sources: github, docs, …"),
            (35, "starting 3 of 5 sources: github, …"),
            (34, "starting 3 of 5 sources"),
            (9, "starting"),
        ] {
            assert_eq!(starting_text(&names, 5, width), expected, "{width}");
        }
        assert_eq!(starting_text(&[], 5, 80), "");
    }
}
