//! `tidegate memory export` and `import`: copies entries between the database and a file. Gateways
//! that use the same database see the changes.

mod database;
mod export;
mod import;

use std::time::Duration;

use super::report::{exit_for, fail, start_log};
use super::runtime::block_on;
use crate::cli::{Exit, MemoryCommand, OutputArgs};
use crate::config::{Environment, load};
use database::OwnedMemory;

pub(super) fn run(
    command: &MemoryCommand,
    output: OutputArgs,
    environment: &Environment<'_>,
) -> Exit {
    let args = command.args();
    let settings = match load(&args.flags(output, environment), environment) {
        Ok(settings) => settings,
        Err(problems) => return fail(&problems, Exit::Usage),
    };
    let memory = match OwnedMemory::new(&settings, args) {
        Ok(memory) => memory,
        Err(message) => return fail(&format_args!("tidegate: {message}"), Exit::Usage),
    };
    let log = start_log(&settings.log, output, environment);
    let work = async {
        let result = match command {
            MemoryCommand::Export { namespace, .. } => {
                export::run(&memory, namespace.clone()).await
            }
            MemoryCommand::Import { file, .. } => import::run(&memory, file).await,
        };
        memory.close().await;
        result
    };
    let result = block_on(work, Duration::ZERO);
    drop(log);
    match result {
        Ok(Ok(printed)) => exit_for(printed.map(|()| Exit::Success)),
        Ok(Err(error)) => fail(&format_args!("tidegate: {error:#}"), Exit::Failure),
        Err(exit) => exit,
    }
}
