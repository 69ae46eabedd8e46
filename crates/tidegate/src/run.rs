//! From the command line to an exit code.

mod look;
mod memory;
mod record;
mod serve;
mod stdio;

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

#[cfg(target_os = "linux")]
use tidegate_upstream::child_guard::keep;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::cli::{self, Command, Exit};
use crate::config::{Environment, Flags, Log, Settings, load};
use crate::log;

/// Runs the program.
pub fn main() -> ExitCode {
    let cli = match cli::parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(stop) => return say(&stop.text, stop.exit),
    };
    let environment = Environment::process();
    let exit = match cli.command {
        Command::Serve(args) => with_settings(&args.flags(), &environment, serve::run),
        Command::Stdio(args) => with_settings(&args.flags(), &environment, stdio::run),
        Command::Check(args) => quietly(cli::check::run(
            &args,
            &environment,
            &mut io::stdout(),
            &mut io::stderr(),
        )),
        Command::Look(look) => look::run(&look, &environment),
        Command::Memory(command) => memory::run(&command, &environment),
        #[cfg(target_os = "linux")]
        Command::Keep(args) => return keep(&args.program, &args.args),
        Command::Schema => quietly(cli::schema::run(&mut io::stdout()).map(|()| Exit::Done)),
    };
    exit.into()
}

/// Loads the settings and runs a command in a runtime of its own.
fn with_settings<F>(
    flags: &Flags,
    environment: &Environment<'_>,
    command: fn(Settings) -> F,
) -> Exit
where
    F: Future<Output = anyhow::Result<()>>,
{
    let settings = match load(flags, environment) {
        Ok(settings) => settings,
        Err(problems) => return tell(&problems.to_string(), Exit::Usage),
    };
    let log = settings.log;
    // Not waited for: a read from a terminal cannot be interrupted.
    match in_runtime(&log, Duration::ZERO, command(settings)) {
        Ok(()) => Exit::Done,
        Err(exit) => exit,
    }
}

/// Runs a future to its end, and what it leaves behind for no longer than `leftover`. A failure is
/// told.
fn in_runtime<T>(
    log: &Log,
    leftover: Duration,
    work: impl Future<Output = anyhow::Result<T>>,
) -> Result<T, Exit> {
    let writing = log::start(log);
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            return Err(tell(
                &format!("tidegate: the runtime does not start: {error}"),
                Exit::Failed,
            ));
        }
    };
    let result = runtime.block_on(work);
    runtime.shutdown_timeout(leftover);
    drop(writing);
    result.map_err(|error| tell(&format!("tidegate: {error:#}"), Exit::Failed))
}

/// A token that the first signal to stop cancels; the second ends the process.
fn stop_signal() -> io::Result<CancellationToken> {
    let stop = CancellationToken::new();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let stopping = stop.clone();
    tokio::spawn(async move {
        let mut next = async || {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        next().await;
        tracing::info!("stopping; calls under way may finish, a second signal ends them");
        stopping.cancel();
        next().await;
        std::process::exit(1);
    });
    Ok(stop)
}

fn say(text: &str, exit: Exit) -> ExitCode {
    match exit {
        Exit::Done => write!(io::stdout(), "{text}").ok(),
        Exit::Failed | Exit::Usage => write!(io::stderr(), "{text}").ok(),
    };
    exit.into()
}

fn tell(text: &str, exit: Exit) -> Exit {
    writeln!(io::stderr(), "{text}").ok();
    exit
}

/// A reader that left is no failure of ours.
fn quietly(result: io::Result<Exit>) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
        Err(error) => tell(&format!("tidegate: {error}"), Exit::Failed),
    }
}
