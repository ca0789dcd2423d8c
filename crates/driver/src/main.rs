//! `iisim`, the command line of the simulator.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
