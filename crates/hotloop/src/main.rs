//! The program; everything it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    hotloop_bench::role::play_if_asked();
    hotloop::run()
}
