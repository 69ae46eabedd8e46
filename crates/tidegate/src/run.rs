//! Executes the commands: from parsed arguments to an exit code.

mod check;
mod client;
mod completions;
mod memory;
mod report;
mod running_gateway;
mod runtime;
mod schema;
mod serve;
mod signals;
mod stdio;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

#[cfg(target_os = "linux")]
use tidegate_upstream::child_guard;

use crate::cli::{self, Command, Exit, OutputArgs};
use crate::config::{Environment, Flags, Settings, load};
use report::{exit_for, fail, print_early_exit};
use runtime::block_on;

/// Runs the program.
pub fn main() -> ExitCode {
    let cli = match cli::parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(early) => return print_early_exit(&early).into(),
    };
    let environment = Environment::process();
    let output = cli.output;
    let exit = match cli.command {
        Command::Serve(args) => {
            serve_until_done(&args.flags(output), output, &environment, serve::run)
        }
        Command::Stdio(args) => {
            serve_until_done(&args.flags(output), output, &environment, stdio::run)
        }
        Command::Check(args) => {
            let flags = args.serve.flags(output);
            let (mut out, mut err) = (io::stdout(), io::stderr());
            exit_for(check::run(
                &flags,
                args.json,
                &environment,
                &mut out,
                &mut err,
            ))
        }
        Command::Client(command) => client::run(&command, output, &environment),
        Command::Memory(command) => memory::run(&command, output, &environment),
        Command::Schema => exit_for(schema::run(&mut io::stdout())),
        Command::Completions { shell } => exit_for(completions::run(shell, &mut io::stdout())),
        #[cfg(target_os = "linux")]
        Command::ChildGuard(args) => return child_guard::run(&args.program, &args.args),
    };
    exit.into()
}

/// Loads the settings and serves clients until the command ends.
fn serve_until_done<F>(
    flags: &Flags,
    output: OutputArgs,
    environment: &Environment<'_>,
    command: fn(Settings) -> F,
) -> Exit
where
    F: Future<Output = anyhow::Result<()>>,
{
    let settings = match load(flags, environment) {
        Ok(settings) => settings,
        Err(problems) => return fail(&problems, Exit::Usage),
    };
    let log = report::start_log(&settings.log, output, environment);
    // Blocking reads from a terminal cannot be interrupted, so they are not waited for.
    let result = block_on(command(settings), Duration::ZERO);
    drop(log);
    match result {
        Ok(Ok(())) => Exit::Success,
        Ok(Err(error)) => fail(&format_args!("tidegate: {error:#}"), Exit::Failure),
        Err(exit) => exit,
    }
}
