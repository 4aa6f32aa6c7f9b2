//! Servers and workers, started and ended.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hotloop_bench::Settings;
use hotloop_fleet::server::{self, Spec};
use hotloop_fleet::{Access, FleetBench, Log, Opening};
use hotloop_flow::{Bench, Candidate, Job, JobId, Remedy, Reply};
use tempfile::TempDir;

/// A timeout longer than anything here takes on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(90);

/// A NATS server with token and TLS.
pub(crate) struct Server {
    pub(crate) folder: TempDir,
    pub(crate) port: u16,
    program: String,
    child: Option<Child>,
}

/// The program; prints what is skipped without it.
pub(crate) fn program() -> Option<String> {
    let named = std::env::var("HOTLOOP_TEST_NATS").ok();
    let found = server::program(named.as_deref());
    if found.is_err() {
        // Bypasses the harness, which hides the output of passing tests.
        std::io::stderr()
            .write_all(b"left out: nats-server is not installed\n")
            .unwrap();
    }
    found.ok()
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

impl Server {
    pub(crate) fn start() -> Option<Self> {
        Self::with_days(server::DAYS)
    }

    pub(crate) fn with_days(days: i64) -> Option<Self> {
        let program = program()?;
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let token = server::secret().unwrap();
        let spec = Spec {
            listen: format!("127.0.0.1:{port}"),
            hosts: Vec::new(),
            folder: folder.path().to_owned(),
            token: token.clone(),
            days,
        };
        server::write(folder.path(), &server::files(&spec).unwrap()).unwrap();
        server::fit(&program, folder.path()).unwrap();
        server::write_access(
            folder.path(),
            "access.toml",
            &format!("tls://127.0.0.1:{port}"),
            &token,
        )
        .unwrap();
        let mut server = Self {
            folder,
            port,
            program,
            child: None,
        };
        server.run();
        Some(server)
    }

    /// Starts the process, again if it was killed.
    pub(crate) fn run(&mut self) {
        self.child = Some(server::start(&self.program, self.folder.path()).unwrap());
        wait_until("the server listens", || {
            TcpStream::connect(("127.0.0.1", self.port)).is_ok()
        });
    }

    /// Ends the process as a crash would.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    pub(crate) fn access_file(&self) -> PathBuf {
        self.folder.path().join("access.toml")
    }

    pub(crate) fn access(&self) -> Access {
        Access::read(&self.access_file()).unwrap()
    }

    /// An access file for another port.
    pub(crate) fn access_through(&self, port: u16) -> PathBuf {
        let token = self.access().token;
        server::write_access(
            self.folder.path(),
            "through.toml",
            &format!("tls://127.0.0.1:{port}"),
            &token,
        )
        .unwrap();
        self.folder.path().join("through.toml")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A worker in a separate process.
pub(crate) struct Worker(Child);

impl Worker {
    pub(crate) fn start(access: &Path, kind: &str) -> Self {
        Self::with(access, kind, "3", "1")
    }

    /// A worker that loses no jobs when the machine stalls, for tests that count judgements.
    pub(crate) fn steady(access: &Path, kind: &str) -> Self {
        Self::with(access, kind, "60", "1")
    }

    pub(crate) fn with(access: &Path, kind: &str, lease: &str, slots: &str) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_fleet-worker"))
            .arg(access)
            .args([lease, kind, slots])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        Self(child)
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn signal(&self, signal: &str) {
        assert!(
            Command::new("kill")
                .args([signal, &self.0.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Tells it to finish and leave.
    pub(crate) fn stop(&mut self) {
        drop(self.0.stdin.take());
    }

    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Notices, kept.
#[derive(Clone, Default)]
pub(crate) struct Notices(Arc<Mutex<Vec<String>>>);

impl Notices {
    pub(crate) fn log(&self) -> Log {
        let kept = Arc::clone(&self.0);
        Arc::new(move |line: &str, remedies: &[Remedy]| {
            kept.lock().unwrap().push(format!("{line} {remedies:?}"));
        })
    }

    pub(crate) fn hold(&self, word: &str) -> bool {
        self.count(word) > 0
    }

    pub(crate) fn count(&self, word: &str) -> usize {
        self.0
            .lock()
            .unwrap()
            .iter()
            .filter(|line| line.contains(word))
            .count()
    }
}

pub(crate) fn settings() -> Settings {
    Settings::new(env!("CARGO_BIN_EXE_fleet-worker").into())
}

pub(crate) fn opening(access: Access, scope: &str) -> Opening {
    Opening {
        access,
        settings: settings(),
        scope: scope.to_owned(),
        class: None,
        spread: false,
        patience: LONG,
        log: Notices::default().log(),
    }
}

pub(crate) fn open(server: &Server, scope: &str) -> FleetBench {
    FleetBench::open(opening(server.access(), scope)).unwrap()
}

/// A candidate with a rehearsal comment. `number` makes it distinct.
pub(crate) fn job(id: u64, rehearse: &str, number: u64) -> Job {
    let task = Arc::new(hotloop_bench::tasks::load("transpose").unwrap());
    let source = format!("// rehearse: {rehearse} \n// {number}\n{}", task.seed);
    let candidate = Candidate::from_source(source.as_bytes(), &task).unwrap();
    Job {
        id: JobId(id),
        task,
        candidate,
        stage: None,
    }
}

/// `count` replies, one per job, sorted.
pub(crate) fn replies(bench: &mut dyn Bench, count: usize) -> Vec<Reply> {
    let mut came: Vec<Reply> = Vec::new();
    let begin = Instant::now();
    while came.len() < count {
        assert!(begin.elapsed() < LONG, "{} of {count} replies", came.len());
        came.extend(bench.next(Duration::from_millis(200)).unwrap());
    }
    came.sort_by_key(|reply| reply.id);
    assert!(
        came.windows(2).all(|two| two[0].id != two[1].id),
        "a reply came twice"
    );
    came
}

/// Asserts that ids 0 to `count` get verdicts and nothing follows.
pub(crate) fn all_judged(bench: &mut dyn Bench, count: usize) {
    let came = replies(bench, count);
    for (id, reply) in came.iter().enumerate() {
        assert_eq!(reply.id, JobId(id as u64));
        assert!(reply.judged.is_ok(), "{id}: {:?}", reply.judged);
    }
    assert!(
        bench.next(Duration::from_millis(300)).unwrap().is_none(),
        "nothing is told twice"
    );
}

pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < LONG, "not within {LONG:?}: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
