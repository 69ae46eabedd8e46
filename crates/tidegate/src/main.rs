//! The `tidegate` binary. The code is in the library, where tests can reach it.

/// The system allocator contends when calls start on one thread and end on another, and does not
/// return the memory of connection bursts.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> std::process::ExitCode {
    tidegate::main()
}
