//! The command line of `hotloop serve`: definitions and help texts, no logic.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use hotloop_flow::Reward;

use super::how::HowArgs;

/// `hotloop serve`
#[derive(Debug, Args)]
#[command(after_help = "\
Trainers use POST /v1/judge, or their own protocol: /get_reward (OpenRLHF), /rm (slime), /run_code \
(SandboxFusion, verl), /reset, /step, /state and /ws (OpenEnv), /evaluate (KernelGYM). POST /v1/prompts hands out prompts of the \
staged search, /openapi.json describes every route, /metrics is for Prometheus.

Every client with access can run C code here, in the bench's sandbox. So the service listens on loopback by default. \
Elsewhere it needs a token: one a line in --token-file, or in the environment variable HOTLOOP_TOKEN. \
Without a token it answers only requests whose Host is localhost, a loopback address or a name that --host allows.

/evaluate judges PyTorch modules for the problems that --problems names. The Python of a problem runs as your user, \
outside of the sandbox. So only the named files run, and a client's reference_code must equal one of them.

Examples:
  hotloop serve
  hotloop serve --bind 127.0.0.1:9000 --task matmul --reward ladder --threads all
  hotloop serve --bind 0.0.0.0:8000 --token-file tokens.txt --tls-cert cert.pem --tls-key key.pem
  hotloop serve --problems ~/KernelBench --python ~/venv/bin/python
  curl -s localhost:8000/v1/judge -d '{\"task\": \"matmul\", \"candidates\": [{\"source\": \"...\"}]}'")]
pub(crate) struct ServeArgs {
    /// Address to listen on; port 0 takes a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8000")]
    pub(crate) bind: SocketAddr,
    /// A file with one token per line; requests without one of them are refused
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// A name besides localhost that requests may use for this machine where there is no token; may
    /// be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// The certificate chain for TLS, a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The certificate's key, a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// The task for requests that name none
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// A task's folder to serve in addition to the shipped tasks; may be repeated
    #[arg(long, value_name = "FOLDER")]
    pub(crate) add_task: Vec<String>,
    /// The reward for requests that name none
    #[arg(long, value_name = "SHAPE", default_value = "ladder-log", value_parser = super::values::parse_reward)]
    pub(crate) reward: Reward,
    /// The folder of the runs to show, and of the runs of other trainers
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    pub(crate) run_folder: PathBuf,
    /// Set a key for the runs of other trainers, such as `search.parents=4`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Seconds after which a request gets 503 with Retry-After, while its job continues
    #[arg(long, value_name = "SECONDS", default_value_t = 100.0, value_parser = super::values::parse_limit)]
    pub(crate) wait: f64,
    /// Maximum number of requests per second from one address; bursts may be twice as large
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rate: u32,
    /// Maximum size of a request in MiB
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) body: u32,
    /// Judge modules for `KernelGYM`'s clients, for the problems in this file, this folder or this
    /// checkout of `KernelBench`; may be repeated. Needs a GPU and torch
    #[arg(long, value_name = "PATH")]
    pub(crate) problems: Vec<PathBuf>,
    /// Judge modules for any problem that a client sends: its Python runs as your user, outside of the
    /// sandbox. Needs a token
    #[arg(long)]
    pub(crate) any_problem: bool,
    /// A Python that has torch, for modules [default: the first python3 in PATH that has it]
    #[arg(long, value_name = "FILE")]
    pub(crate) python: Option<PathBuf>,
    /// Write the log as one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
    /// Judge on the machines of a fleet: a fleet.toml, an access file, or tls://HOST:PORT with
    /// `HOTLOOP_FLEET_TOKEN`
    #[arg(long, value_name = "FLEET", conflicts_with_all = ["slots", "jobs", "cc"])]
    pub(crate) fleet: Option<String>,
    /// How to judge.
    #[command(flatten)]
    pub(crate) how: HowArgs,
}
