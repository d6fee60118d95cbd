//! `coursecheck`: see `coursecheck --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    checks::cli::main()
}
