//! `fleet.toml`: where the server runs, how to reach it, and which nodes work.

use std::path::{Path, PathBuf};

use hotloop_flow::{BenchError, Remedy};
use serde::Deserialize;

/// A commented example with every key.
pub const EXAMPLE: &str = include_str!("fleet.toml");

/// The content of a `fleet.toml`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// The fleet's name, which scheduler jobs also have.
    #[serde(default = "name")]
    pub name: String,
    /// The folder of token, certificates, state and logs, relative to the file.
    #[serde(default)]
    pub state: PathBuf,
    /// The NATS server.
    #[serde(default)]
    pub server: Server,
    /// The benchmark side, if it is not this machine.
    #[serde(default)]
    pub site: Option<Site>,
    /// Settings of every worker.
    #[serde(default)]
    pub worker: WorkerConfig,
    /// What works.
    #[serde(default)]
    pub nodes: Vec<Nodes>,
}

/// The NATS server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Server {
    /// The address it listens on, on its own machine.
    pub listen: String,
    /// The address for nodes, if it differs from `listen`.
    pub reach: Option<String>,
    /// Additional names in its certificate.
    pub hosts: Vec<String>,
    pub program: Option<String>,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:4222".to_owned(),
            reach: None,
            hosts: Vec::new(),
            program: None,
        }
    }
}

/// The benchmark side.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Site {
    /// The ssh host that runs the server and submits jobs.
    pub ssh: String,
    /// A configuration file for ssh.
    #[serde(default)]
    pub ssh_config: Option<PathBuf>,
    /// The local end of the forwarded port.
    #[serde(default = "port")]
    pub port: u16,
    /// The folder of the server's and the workers' files there, relative to the home folder.
    #[serde(default = "folder")]
    pub folder: String,
    /// hotloop's program there.
    #[serde(default)]
    pub hotloop: Option<String>,
}

/// Settings of every worker.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct WorkerConfig {
    /// Number of candidates timed at the same time.
    pub slots: u32,
    /// Seconds after which a silent worker loses its group.
    pub lease: f64,
    /// Maximum number of deliveries of a group.
    pub deliveries: u32,
    /// A worker takes no jobs below this share of calm probes.
    pub calm: f64,
    /// Whether workers may share cores.
    pub share_cores: bool,
    /// Seconds for a worker to finish its jobs after it was told to stop.
    pub grace: f64,
    /// Additional arguments, passed unchanged.
    pub arguments: Vec<String>,
}

impl Default for WorkerConfig {
    fn default() -> Self {
        Self {
            slots: 1,
            lease: 30.0,
            deliveries: 3,
            calm: 0.5,
            share_cores: false,
            grace: 20.0,
            arguments: Vec::new(),
        }
    }
}

/// Nodes of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(
    deny_unknown_fields,
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case",
    tag = "kind"
)]
pub enum Nodes {
    /// Processes on this machine.
    Local {
        /// How many.
        #[serde(default = "one")]
        count: u32,
        /// The cores of each, such as `["0-3", "4-7"]`.
        #[serde(default)]
        cores: Vec<String>,
    },
    /// Hosts that ssh can reach. The server's port is forwarded to each.
    Ssh {
        hosts: Vec<String>,
        /// A configuration file for ssh.
        #[serde(default)]
        ssh_config: Option<PathBuf>,
        /// The port on the host.
        #[serde(default = "port")]
        port: u16,
        /// The folder of the worker's files there.
        #[serde(default = "folder")]
        folder: String,
        /// hotloop's program there.
        #[serde(default)]
        hotloop: Option<String>,
    },
    /// Slurm jobs, each with its own node.
    Slurm {
        /// How many.
        #[serde(default = "one")]
        count: u32,
        #[serde(default)]
        partition: Option<String>,
        /// The time limit in the format of `sbatch --time`.
        #[serde(default = "hour")]
        time: String,
        /// Seconds before the limit at which a worker stops taking jobs.
        #[serde(default = "minute")]
        warning: u32,
        /// More options of sbatch.
        #[serde(default)]
        options: Vec<String>,
    },
    /// Jobs of any other scheduler.
    Command {
        /// How many.
        #[serde(default = "one")]
        count: u32,
        /// The command to start a job. `{command}` is the worker's quoted command line. The last
        /// word that it prints is the job's id.
        start: String,
        /// The command that prints the ids of live jobs, among other words.
        list: String,
        /// The command to end a job. `{id}` is its id.
        stop: String,
    },
}

fn name() -> String {
    "fleet".to_owned()
}

fn port() -> u16 {
    14_222
}

fn folder() -> String {
    ".hotloop-fleet".to_owned()
}

fn one() -> u32 {
    1
}

fn hour() -> String {
    "01:00:00".to_owned()
}

fn minute() -> u32 {
    60
}

/// Seconds of a time limit in sbatch's formats: `M`, `M:S`, `H:M:S`, `D-H`, `D-H:M` or `D-H:M:S`.
/// `None` for other texts; sbatch itself reports errors in them.
fn slurm_seconds(text: &str) -> Option<u64> {
    let (days, rest) = text
        .split_once('-')
        .map_or((None, text), |(days, rest)| (Some(days), rest));
    let number = |text: &str| text.parse::<u32>().ok().map(u64::from);
    let parts: Vec<u64> = rest.split(':').map(number).collect::<Option<_>>()?;
    let clock = match (days, parts.as_slice()) {
        (None, [minutes]) => minutes * 60,
        (None, [minutes, seconds]) => minutes * 60 + seconds,
        (Some(_), [hours]) => hours * 3600,
        (Some(_), [hours, minutes]) => hours * 3600 + minutes * 60,
        (_, [hours, minutes, seconds]) => hours * 3600 + minutes * 60 + seconds,
        _ => return None,
    };
    Some(days.map_or(Some(0), number)? * 86_400 + clock)
}

impl Config {
    /// Reads a `fleet.toml`.
    pub fn read(path: &Path) -> Result<Self, BenchError> {
        let wrong = |what: String| {
            BenchError::user(what)
                .hint("compare it with the example, which has every key")
                .remedies(&[Remedy::FleetExample])
        };
        let text = fs_err::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let folder = std::path::absolute(if folder.as_os_str().is_empty() {
            ".".into()
        } else {
            folder
        })
        .map_err(|error| BenchError::machine(error.to_string()))?;
        Self::parse(&text, &folder).map_err(|why| wrong(format!("{}: {why}", path.display())))
    }

    fn parse(text: &str, folder: &Path) -> Result<Self, String> {
        let mut config: Self =
            toml::from_str(text).map_err(|error| error.to_string().trim().to_owned())?;
        if !crate::wire::is_word(&config.name) {
            return Err(format!(
                "name: `{}` must be letters, digits, - and _",
                config.name
            ));
        }
        if config.state.as_os_str().is_empty() {
            config.state = format!("{}.fleet", config.name).into();
        }
        config.state = folder.join(&config.state);
        let beside = |path: &mut Option<PathBuf>| *path = path.take().map(|path| folder.join(path));
        if let Some(site) = &mut config.site {
            beside(&mut site.ssh_config);
        }
        for nodes in &mut config.nodes {
            if let Nodes::Ssh { ssh_config, .. } = nodes {
                beside(ssh_config);
            }
        }
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), String> {
        let address = |key: &str, text: &str| match text
            .rsplit_once(':')
            .map(|(_, port)| port.parse::<u16>())
        {
            Some(Ok(port)) if port > 0 => Ok(()),
            _ => Err(format!("{key}: `{text}` is not HOST:PORT")),
        };
        address("server.listen", &self.server.listen)?;
        self.server
            .reach
            .iter()
            .try_for_each(|reach| address("server.reach", reach))?;
        if !(0.5..=3600.0).contains(&self.worker.lease) {
            return Err(format!(
                "worker.lease: {} is not between 0.5 and 3600 seconds",
                self.worker.lease
            ));
        }
        if !(0.0..=1.0).contains(&self.worker.calm) {
            return Err(format!(
                "worker.calm: {} is not between 0 and 1",
                self.worker.calm
            ));
        }
        if !(0.0..=3600.0).contains(&self.worker.grace) {
            return Err(format!(
                "worker.grace: {} is not between 0 and 3600 seconds",
                self.worker.grace
            ));
        }
        for nodes in &self.nodes {
            match nodes {
                Nodes::Local { .. } if self.site.is_some() => {
                    return Err(
                        "nodes: kind \"local\" works on this machine, but [site] puts the server \
                         elsewhere"
                            .into(),
                    );
                }
                Nodes::Ssh { .. } if self.site.is_some() => {
                    return Err(
                        "nodes: kind \"ssh\" forwards this machine's server, but [site] puts the \
                         server elsewhere"
                            .into(),
                    );
                }
                Nodes::Local { count, cores }
                    if !cores.is_empty() && cores.len() != *count as usize =>
                {
                    let (lists, workers) = (
                        hotloop_flow::count(cores.len(), "list"),
                        hotloop_flow::count(*count as usize, "worker"),
                    );
                    return Err(format!("nodes: {lists} of cores for {workers}"));
                }
                // Otherwise its workers would stop as soon as they start, again and again.
                Nodes::Slurm { time, warning, .. }
                    if *warning > 0
                        && slurm_seconds(time).is_some_and(|end| end <= u64::from(*warning)) =>
                {
                    return Err(format!(
                        "nodes: warning: {warning} s before the end of `time`, {time}, is before \
                         its begin; raise `time`, or lower `warning`"
                    ));
                }
                Nodes::Command { start, stop, .. }
                    if !start.contains("{command}") || !stop.contains("{id}") =>
                {
                    return Err("nodes: `start` needs {command}, and `stop` needs {id}".into());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The port of the server, on its own machine.
    pub(crate) fn server_port(&self) -> u16 {
        self.server
            .listen
            .rsplit_once(':')
            .and_then(|(_, port)| port.parse().ok())
            .unwrap_or(4222)
    }

    /// The server's address for this machine.
    pub fn url(&self) -> String {
        match &self.site {
            Some(site) => format!("tls://127.0.0.1:{}", site.port),
            None if self.server.listen.starts_with("0.0.0.0:") => {
                format!("tls://127.0.0.1:{}", self.server_port())
            }
            None => format!("tls://{}", self.server.listen),
        }
    }

    /// The access file for users on this machine.
    pub fn access_file(&self) -> PathBuf {
        self.state.join("access.toml")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(text, Path::new("/here"))
    }

    #[test]
    fn the_example_is_sound_and_holds_every_kind() {
        let config = parse(EXAMPLE).unwrap();
        assert!(
            matches!(config.nodes.as_slice(), [Nodes::Local { count: 1, .. }]),
            "it works on this machine as it is: {config:?}"
        );
        // The commented parts must be valid, too. [site] and local nodes exclude each other.
        let shown = EXAMPLE.replace("\n# ", "\n");
        let shown = shown
            .split("# A fleet: ")
            .last()
            .unwrap()
            .split_once('\n')
            .unwrap()
            .1;
        let shown = shown
            .split_once("A commented key")
            .unwrap()
            .1
            .split_once('\n')
            .unwrap()
            .1;
        let (before, site) = shown.split_once("\n[site]").unwrap();
        let (site, after) = site.split_once("\n[worker]").unwrap();
        let all = parse(&format!("{before}\n[worker]{after}")).unwrap();
        let kinds: Vec<&str> = all
            .nodes
            .iter()
            .map(|nodes| match nodes {
                Nodes::Local { .. } => "local",
                Nodes::Ssh { .. } => "ssh",
                Nodes::Slurm { .. } => "slurm",
                Nodes::Command { .. } => "command",
            })
            .collect();
        assert_eq!(kinds, ["local", "slurm", "ssh", "command"]);
        assert!(
            parse(&format!("[site]{site}"))
                .unwrap()
                .site
                .is_some_and(|site| site.hotloop.is_some())
        );
    }

    #[test]
    fn paths_are_beside_the_file() {
        let config = parse("name = \"a\"\n[site]\nssh = \"x\"\nssh-config = \"c\"").unwrap();
        assert_eq!(config.state, Path::new("/here/a.fleet"));
        assert_eq!(
            config.site.as_ref().unwrap().ssh_config.as_deref(),
            Some(Path::new("/here/c"))
        );
        assert_eq!(config.url(), "tls://127.0.0.1:14222");
        assert_eq!(parse("").unwrap().url(), "tls://127.0.0.1:4222");
    }

    #[test]
    fn time_limits_are_read_as_slurm_reads_them() {
        let read = [
            "90",
            "1:30",
            "01:00:00",
            "2-1",
            "1-0:30",
            "1-00:00:05",
            "UNLIMITED",
            "soon",
            "",
        ]
        .map(slurm_seconds);
        let some = [5400, 90, 3600, 176_400, 88_200, 86_405].map(Some);
        assert_eq!(read[..6], some);
        assert_eq!(read[6..], [None; 3]);
        assert!(parse("[[nodes]]\nkind = \"slurm\"\ntime = \"0:50\"\nwarning = 20").is_ok());
        assert!(parse("[[nodes]]\nkind = \"slurm\"\ntime = \"UNLIMITED\"").is_ok());
    }

    #[test]
    fn mistakes_name_their_key() {
        for (text, word) in [
            ("colour = 1", "colour"),
            ("name = \"a/b\"", "name"),
            ("[server]\nlisten = \"nowhere\"", "server.listen"),
            ("[worker]\nlease = 0", "worker.lease"),
            ("[worker]\ncalm = 2", "worker.calm"),
            ("[worker]\ngrace = -1", "worker.grace"),
            (
                "[[nodes]]\nkind = \"slurm\"\ntime = \"0:50\"",
                "warning: 60 s before the end of `time`, 0:50",
            ),
            ("[[nodes]]\nkind = \"cloud\"", "cloud"),
            (
                "[[nodes]]\nkind = \"local\"\ncount = 2\ncores = [\"0\"]",
                "cores",
            ),
            (
                "[[nodes]]\nkind = \"command\"\nstart = \"x\"\nlist = \"y\"\nstop = \"z\"",
                "{command}",
            ),
            ("[site]\nssh = \"x\"\n[[nodes]]\nkind = \"local\"", "[site]"),
        ] {
            let why = parse(text).unwrap_err();
            assert!(why.contains(word), "{text}: {why}");
        }
    }
}
