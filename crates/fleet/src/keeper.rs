//! Keeps a fleet up: restarts server, tunnel and nodes when they end.
//!
//! There is one keeper process per fleet. Others talk to it through files in the fleet's folder: a
//! lock shows that it is alive, `fleet.json` holds its state, and a file `stop` asks it to end
//! everything.

mod server;
mod tunnel;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hotloop_flow::{BenchError, Remedy};
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::nodes::{self, NodeState, Pool};
use crate::site::{self, Side, quote};
use crate::{Access, Log};
use server::Kept;
use tunnel::Tunnel;

/// How often everything is checked.
const TICK: Duration = Duration::from_secs(1);
/// Ticks between two checks of remote parts.
const FAR: u32 = 5;
/// Number of notices that are kept for `status`.
const NOTES: usize = 12;

/// The keeper's state, for others to read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Whether the server has answered and nodes are being started.
    pub ready: bool,
    /// The keeper's process.
    pub pid: u32,
    /// The number of requested nodes.
    pub wanted: usize,
    /// Nodes that were started and have not ended.
    pub nodes: Vec<NodeState>,
    /// Nodes that ended and were replaced.
    pub replaced: u32,
    /// Whether the tunnel is up; `None` if there is none.
    pub tunnel: Option<bool>,
    /// What happened last.
    pub notes: Vec<String>,
}

impl Record {
    /// The last state that the keeper of a fleet wrote.
    pub fn read(config: &Config) -> Self {
        let text = std::fs::read(config.state.join("fleet.json")).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    fn write(&self, folder: &Path) -> Result<(), BenchError> {
        let bytes = serde_json::to_string(self).unwrap_or_default();
        crate::server::write(folder, &[("fleet.json.new", bytes)])?;
        fs_err::rename(folder.join("fleet.json.new"), folder.join("fleet.json"))
            .map_err(|error| BenchError::machine(error.to_string()))
    }

    /// Records a notice, and returns false if it repeats the last one. Failures are retried
    /// forever, and their notices would displace all others.
    fn note(&mut self, line: &str) -> bool {
        if self.notes.last().is_some_and(|last| last == line) {
            return false;
        }
        self.notes.push(line.to_owned());
        let from = self.notes.len().saturating_sub(NOTES);
        self.notes.drain(..from);
        true
    }
}

/// Whether a keeper is alive.
pub fn is_up(config: &Config) -> bool {
    File::open(lock_path(config)).is_ok_and(|file| file.try_lock_shared().is_err())
}

/// Asks the keeper to end everything, and waits until it has. Without a keeper it does so itself.
/// Returns false if there was nothing to end.
pub fn down(config: &Config, patience: Duration, log: &Log) -> Result<bool, BenchError> {
    let begin = Instant::now();
    let was_up = is_up(config);
    if was_up {
        crate::server::write(&config.state, &[("stop", String::new())])?;
        while is_up(config) {
            if begin.elapsed() >= patience {
                return Err(
                    BenchError::machine("the fleet's keeper does not end").hint(format!(
                        "look into {}",
                        config.state.join("keeper.log").display()
                    )),
                );
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        return Ok(true);
    }
    let record = Record::read(config);
    if record.pid == 0 {
        return Ok(false);
    }
    // A killed keeper leaves its jobs and its server.
    let _lock = lock(config)?;
    let mut keeper = Keeper::start(config, Path::new("hotloop"), log, &record)?;
    keeper.end();
    Ok(true)
}

/// Keeps a fleet up until `stop` is set or another process asks. `program` is hotloop's own file.
pub fn keep(
    config: &Config,
    program: &Path,
    stop: &AtomicBool,
    log: &Log,
) -> Result<(), BenchError> {
    fs_err::create_dir_all(&config.state)
        .map_err(|error| BenchError::machine(error.to_string()))?;
    let _lock = lock(config)?;
    let asked = config.state.join("stop");
    drop(std::fs::remove_file(&asked));
    let is_asked = || stop.load(Ordering::Relaxed) || asked.exists();
    let mut keeper = Keeper::start(config, program, log, &Record::read(config))?;
    match keeper.open(&is_asked) {
        // The parts that it started are left to the next keeper, or to `hotloop fleet down`.
        Err(error) if !is_asked() => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut tick = 0;
    while !is_asked() {
        keeper.tend(tick);
        tick += 1;
        std::thread::sleep(TICK);
    }
    keeper.end();
    drop(std::fs::remove_file(&asked));
    Ok(())
}

fn lock_path(config: &Config) -> PathBuf {
    config.state.join("keeper.lock")
}

fn lock(config: &Config) -> Result<File, BenchError> {
    let path = lock_path(config);
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path);
    let file = file.map_err(|error| BenchError::machine(format!("{}: {error}", path.display())))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(_) => Err(
            BenchError::user(format!("the fleet {} is up already", config.name))
                .hint("look at it, or end it")
                .remedies(&[Remedy::FleetStatus, Remedy::FleetDown]),
        ),
    }
}

struct Keeper {
    config: Config,
    side: Side,
    tunnel: Option<Tunnel>,
    server: Kept,
    pools: Vec<Pool>,
    record: Record,
    /// Whether it was reported that the record cannot be written.
    unwritten: bool,
    log: Log,
}

impl Keeper {
    /// Finds the benchmark side, and the parts that an earlier keeper left there.
    fn start(
        config: &Config,
        program: &Path,
        log: &Log,
        before: &Record,
    ) -> Result<Self, BenchError> {
        let (side, tunnel) = match &config.site {
            None => (
                Side::Here {
                    folder: config.state.clone(),
                },
                None,
            ),
            Some(site) => {
                let ssh = site::ssh(site, &config.state);
                let target = format!("127.0.0.1:{}", config.server_port());
                let mut tunnel = Tunnel::new(ssh.clone(), site.port, target);
                tunnel.open(Duration::from_secs(30))?;
                let wanted = format!("{}/{}", site.folder, config.name);
                let bare = Side::There {
                    ssh: ssh.clone(),
                    folder: wanted.clone(),
                };
                let folder = bare.shell(&format!(
                    "umask 077; mkdir -p {0} && cd {0} && pwd",
                    quote(&wanted)
                ))?;
                (Side::There { ssh, folder }, Some(tunnel))
            }
        };
        let far = config
            .site
            .as_ref()
            .map(|site| site.hotloop.clone().unwrap_or_else(|| "hotloop".to_owned()));
        let program = far.unwrap_or_else(|| program.display().to_string());
        let mut pools = nodes::pools(config, &side, &program);
        for pool in &mut pools {
            pool.adopt(&before.nodes);
        }
        let record = Record {
            pid: std::process::id(),
            wanted: pools.iter().map(Pool::wanted).sum(),
            nodes: pools.iter().flat_map(Pool::states).collect(),
            tunnel: tunnel.as_ref().map(|_| true),
            ..Record::default()
        };
        let server = Kept::new(config, log);
        let log = Log::clone(log);
        Ok(Self {
            config: config.clone(),
            side,
            tunnel,
            server,
            pools,
            record,
            unwritten: false,
            log,
        })
    }

    /// Starts the server, or finds it running.
    fn open(&mut self, is_asked: &dyn Fn() -> bool) -> Result<(), BenchError> {
        self.record.write(&self.config.state)?;
        let notices = self.server.open(&self.side, is_asked)?;
        for notice in notices {
            self.note(&notice);
        }
        self.record.ready = true;
        self.tell();
        Ok(())
    }

    /// Writes the state. A disk that is full for a while must not end a fleet or leave it without a
    /// keeper.
    fn tell(&mut self) {
        let written = self.record.write(&self.config.state);
        if let (Err(error), false) = (&written, self.unwritten) {
            self.note(&format!(
                "fleet.json cannot be written; the fleet goes on: {}",
                error.what
            ));
        }
        self.unwritten = written.is_err();
    }

    fn note(&mut self, line: &str) {
        if self.record.note(line) {
            (self.log)(line, &[]);
        }
    }

    /// Checks everything once.
    fn tend(&mut self, tick: u32) {
        let mut said = Vec::new();
        if let Some(tunnel) = &mut self.tunnel {
            said.extend(tunnel.tend());
            self.record.tunnel = Some(tunnel.is_up());
        }
        let is_reachable = self.tunnel.as_ref().is_none_or(Tunnel::is_up);
        if is_reachable && (self.config.site.is_none() || tick.is_multiple_of(FAR)) {
            said.extend(self.server.tend(&self.side));
            for pool in &mut self.pools {
                pool.tend(&mut |line| said.push(line));
            }
        }
        for line in said {
            self.note(&line);
        }
        self.record.nodes = self.pools.iter().flat_map(Pool::states).collect();
        self.record.replaced = self.pools.iter().map(|pool| pool.replaced).sum();
        self.tell();
    }

    /// Ends everything, workers first, so that they can give back their jobs.
    fn end(&mut self) {
        let grace = Duration::from_secs_f64(self.config.worker.grace) + Duration::from_secs(10);
        let mut said = Vec::new();
        for pool in &mut self.pools {
            pool.end(grace, &mut |line| said.push(line));
        }
        said.extend(self.server.end(&self.side));
        if let Side::There { folder, .. } = &self.side {
            let files = [
                "worker.toml",
                "nats.conf",
                "server.key",
                "server.pem",
                "ca.pem",
            ];
            let paths: Vec<String> = files
                .iter()
                .map(|file| quote(&format!("{folder}/{file}")))
                .collect();
            if let Err(error) = self.side.shell(&format!("rm -f {}", paths.join(" "))) {
                said.push(error.what);
            }
        }
        if let Some(tunnel) = &mut self.tunnel {
            tunnel.close();
        }
        for line in &said {
            (self.log)(line, &[]);
        }
        // Without them, the next fleet makes new ones.
        for name in [
            "fleet.json",
            "access.toml",
            "ca.pem",
            "server.pem",
            "server.key",
            "nats.conf",
            "worker.toml",
            "token",
        ] {
            drop(std::fs::remove_file(self.config.state.join(name)));
        }
    }
}

/// The access file of a fleet that is up.
pub fn access(config: &Config) -> Result<Access, BenchError> {
    if !config.access_file().exists() {
        return Err(
            BenchError::user(format!("fleet `{}` is not up", config.name))
                .hint("start it")
                .remedies(&[Remedy::FleetUp]),
        );
    }
    Access::read(&config.access_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_again_and_again_is_noted_once() {
        let mut record = Record::default();
        let told: Vec<bool> = ["up", "no sbatch", "no sbatch", "down", "no sbatch"]
            .map(|line| record.note(line))
            .into();
        assert_eq!(told, [true, true, false, true, true]);
        assert_eq!(record.notes, ["up", "no sbatch", "down", "no sbatch"]);
        for number in 0..50 {
            record.note(&number.to_string());
        }
        assert_eq!(
            (record.notes.len(), record.notes[NOTES - 1].as_str()),
            (NOTES, "49")
        );
    }
}
