//! The command line of `worker` and `fleet`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `hotloop worker`
#[derive(Debug, Args)]
#[command(after_help = "\
A worker takes groups of candidates for its machine class, judges them and answers. At the start it measures how \
quiet the machine is, and it takes nothing while the machine is not quiet. It stops taking jobs after the machine \
fails on three candidates in a row and then on the task's own seed. On SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 or \
Ctrl-C it finishes its jobs; at a second signal it gives them back at once, and a third one ends it.

Anyone with the access file can run code here: candidates in the sandbox, but references of tasks as this user.

Examples:
  hotloop worker --access fleet.fleet/worker.toml
  hotloop worker --access worker.toml --slots 4 --cores 0-15
  sbatch --exclusive --wrap 'exec hotloop worker --access ~/.hotloop-fleet/worker.toml'")]
pub(crate) struct WorkerArgs {
    /// The access file that `hotloop fleet up` wrote: url, token, ca
    #[arg(long, value_name = "FILE")]
    pub(crate) access: PathBuf,
    /// Candidates timed at the same time, each on its own cores
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) slots: u32,
    /// Logical cores to own, such as 0-3,8 [default: all that this process may use]
    #[arg(long, value_name = "LIST")]
    pub(crate) cores: Option<String>,
    /// Take cores even if another worker owns them
    #[arg(long)]
    pub(crate) share_cores: bool,
    /// Ack timeout: seconds after which a silent worker loses its group to another
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    pub(crate) lease: f64,
    /// Delivery attempts of a group before it counts as lost
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) deliveries: u32,
    /// Take jobs only while at least this share of probes is calm
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    pub(crate) calm: f64,
    /// Seconds to finish its jobs after a signal
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0)]
    pub(crate) grace: f64,
    /// Seconds to wait for the server at the start
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0)]
    pub(crate) patience: f64,
    /// Stop when standard input ends
    #[arg(long)]
    pub(crate) until_eof: bool,
    /// Wait instead of judging, to measure the fleet itself; the value is the share of calm probes
    #[arg(long, hide = true, value_name = "SHARE", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    pub(crate) rehearse: Option<f64>,
}

/// `hotloop fleet`
#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: FleetCommand,
}

/// The subcommands of `hotloop fleet`.
#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Start the server, the tunnel and the workers, and keep them up
    #[command(after_help = "\
Examples:
  hotloop fleet example > fleet.toml
  hotloop fleet up fleet.toml
  hotloop judge matmul --fleet fleet.toml *.c
  hotloop train run.toml --set fleet=fleet.toml

Prints what is up, what is not and why. Exit status: 0 when a worker is ready, 3 when none is yet.")]
    Up {
        /// The fleet's file
        #[arg(value_name = "FLEET.toml", default_value = "fleet.toml")]
        file: PathBuf,
        /// Stay in the foreground until a signal
        #[arg(long)]
        foreground: bool,
        /// Seconds to wait for the first worker; the fleet goes on starting after that
        #[arg(long, value_name = "SECONDS", default_value_t = 12.0)]
        wait: f64,
        /// Print one JSON object
        #[arg(long, conflicts_with = "foreground")]
        json: bool,
    },
    /// Show nodes, slots, rate, noise and errors
    #[command(after_help = "\
Examples:
  hotloop fleet status
  hotloop fleet status big.toml --json

Exit status: 0 when a worker is ready, 3 when none is.")]
    Status {
        /// The fleet's file, an access file, or tls://HOST:PORT
        #[arg(value_name = "FLEET", default_value = "fleet.toml")]
        fleet: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Stop workers, server and tunnel
    #[command(after_help = "Example:\n  hotloop fleet down fleet.toml")]
    Down {
        /// The fleet's file
        #[arg(value_name = "FLEET.toml", default_value = "fleet.toml")]
        file: PathBuf,
    },
    /// Print a fleet.toml with every key
    Example,
}
