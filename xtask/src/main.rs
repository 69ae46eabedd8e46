//! Project automation: installs what the tests need, checks the project rules, runs what CI runs.
//!
//! Must not know: the product. No crate of the workspace is a dependency.
#![allow(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "these commands print for a person at a terminal"
)]

mod bench;
mod fuzz;
mod parity;
mod run;
mod stages;
mod system;
mod tidy;
mod tools;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;

use workspace::Workspace;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  tools                        install what the tests need, under target/tools
  tidy                         check the project rules
  test                         everything CI runs: tools, fmt, clippy, tidy, tests, install, fuzz
  parity [SERVER ...]          compare servers from npm and PyPI, or some of them, with and without
                               the gateway
  fuzz [TARGET] [--seconds N]  run the fuzz targets, or one of them
  bench [OPTION ...]           compare the cost of a call with a plain proxy; --help lists options
  help                         print this";

/// How long each target is fuzzed by default.
const FUZZ_SECONDS: u32 = 15;

#[derive(Debug, PartialEq)]
enum Command {
    Help,
    Tools,
    Tidy,
    Test,
    Parity(Vec<String>),
    Fuzz {
        target: Option<String>,
        seconds: u32,
    },
    Bench(Vec<String>),
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let command = match parse(&args) {
        Ok(command) => command,
        Err(message) => {
            eprintln!("xtask: {message}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match execute(&command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn execute(command: &Command) -> Result<()> {
    let workspace = Workspace::find()?;
    match command {
        Command::Help => println!("{USAGE}"),
        Command::Tools => drop(tools::set_up(&workspace)?),
        Command::Tidy => tidy::run(&workspace)?,
        Command::Test => stages::run(&workspace)?,
        Command::Parity(servers) => parity::run(&workspace, servers)?,
        Command::Fuzz { target, seconds } => fuzz::run(&workspace, target.as_deref(), *seconds)?,
        Command::Bench(options) => bench::run(&workspace, options)?,
    }
    Ok(())
}

fn parse(args: &[String]) -> Result<Command, String> {
    let Some((name, rest)) = args.split_first() else {
        return Ok(Command::Help);
    };
    let plain = |command| match rest.first() {
        None => Ok(command),
        Some(extra) => Err(format!("`{name}` takes no arguments, got `{extra}`")),
    };
    match name.as_str() {
        "help" | "--help" | "-h" => Ok(Command::Help),
        "tools" => plain(Command::Tools),
        "tidy" => plain(Command::Tidy),
        "test" => plain(Command::Test),
        "parity" => Ok(Command::Parity(rest.to_vec())),
        "fuzz" => parse_fuzz(rest),
        "bench" => Ok(Command::Bench(rest.to_vec())),
        _ => Err(format!("unknown command `{name}`")),
    }
}

fn parse_fuzz(args: &[String]) -> Result<Command, String> {
    let mut target = None;
    let mut seconds = FUZZ_SECONDS;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--seconds" {
            seconds = args
                .next()
                .and_then(|n| n.parse().ok())
                .filter(|n| *n > 0)
                .ok_or("`--seconds` needs a whole number above 0")?;
        } else if arg.starts_with('-') || target.is_some() {
            return Err(format!("unexpected argument `{arg}` for `fuzz`"));
        } else {
            target = Some(arg.clone());
        }
    }
    Ok(Command::Fuzz { target, seconds })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, String> {
        parse(
            &line
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn parses_commands() {
        assert_eq!(parsed(""), Ok(Command::Help));
        assert_eq!(parsed("help"), Ok(Command::Help));
        assert_eq!(parsed("tidy"), Ok(Command::Tidy));
        assert_eq!(
            parsed("fuzz"),
            Ok(Command::Fuzz {
                target: None,
                seconds: FUZZ_SECONDS
            })
        );
        assert_eq!(
            parsed("parity git time"),
            Ok(Command::Parity(vec!["git".to_owned(), "time".to_owned()]))
        );
        assert_eq!(
            parsed("bench --rounds 3"),
            Ok(Command::Bench(vec!["--rounds".to_owned(), "3".to_owned()]))
        );
        assert_eq!(
            parsed("fuzz --seconds 3 sse"),
            Ok(Command::Fuzz {
                target: Some("sse".to_owned()),
                seconds: 3
            })
        );
    }

    #[test]
    fn rejects_invalid_usage() {
        for line in [
            "tidier",
            "tidy now",
            "fuzz --seconds",
            "fuzz --seconds 0",
            "fuzz a b",
        ] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
