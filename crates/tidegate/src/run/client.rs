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

use super::report::{end_line, exit_for, fail, start_log};
use super::runtime::block_on;
use super::signals::shutdown_signal;
use crate::cli::{ClientCommand, Exit, OutputArgs};
use crate::config::{Environment, LogLevel, Settings, load, without_file};
use crate::log::LogGuard;
use connection::{GatewayConnection, gateway_key};
use invocation::Invocation;
use output::CommandOutput;
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
    let settings = match &args.url {
        // The file in this folder does not apply to a remote gateway, and may be invalid.
        Some(_) => without_file(&flags, environment),
        None => load(&flags, environment),
    };
    let mut settings = match settings {
        Ok(settings) => settings,
        Err(problems) => return fail(&problems, Exit::Usage),
    };
    let target = Target::choose(args, &settings);
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
        target,
        settings,
        key: gateway_key(environment),
    };
    block_on(request.execute(log, progress), LEFTOVER).unwrap_or_else(|exit| exit)
}

struct ClientRequest {
    invocation: Invocation,
    json: bool,
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
        progress.wait_until_ready(connection).await?;
        let json = self.json;
        match &self.invocation {
            Invocation::Sources => sources::run(connection, json).await,
            Invocation::Ls(lists) => ls::run(connection, lists, json).await,
            Invocation::Read { uri } => read::run(connection, uri, json).await,
            Invocation::Get { prompt, arguments } => {
                get::run(connection, prompt, arguments, json).await
            }
            Invocation::Call(call) => call::run(connection, call, json).await,
            Invocation::Search { query } => search::run(connection, query, json).await,
            Invocation::Explain { uri } => explain::run(connection, uri, json).await,
        }
    }
}
