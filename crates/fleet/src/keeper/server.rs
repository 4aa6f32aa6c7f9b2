//! The server that a keeper starts or finds, here or there.

use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use flow::BenchError;

use crate::bench::runtime;
use crate::config::Config;
use crate::server::{self, DAYS, Spec};
use crate::site::{Side, end, quote};
use crate::{Access, Log};

/// How long a server that was started may need.
const STARTING: Duration = Duration::from_secs(30);

/// A server that is kept.
pub(super) struct Kept {
    config: Config,
    program: String,
    child: Option<Child>,
    /// Whether we started it, and so are to end it.
    ours: bool,
}

impl Kept {
    pub(super) fn new(config: &Config, side: &Side) -> Self {
        let named = config.server.program.as_deref();
        let program = match side {
            // Looked for when it is needed: one that runs is used as it is.
            Side::Here { .. } => named.unwrap_or_default().to_owned(),
            Side::There { .. } => named.unwrap_or("nats-server").to_owned(),
        };
        Self { config: config.clone(), program, child: None, ours: false }
    }

    /// Finds the server answering, or writes its files and starts it; gives notices for people.
    pub(super) fn open(
        &mut self,
        side: &Side,
        log: &Log,
        is_asked: &dyn Fn() -> bool,
    ) -> Result<Vec<String>, BenchError> {
        let mut notices = Vec::new();
        if self.answers(Duration::from_secs(1), log).is_ok() {
            notices.push(format!("found a server at {}", self.config.url()));
            self.ours = true;
            return Ok(notices);
        }
        notices.extend(self.write_files(side)?);
        self.start(side)?;
        self.ours = true;
        let begin = Instant::now();
        while let Err(error) = self.answers(Duration::from_secs(1), log) {
            if is_asked() || begin.elapsed() >= STARTING {
                let log = format!("{}/nats.log", side.folder());
                return Err(BenchError::new(format!("the server does not answer: {}", error.what))
                    .hint(format!("its log is {log}; is another server on {}?", self.config.server.listen)));
            }
        }
        notices.push(format!("started a server at {}", self.config.url()));
        Ok(notices)
    }

    fn answers(&self, patience: Duration, log: &Log) -> Result<(), BenchError> {
        let access = Access::read(&self.config.access_file())?;
        runtime(None)?.block_on(async { access.connect("hotloop keeper", patience, log).await.map(drop) })
    }

    /// Token, certificates and configuration, new for each fleet.
    fn write_files(&mut self, side: &Side) -> Result<Option<String>, BenchError> {
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
        let ca: Vec<(&str, String)> = files.iter().filter(|(name, _)| *name == "ca.pem").cloned().collect();
        server::write(state, &ca)?;
        let worker = Access { url: format!("tls://{reach}"), token: token.clone(), ca: Some("ca.pem".into()) };
        side.put("worker.toml", &worker.text())?;
        server::write_access(state, "access.toml", &self.config.url(), &token)?;
        self.fit(side, Path::new(&folder))
    }

    /// The server as nodes reach it.
    fn reach(&self, host: &str) -> String {
        let server = &self.config.server;
        match &server.reach {
            Some(reach) => reach.clone(),
            None if server.listen.starts_with("0.0.0.0:") => format!("{host}:{}", self.config.server_port()),
            None => server.listen.clone(),
        }
    }

    fn fit(&mut self, side: &Side, folder: &Path) -> Result<Option<String>, BenchError> {
        match side {
            Side::Here { .. } => {
                self.program = server::program(self.config.server.program.as_deref())?;
                server::fit(&self.program, folder)
            }
            Side::There { .. } => {
                let path = quote(&format!("{}/nats.conf", folder.display()));
                let program = quote(&self.program);
                // The same as `server::fit`, where the program is.
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
        match side {
            Side::Here { folder } => {
                let child = server::start(&self.program, folder)?;
                server::write(folder, &[("nats.pid", child.id().to_string())])?;
                self.child = Some(child);
                Ok(())
            }
            Side::There { folder, .. } => {
                let program = quote(&self.program);
                let line = format!(
                    "cd {} && PATH=$PATH:/usr/sbin:/usr/local/bin && {{ setsid nohup {program} -c nats.conf \
                     </dev/null >>nats.log 2>&1 & echo $! >nats.pid; }}",
                    quote(folder)
                );
                side.shell(&line).map(drop)
            }
        }
    }

    /// Starts it again if it has ended.
    pub(super) fn tend(&mut self, side: &Side) -> Vec<String> {
        let has_ended = match (&mut self.child, side) {
            (Some(child), _) => !matches!(child.try_wait(), Ok(None)),
            (None, Side::There { .. }) if self.ours => side.shell(&Self::on_pid(side, "kill -0")).is_err(),
            _ => false,
        };
        if !has_ended {
            return Vec::new();
        }
        let again = match self.start(side) {
            Ok(()) => "it is started again".to_owned(),
            Err(error) => error.what,
        };
        vec![format!("the server has ended: {again}")]
    }

    /// A line that does something to the server's process, if it still is the server's.
    fn on_pid(side: &Side, what: &str) -> String {
        let path = quote(&format!("{}/nats.pid", side.folder()));
        format!("p=$(cat {path}) && grep -q nats-server /proc/$p/comm && {what} $p")
    }

    pub(super) fn end(&mut self, side: &Side) {
        match (self.child.take(), side) {
            (Some(mut child), _) => end(&mut child, Duration::from_secs(10)),
            // One that has ended by itself needs no ending.
            (None, _) => drop(side.shell(&Self::on_pid(side, "kill"))),
        }
    }
}
