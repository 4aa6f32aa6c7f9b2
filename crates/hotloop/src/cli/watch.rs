//! The command line of `hotloop watch` and `hotloop replay`: definitions and help texts, no logic.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// `hotloop watch`
#[derive(Debug, Args)]
#[command(after_help = "\
The page fills while runs go on, and shows finished runs, too: learning curves beside the control, the search tree, \
every candidate with its prompt, answer and what changed from its parent, verdicts, where the seconds go, and \
warnings. It reads the journals of the runs, changes nothing, and needs no network.

Only this machine can open the page. From elsewhere forward the port: ssh -L 8080:localhost:8080 HOST.

Examples:
  hotloop watch
  hotloop watch runs/quickstart
  hotloop watch runs/learns runs/control --bind 127.0.0.1:9000
  hotloop watch --fleet fleet.toml

Exit status: 130 after Ctrl-C.")]
pub(crate) struct WatchArgs {
    /// Run directories, and folders that hold some; new runs appear by themselves
    #[arg(value_name = "DIR", default_value = "runs")]
    pub(crate) run: Vec<PathBuf>,
    /// Loopback address to listen on; port 0 takes a free port [default: 127.0.0.1:8080, or a free
    /// port if that is taken]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) bind: Option<SocketAddr>,
    /// Also show this fleet: a fleet.toml, an access file, or tls://HOST:PORT
    #[arg(long, value_name = "FLEET")]
    pub(crate) fleet: Option<String>,
    /// Print one JSON object with the page's address
    #[arg(long)]
    pub(crate) json: bool,
}

/// `--watch` of the commands that train.
#[derive(Debug, Args)]
pub(crate) struct BesideArgs {
    /// Serve a page that shows the run while it goes on, as `hotloop watch` does [default address:
    /// 127.0.0.1:8080, or a free port if that is taken]
    #[arg(long, value_name = "ADDRESS:PORT", num_args = 0..=1, require_equals = true)]
    #[expect(
        clippy::option_option,
        reason = "the flag may stand without an address"
    )]
    pub(crate) watch: Option<Option<SocketAddr>>,
}

/// `hotloop replay`
#[derive(Debug, Args)]
#[command(after_help = "\
A run saw each speed once, and the fastest of many timings is partly luck. So a replay judges the fastest distinct \
candidates anew on this machine, by today's rules, with the run's compiler, threads and stages. It prints the speed \
that the run saw, the one that it confirmed at its end, and the one that this machine measures. Candidates that are \
suspect or refused now are named, with the reason.

Examples:
  hotloop replay runs/first
  hotloop replay runs/first --count 100 --times 9
  hotloop replay runs/first --json > replayed.jsonl

Exit status: 0 whatever the verdicts; 1 your error; 3 the machine failed; 130 stopped.")]
pub(crate) struct ReplayArgs {
    /// A run directory, finished or not
    #[arg(value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// How many of the fastest distinct candidates
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = super::values::parse_count)]
    pub(crate) count: usize,
    /// Timings of each
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = super::values::parse_count)]
    pub(crate) times: usize,
    /// Judge on the machines of a fleet: a fleet.toml, an access file, or tls://HOST:PORT
    #[arg(long, value_name = "FLEET")]
    pub(crate) fleet: Option<String>,
    /// Print one JSON object per line for each candidate
    #[arg(long)]
    pub(crate) json: bool,
}
