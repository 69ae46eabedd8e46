//! The `tidegate` program. All of it is in the library, where tests can reach it.

/// Calls are made on one thread and end on another: the system's own allocator has them wait for each
/// other, and keeps what waves of connections have used.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> std::process::ExitCode {
    tidegate::main()
}
