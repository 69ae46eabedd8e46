//! Client commands: each sends requests to a gateway and prints the result.
//!
//! All requests take the path of a client's request, whether the gateway runs in this process or
//! is remote.

mod arguments;
mod availability;
mod call;
mod confirm;
mod connection;
mod content;
mod explain;
mod get;
mod invocation;
mod lists;
mod ls;
mod output;
mod progress;
mod read;
mod search;
mod sources;
mod suggestions;
mod target;

use std::io;
use std::time::Duration;

use super::report::{end_line, exit_for, fail, print_warning, start_log, use_color_on_stdout};
use super::runtime::block_on;
use super::signals::shutdown_signal;
use crate::cli::{ClientArgs, ClientCommand, Exit, OutputArgs};
use crate::config::{Environment, Flags, LogLevel, Settings, file_name, load, without_file};
use crate::log::LogGuard;
use connection::{GatewayConnection, gateway_key};
use invocation::Invocation;
use output::{CommandOutput, Style};
use progress::Progress;
use target::Target;

/// How long blocking tasks may continue at the end.
const LEFTOVER: Duration = Duration::from_millis(100);

/// Sends the requests of a command, prints the result and returns the exit code.
pub(super) fn run(
    command: &ClientCommand,
    output: OutputArgs,
    environment: &Environment<'_>,
) -> Exit {
    let invocation = match Invocation::new(command) {
        Ok(invocation) => invocation,
        Err(message) => return fail(&format_args!("tidegate: {message}"), Exit::Usage),
    };
    let args = command.args();
    let flags = args.flags(output, environment);
    let (mut settings, target) = match settings_and_target(args, &flags, environment) {
        Ok(chosen) => chosen,
        Err(exit) => return exit,
    };
    let sets_log_level = args.config.sets_log_level(output, environment);
    if !target.is_temporary() && !sets_log_level {
        // The only connection is to the gateway, and the command itself reports its failure.
        settings.log.level = LogLevel::Error;
    }
    let log = start_log(&settings.log, output, environment);
    let is_silent = sets_log_level && settings.log.level == LogLevel::Error;
    let progress = Progress::new(&log, settings.log.level, is_silent, environment);
    let request = ClientRequest {
        invocation,
        json: args.json,
        style: Style {
            color: use_color_on_stdout(output, environment),
        },
        target,
        settings,
        key: gateway_key(environment),
    };
    block_on(request.execute(log, progress), LEFTOVER).unwrap_or_else(|exit| exit)
}

/// The settings of the command, and the gateway that it asks. A gateway that runs with a file that
/// is invalid by now is still asked.
fn settings_and_target(
    args: &ClientArgs,
    flags: &Flags,
    environment: &Environment<'_>,
) -> Result<(Settings, Target), Exit> {
    let settings = match &args.url {
        // The file in this folder does not apply to a remote gateway, and may be invalid.
        Some(_) => without_file(flags, environment),
        None => load(flags, environment),
    };
    let problems = match settings {
        Ok(settings) => {
            let target = Target::choose(args, &settings)
                .map_err(|message| fail(&format_args!("tidegate: {message}"), Exit::Usage))?;
            return Ok((settings, target));
        }
        Err(problems) => problems,
    };
    let running = || {
        let file = file_name(flags, environment).filter(|_| !args.temporary)?;
        let settings = without_file(flags, environment).ok()?;
        let target = Target::running_with(&file, &settings)?;
        Some((file, settings, target))
    };
    match running() {
        Some((file, settings, target)) => {
            let warning = format_args!(
                "tidegate: {} is invalid (`tidegate check` shows why); asking the gateway that \
                 was started with it",
                file.display()
            );
            print_warning(&warning);
            Ok((settings, target))
        }
        None => Err(fail(&problems, Exit::Usage)),
    }
}

struct ClientRequest {
    invocation: Invocation,
    json: bool,
    style: Style,
    target: Target,
    settings: Settings,
    key: Option<crate::config::Secret>,
}

impl ClientRequest {
    /// Connects, sends the requests, prints, and closes the connection in every case.
    async fn execute(self, log: LogGuard, progress: Progress) -> Exit {
        let failed =
            |error: anyhow::Error| fail(&format_args!("tidegate: {error:#}"), Exit::Failure);
        let shutdown = match shutdown_signal() {
            Ok(shutdown) => shutdown,
            Err(error) => return failed(error.into()),
        };
        progress.announce(&self.target);
        let connection = match self.target.connect(self.key.as_ref(), &self.settings) {
            Ok(connection) => connection,
            Err(error) => return failed(error),
        };
        let output = tokio::select! {
            output = self.output(&connection, progress) => output,
            () = shutdown.cancelled() => {
                end_line();
                Err(anyhow::anyhow!("stopped by a signal before the gateway answered"))
            }
        };
        // Nothing is logged from here on: connections end because the command does.
        drop(log);
        let exit = match output {
            Ok(output) => exit_for(output.print(&mut io::stdout(), &mut io::stderr())),
            Err(error) => failed(error),
        };
        connection.close().await;
        exit
    }

    async fn output(
        &self,
        connection: &GatewayConnection,
        progress: Progress,
    ) -> anyhow::Result<CommandOutput> {
        let work = async {
            connection.wait_until_connected().await?;
            self.send(connection).await
        };
        progress.show_while(connection, work).await
    }

    /// Sends the requests of the command.
    async fn send(&self, connection: &GatewayConnection) -> anyhow::Result<CommandOutput> {
        let json = self.json;
        match &self.invocation {
            Invocation::Sources => sources::run(connection, json, self.style).await,
            Invocation::Ls(lists) => ls::run(connection, lists, json, self.style).await,
            Invocation::Read { uri, output } => {
                read::run(connection, uri, output.as_deref(), json).await
            }
            Invocation::Get { prompt, arguments } => {
                get::run(connection, prompt, arguments, json).await
            }
            Invocation::Call(call) => call::run(connection, call, json).await,
            Invocation::Search { query } => search::run(connection, query, json).await,
            Invocation::Explain { uri } => explain::run(connection, uri, json).await,
        }
    }
}
