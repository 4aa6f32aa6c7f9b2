//! The server that a keeper starts or finds, locally or over ssh.

use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use hotloop_flow::{BenchError, Remedy};

use crate::config::Config;
use crate::runtime::runtime;
use crate::server::{self, DAYS, Spec};
use crate::site::{Side, end, quote};
use crate::{Access, Log};

/// How long a server may take to answer after its start.
const STARTING: Duration = Duration::from_secs(30);
/// Timeout of one attempt to reach it.
const TRY: Duration = Duration::from_secs(1);
/// The pause before the next attempt.
const PAUSE: Duration = Duration::from_millis(200);

/// A server that is kept.
pub(super) struct Kept {
    config: Config,
    /// Its process, if this keeper started it here. Others are identified by `nats.pid`.
    child: Option<Child>,
    log: Log,
}

impl Kept {
    pub(super) fn new(config: &Config, log: &Log) -> Self {
        Self {
            config: config.clone(),
            child: None,
            log: Log::clone(log),
        }
    }

    /// Finds a running server, or writes its files and starts it. Returns notices for people.
    pub(super) fn open(
        &mut self,
        side: &Side,
        is_asked: &dyn Fn() -> bool,
    ) -> Result<Vec<String>, BenchError> {
        let mut notices = Vec::new();
        if self.is_found(side, is_asked)? {
            notices.push(format!("found a server at {}", self.config.url()));
            return Ok(notices);
        }
        notices.extend(self.write_files(side)?);
        if let Err(error) = self.start(side).and_then(|()| self.wait(side, is_asked)) {
            // Nothing would keep it running.
            if let Some(why) = self.end(side) {
                (self.log)(&why, &[]);
            }
            return Err(error);
        }
        notices.push(format!("started a server at {}", self.config.url()));
        Ok(notices)
    }

    /// Waits until the started server answers.
    fn wait(&self, side: &Side, is_asked: &dyn Fn() -> bool) -> Result<(), BenchError> {
        let begin = Instant::now();
        while let Err(error) = self.answers() {
            if is_asked() || begin.elapsed() >= STARTING {
                let log = format!("{}/nats.log", side.folder());
                return Err(BenchError::machine(format!(
                    "the server does not answer: {}",
                    error.what
                ))
                .hint(format!(
                    "its log is {log}; is another server on {}?",
                    self.config.server.listen
                )));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Whether a server of an earlier keeper answers. If its process is alive, the keeper waits for
    /// it. A second server could not listen, and new files would lock everybody out of the first.
    fn is_found(&mut self, side: &Side, is_asked: &dyn Fn() -> bool) -> Result<bool, BenchError> {
        let begin = Instant::now();
        loop {
            let runs = self.runs(side)?;
            match self.answers() {
                Ok(()) => return Ok(true),
                Err(_) if !runs => return Ok(false),
                Err(error) if is_asked() || begin.elapsed() >= STARTING => {
                    return Err(BenchError::machine(format!(
                        "the fleet's server runs and does not answer: {}",
                        error.what
                    ))
                    .hint("end it")
                    .remedies(&[Remedy::FleetDown]));
                }
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }

    fn answers(&self) -> Result<(), BenchError> {
        let access = Access::read(&self.config.access_file())?;
        runtime(None)?.block_on(async {
            access
                .connect("hotloop keeper", TRY, &self.log)
                .await
                .map(drop)
        })
    }

    /// Whether its process is alive; an error if that is unknown.
    fn runs(&mut self, side: &Side) -> Result<bool, BenchError> {
        if let Some(child) = &mut self.child {
            return Ok(matches!(child.try_wait(), Ok(None)));
        }
        let said = side.shell(&format!("{} && echo runs || echo ended", is_it(side)))?;
        Ok(said.ends_with("runs"))
    }

    fn program(&self, side: &Side) -> Result<String, BenchError> {
        let named = self.config.server.program.as_deref();
        match side {
            Side::Here { .. } => server::program(named),
            Side::There { .. } => Ok(named.unwrap_or("nats-server").to_owned()),
        }
    }

    /// Token, certificates and configuration, new for each fleet.
    fn write_files(&self, side: &Side) -> Result<Option<String>, BenchError> {
        let state = &self.config.state;
        let host = side.shell("hostname -f 2>/dev/null || hostname")?;
        let reach = self.reach(&host);
        let mut hosts = self.config.server.hosts.clone();
        hosts.extend(reach.rsplit_once(':').map(|(host, _)| host.to_owned()));
        if !host.is_empty() {
            hosts.push(host);
        }
        let token = server::secret()?;
        let folder = side.folder();
        let spec = Spec {
            listen: self.config.server.listen.clone(),
            hosts,
            folder: folder.clone().into(),
            token: token.clone(),
            days: DAYS,
        };
        let files = server::files(&spec)?;
        for (name, text) in &files {
            side.put(name, text)?;
        }
        let ca: Vec<(&str, String)> = files
            .iter()
            .filter(|(name, _)| *name == "ca.pem")
            .cloned()
            .collect();
        server::write(state, &ca)?;
        let worker = Access {
            url: format!("tls://{reach}"),
            token: token.clone(),
            ca: Some("ca.pem".into()),
        };
        side.put("worker.toml", &worker.text())?;
        server::write_access(state, "access.toml", &self.config.url(), &token)?;
        self.fit(side, Path::new(&folder))
    }

    /// The server's address for nodes.
    fn reach(&self, host: &str) -> String {
        let server = &self.config.server;
        match &server.reach {
            Some(reach) => reach.clone(),
            None if server.listen.starts_with("0.0.0.0:") => {
                format!("{host}:{}", self.config.server_port())
            }
            None => server.listen.clone(),
        }
    }

    fn fit(&self, side: &Side, folder: &Path) -> Result<Option<String>, BenchError> {
        let program = self.program(side)?;
        match side {
            Side::Here { .. } => server::fit(&program, folder),
            Side::There { .. } => {
                let path = quote(&format!("{}/nats.conf", folder.display()));
                let program = quote(&program);
                // The same as `server::fit`, on the server's machine.
                let line = format!(
                    "PATH=$PATH:/usr/sbin:/usr/local/bin; {program} --version >/dev/null || exit 9; \
                     {program} -t -c {path} >/dev/null 2>&1 || {{ sed -i /sync_interval/d {path} && \
                     {program} -t -c {path} >/dev/null && echo old; }}"
                );
                let said = side.shell(&line).map_err(|error| {
                    error.hint("nats-server must be installed there, or be named as server.program")
                })?;
                Ok((said == "old").then(|| server::OLD.to_owned()))
            }
        }
    }

    fn start(&mut self, side: &Side) -> Result<(), BenchError> {
        let program = self.program(side)?;
        match side {
            Side::Here { folder } => {
                let child = self.child.insert(server::start(&program, folder)?);
                server::write(folder, &[("nats.pid", child.id().to_string())])
            }
            Side::There { folder, .. } => {
                // Checks and starts in one line, because an earlier start whose answer was lost may
                // have worked.
                let line = format!(
                    "cd {} && PATH=$PATH:/usr/sbin:/usr/local/bin && {{ {} || {{ setsid nohup {} -c nats.conf \
                     </dev/null >>nats.log 2>&1 & echo $! >nats.pid; }}; }}",
                    quote(folder),
                    is_it(side),
                    quote(&program)
                );
                side.shell(&line).map(drop)
            }
        }
    }

    /// Starts it again if it has ended.
    pub(super) fn tend(&mut self, side: &Side) -> Option<String> {
        match self.runs(side) {
            Ok(true) => return None,
            // A server that cannot be checked is not known to be dead.
            Err(error) => return Some(format!("the server cannot be looked at: {}", error.what)),
            Ok(false) => {}
        }
        // A server that was found may run although its process number was lost.
        if self.child.is_none() && self.answers().is_ok() {
            return None;
        }
        let again = match self.start(side) {
            Ok(()) => "it is started again".to_owned(),
            Err(error) => error.what,
        };
        Some(format!("the server has ended: {again}"))
    }

    /// Stops it, or returns why that failed.
    pub(super) fn end(&mut self, side: &Side) -> Option<String> {
        match self.child.take() {
            Some(mut child) => {
                end(&mut child, Duration::from_secs(10));
                None
            }
            // A server that already ended needs no stop.
            None => side
                .shell(&format!("{} && kill $p; true", is_it(side)))
                .err()
                .map(|error| error.what),
        }
    }
}

/// A shell condition: the process in `nats.pid`, which it stores in `$p`, is the server. Another
/// process may have reused its number.
fn is_it(side: &Side) -> String {
    let path = quote(&format!("{}/nats.pid", side.folder()));
    format!("p=$(cat {path} 2>/dev/null) && grep -q nats.conf /proc/$p/cmdline 2>/dev/null")
}
