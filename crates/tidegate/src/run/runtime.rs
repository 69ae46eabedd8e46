//! The async runtime of a command.

use std::time::Duration;

use super::report::fail;
use crate::cli::Exit;

/// Runs a future to completion, then waits up to `leftover` for blocking tasks.
pub(super) fn block_on<T>(future: impl Future<Output = T>, leftover: Duration) -> Result<T, Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            let message = format_args!("tidegate: cannot start the async runtime: {error}");
            fail(&message, Exit::Failure)
        })?;
    let result = runtime.block_on(future);
    runtime.shutdown_timeout(leftover);
    Ok(result)
}
