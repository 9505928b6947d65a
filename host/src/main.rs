//! The program `prx-host`: the command line in front of the library.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
