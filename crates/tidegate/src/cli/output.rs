//! Flags of every command: how much is logged, and when colors are used.
//!
//! The doc comments are the help.

use clap::{ArgAction, Args, ValueEnum};

use crate::config::LogLevel;

/// Flags that every command accepts.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct OutputArgs {
    /// Log more; -vv logs even more
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,

    /// Log errors only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,

    /// When to use colors; auto: on a terminal, unless NO_COLOR is set
    #[arg(
        long,
        value_name = "WHEN",
        global = true,
        value_enum,
        default_value_t,
        hide_possible_values = false
    )]
    pub color: ColorChoice,
}

// No doc comments: they would become the help of the flag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    #[default]
    Auto,
    Always,
    Never,
}

const LEVELS: [LogLevel; 5] = [
    LogLevel::Error,
    LogLevel::Warn,
    LogLevel::Info,
    LogLevel::Debug,
    LogLevel::Trace,
];

impl OutputArgs {
    /// The log level that `-q` or `-v` selects: `-q` means errors only, and each `-v` is one level
    /// more than the default of the command.
    pub(super) fn log_level(self, default: LogLevel) -> Option<LogLevel> {
        if self.quiet {
            return Some(LogLevel::Error);
        }
        let start = LEVELS.iter().position(|level| *level == default)?;
        let last = LEVELS.len() - 1;
        let level = LEVELS[last.min(start + usize::from(self.verbose))];
        (self.verbose > 0).then_some(level)
    }
}

impl ColorChoice {
    /// Whether to color a stream.
    pub(crate) fn applies(self, is_terminal: bool, no_color: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => is_terminal && !no_color,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbosity_counts_from_the_default_of_the_command() {
        let verbose = |verbose| OutputArgs {
            verbose,
            ..OutputArgs::default()
        };
        let quiet = OutputArgs {
            quiet: true,
            ..OutputArgs::default()
        };
        for (args, default, level) in [
            (verbose(0), LogLevel::Info, None),
            (verbose(1), LogLevel::Info, Some(LogLevel::Debug)),
            (verbose(9), LogLevel::Info, Some(LogLevel::Trace)),
            (verbose(1), LogLevel::Warn, Some(LogLevel::Info)),
            (quiet, LogLevel::Info, Some(LogLevel::Error)),
        ] {
            assert_eq!(args.log_level(default), level, "{args:?} {default}");
        }
    }

    #[test]
    fn a_color_flag_overrides_the_terminal_and_no_color() {
        assert!(ColorChoice::Always.applies(false, true));
        assert!(!ColorChoice::Never.applies(true, false));
        assert!(ColorChoice::Auto.applies(true, false));
        assert!(!ColorChoice::Auto.applies(true, true));
        assert!(!ColorChoice::Auto.applies(false, false));
    }
}
