//! The project's own chores: setting up what tests need, checking the house rules, and CI.
//!
//! Must not know: anything of the product. No crate of the workspace is a dependency.
#![allow(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "these commands talk to a person at a terminal"
)]

mod bench;
mod fuzz;
mod place;
mod run;
mod stages;
mod system;
mod tidy;
mod tools;

use std::process::ExitCode;

use anyhow::Result;

use place::Place;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  tools                        set up what the tests need, under target/tools
  tidy                         check the house rules
  test                         everything CI runs: tools, fmt, clippy, tidy, tests, fuzz
  fuzz [TARGET] [--seconds N]  run the fuzz targets, or one of them
  bench [OPTION ...]           measure what a call costs beside a plain proxy; --help lists options
  help                         print this";

/// How long one target is fuzzed when nobody says.
const FUZZ_SECONDS: u32 = 15;

#[derive(Debug, PartialEq)]
enum Command {
    Help,
    Tools,
    Tidy,
    Test,
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
        Err(wrong) => {
            eprintln!("xtask: {wrong}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match perform(&command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn perform(command: &Command) -> Result<()> {
    let place = Place::find()?;
    match command {
        Command::Help => println!("{USAGE}"),
        Command::Tools => drop(tools::set_up(&place)?),
        Command::Tidy => tidy::run(&place)?,
        Command::Test => stages::run(&place)?,
        Command::Fuzz { target, seconds } => fuzz::run(&place, target.as_deref(), *seconds)?,
        Command::Bench(options) => bench::run(&place, options)?,
    }
    Ok(())
}

fn parse(args: &[String]) -> Result<Command, String> {
    let Some((name, rest)) = args.split_first() else {
        return Ok(Command::Help);
    };
    let plain = |command| match rest.first() {
        None => Ok(command),
        Some(extra) => Err(format!("`{name}` takes no argument, but got `{extra}`")),
    };
    match name.as_str() {
        "help" | "--help" | "-h" => Ok(Command::Help),
        "tools" => plain(Command::Tools),
        "tidy" => plain(Command::Tidy),
        "test" => plain(Command::Test),
        "fuzz" => parse_fuzz(rest),
        "bench" => Ok(Command::Bench(rest.to_vec())),
        _ => Err(format!("there is no command `{name}`")),
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
            return Err(format!("`fuzz` does not understand `{arg}`"));
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
    fn commands_are_understood() {
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
    fn wrong_usage_is_refused() {
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
