//! The `tidegate` program. All of it is in the library, where tests can reach it.

fn main() -> std::process::ExitCode {
    tidegate::main()
}
