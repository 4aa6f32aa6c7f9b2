//! Fleets of the real program: local processes, hosts behind ssh, jobs of a real Slurm.

mod cluster; // Slurm and sshd
mod keeping; // what ends is started again, and nothing else is
mod leaving; // a scheduler ends workers in the middle of a judgement
mod services; // services that share a fleet

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{ended, hotloop, turn};
use cluster::{Slurm, Sshd, free_port, left_out};

/// A timeout longer than anything here takes on a busy machine.
const LONG: Duration = Duration::from_mins(4);

/// A fleet that stops when this value is dropped.
struct Fleet {
    folder: tempfile::TempDir,
    /// Variables that its keeper has, besides ours.
    environment: Vec<(String, String)>,
}

impl Fleet {
    /// Writes a fleet.toml with the settings that tests need. Returns `None` and prints what is
    /// missing if the machine cannot run it.
    fn new(text: &str) -> Option<Self> {
        if hotloop_fleet::server::program(None).is_err() {
            left_out("nats-server is not installed");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("fleet.toml"), text).unwrap();
        Some(Self {
            folder,
            environment: Vec::new(),
        })
    }

    fn file(&self) -> String {
        self.folder
            .path()
            .join("fleet.toml")
            .to_str()
            .unwrap()
            .to_owned()
    }

    fn command(&self, command: &str, more: &[&str]) -> (i32, String, String) {
        let file = self.file();
        let arguments: Vec<&str> = ["fleet", command, &file]
            .into_iter()
            .chain(more.iter().copied())
            .collect();
        let output = hotloop(&arguments)
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (
            output.status.code().unwrap_or(-1),
            text(output.stdout),
            text(output.stderr),
        )
    }

    fn up(&self) {
        // A busy machine needs longer than a person likes to wait.
        let (status, out, error) = self.command("up", &["--wait", "200"]);
        assert_eq!(status, 0, "{out}{error}{}", self.log());
    }

    fn status(&self) -> Value {
        let (_, out, error) = self.command("status", &["--json"]);
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{error}"))
    }

    fn down(&self) {
        let (status, out, error) = self.command("down", &[]);
        assert_eq!(status, 0, "{out}{error}");
    }

    fn log(&self) -> String {
        let read = |path: PathBuf| std::fs::read_to_string(path).unwrap_or_default();
        let state = self.folder.path().join("test.fleet");
        read(state.join("keeper.log")) + &read(state.join("workers.log"))
    }

    fn wait_until(&self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let begin = Instant::now();
        loop {
            let status = self.status();
            if holds(&status) {
                return status;
            }
            assert!(
                begin.elapsed() < LONG,
                "not within {LONG:?}: {what}: {status}\n{}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(300));
        }
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        drop(self.command("down", &[]));
    }
}

fn ready(status: &Value) -> usize {
    status["workers"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|worker| worker["state"] == "ready")
        .count()
}

/// Workers that wait instead of judging.
const REHEARSE: &str = "arguments = [\"--rehearse\"]";

fn local(port: u16, count: u32, more: &str) -> String {
    format!(
        "name = \"test\"\n[server]\nlisten = \"127.0.0.1:{port}\"\n\
         [worker]\ncalm = 0.0\nshare-cores = true\nlease = 3.0\n{more}\n[[nodes]]\nkind = \"local\"\ncount = {count}\n"
    )
}

#[test]
fn a_local_fleet_judges_and_what_is_killed_is_replaced() {
    let Some(fleet) = Fleet::new(&local(free_port(), 1, "")) else {
        return;
    };
    let _turn = turn();
    fleet.up();
    let (status, out, error) = fleet.command("up", &[]);
    assert!(
        status == 1 && error.contains("up already") && error.contains("hint:"),
        "{out}{error}"
    );
    let folder = tempfile::tempdir().unwrap();
    let wrong = folder.path().join("wrong.c");
    std::fs::write(
        &wrong,
        "void transpose(double *in, double *out, int M, int N) { out[0] = 1; }",
    )
    .unwrap();
    let judged = judge(&[
        "transpose",
        "--fleet",
        &fleet.file(),
        "--json",
        wrong.to_str().unwrap(),
    ]);
    assert_eq!(judged[0]["verdict"], "wrong");
    let judged = judge(&["transpose", "--fleet", &fleet.file(), "--json"]);
    assert_eq!(judged[0]["verdict"], "correct");
    assert!(
        judged[0]["gflops"].as_f64().unwrap() > 0.0 && judged[0]["machine"]["compiler"] != "none"
    );
    // A killed worker is replaced.
    let status = fleet.wait_until("the worker is heard", |status| ready(status) == 1);
    let pid = status["workers"][0]["pid"].as_u64().unwrap();
    let supervisors = children(pid);
    assert!(
        !supervisors.is_empty(),
        "it has judged, so it has supervisors"
    );
    assert!(
        Command::new("kill")
            .args(["-9", &pid.to_string()])
            .status()
            .unwrap()
            .success()
    );
    let begin = Instant::now();
    while supervisors.iter().any(|child| is_running(child)) {
        assert!(
            begin.elapsed() < LONG,
            "what it ran outlives it: {supervisors:?}"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    fleet.wait_until("another has its place", |status| {
        status["keeper"]["replaced"] == 1
            && status["workers"]
                .as_array()
                .unwrap()
                .iter()
                .any(|worker| worker["pid"].as_u64() != Some(pid))
    });
    let judged = judge(&["transpose", "--fleet", &fleet.file(), "--json"]);
    assert_eq!(judged[0]["verdict"], "correct");
    let (status, out, error) = fleet.command("status", &[]);
    assert!(
        status == 0 && out.contains("test: ") && out.contains("slots") && out.contains("calm"),
        "{out}{error}"
    );
    fleet.down();
    let (status, out, _) = fleet.command("status", &[]);
    assert!(status == 3 && out.contains("not up"), "{out}");
    let (_, said, _) = fleet.command("down", &[]);
    assert!(said.contains("was not up"), "{said}");
}

/// The processes that a process has started. A process that has ended has none.
fn children(pid: u64) -> Vec<String> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task"));
    let of = |task: std::fs::DirEntry| {
        std::fs::read_to_string(task.path().join("children")).unwrap_or_default()
    };
    tasks
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .map(of)
        .collect::<String>()
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

fn is_running(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status
        .rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// The lines of `hotloop judge --json`. The caller must hold the turn.
fn judge(arguments: &[&str]) -> Vec<Value> {
    let arguments: Vec<&str> = ["judge"]
        .into_iter()
        .chain(arguments.iter().copied())
        .collect();
    let output = hotloop(&arguments).stdin(Stdio::null()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}

#[test]
fn a_worker_finishes_what_it_has_when_a_signal_comes() {
    let Some(fleet) = Fleet::new(&local(free_port(), 1, REHEARSE)) else {
        return;
    };
    fleet.up();
    let access = fleet.folder.path().join("test.fleet/worker.toml");
    let mut second = hotloop(&[
        "worker",
        "--rehearse",
        "--share-cores",
        "--access",
        access.to_str().unwrap(),
    ])
    .stderr(Stdio::null())
    .spawn()
    .unwrap();
    let pid = u64::from(second.id());
    let is_second = |worker: &&Value| worker["pid"].as_u64() == Some(pid);
    fleet.wait_until("it is heard", |status| {
        status["workers"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| is_second(&one))
    });
    assert!(
        Command::new("kill")
            .args(["-TERM", &pid.to_string()])
            .status()
            .unwrap()
            .success()
    );
    assert!(second.wait().unwrap().success(), "it left in peace");
    let status = fleet.status();
    assert!(
        !status["workers"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| is_second(&one)),
        "and took leave: {status}"
    );
}

#[test]
fn hosts_behind_ssh_are_forwarded_the_server_and_end_with_the_fleet() {
    let Some(sshd) = Sshd::start(&[]) else { return };
    let text = format!(
        "name = \"test\"\n[server]\nlisten = \"127.0.0.1:{}\"\n[worker]\ncalm = 0.0\nshare-cores = true\n\
         arguments = [\"--rehearse\"]\n[[nodes]]\nkind = \"ssh\"\nhosts = [\"bench\"]\nport = {}\n\
         ssh-config = \"{}\"\nfolder = \"{}\"\nhotloop = \"{}\"\n",
        free_port(),
        free_port(),
        sshd.config().display(),
        sshd.folder.path().join("there").display(),
        env!("CARGO_BIN_EXE_hotloop"),
    );
    let Some(fleet) = Fleet::new(&text) else {
        return;
    };
    fleet.up();
    let judged = judge(&["transpose", "--fleet", &fleet.file(), "--json"]);
    assert_eq!(
        judged[0]["machine"]["compiler"], "none",
        "the rehearsal answered: {}",
        judged[0]
    );
    let pid = fleet.status()["workers"][0]["pid"].as_u64().unwrap();
    let there = sshd.folder.path().join("there/test");
    assert!(there.join("worker.toml").exists() && there.join("ca.pem").exists());
    fleet.down();
    assert!(!there.exists(), "token and certificate are gone");
    let begin = Instant::now();
    while Path::new(&format!("/proc/{pid}")).exists() {
        assert!(begin.elapsed() < LONG, "the worker outlives its fleet");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A fleet.toml for another site with Slurm jobs, reached through ssh.
fn site(sshd: &Sshd, time: &str, count: u32, more: &str) -> String {
    format!(
        "name = \"test\"\n[server]\nlisten = \"127.0.0.1:{}\"\n\
         [site]\nssh = \"bench\"\nssh-config = \"{}\"\nport = {}\nfolder = \"{}\"\nhotloop = \"{}\"\n\
         [worker]\ncalm = 0.0\nshare-cores = true\nlease = 3.0\ngrace = 4.0\n{more}\n\
         [[nodes]]\nkind = \"slurm\"\ncount = {count}\npartition = \"bench\"\ntime = \"{time}\"\nwarning = 0\n",
        free_port(),
        sshd.config().display(),
        free_port(),
        sshd.folder.path().join("there").display(),
        env!("CARGO_BIN_EXE_hotloop"),
    )
}

#[test]
fn a_run_is_judged_by_jobs_of_slurm_through_a_tunnel_and_survives_the_end_of_a_job_and_of_the_tunnel()
 {
    let Some(slurm) = Slurm::start() else { return };
    let Some(sshd) = Sshd::start(&[("SLURM_CONF", slurm.conf().to_str().unwrap())]) else {
        return;
    };
    let Some(fleet) = Fleet::new(&site(&sshd, "00:30:00", 2, "")) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("nano.toml");
    let text = format!(
        "model = \"nano\"\nfleet = {:?}\ndirectory = {:?}\n[budget]\nsteps = 5\n[sampling]\ngroup = 4\nprompts-per-step = 2\n\
         [bench]\ntiming = \"paper\"\n[loop]\nprobe = 0\n",
        fleet.file(),
        folder.path().join("run"),
    );
    std::fs::write(&file, text).unwrap();
    let _turn = turn();
    fleet.up();
    fleet.wait_until("both nodes work", |status| ready(status) == 2);
    let arguments = ["train", file.to_str().unwrap()];
    let mut run = Run(hotloop(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap());
    let events = folder.path().join("run/events.jsonl");
    let count = |word: &str| {
        std::fs::read_to_string(&events)
            .unwrap_or_default()
            .matches(word)
            .count()
    };
    let mut steps = |wanted: usize| {
        let begin = Instant::now();
        while count("\"step_finished\"") < wanted {
            assert!(begin.elapsed() < LONG, "no step {wanted}: {}", fleet.log());
            assert!(
                run.0.try_wait().unwrap().is_none(),
                "it ended: {:?}",
                run.output()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    steps(1);
    let job = fleet.status()["keeper"]["nodes"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    slurm.cancel(&job);
    steps(2);
    let tunnel = tunnel(&sshd).expect("there is a tunnel to cut");
    assert!(
        Command::new("kill")
            .args(["-9", &tunnel])
            .status()
            .unwrap()
            .success()
    );
    let (status, out, error) = run.output();
    assert_eq!(status, 0, "{out}{error}{}", fleet.log());
    assert!(out.contains("done: all 5 steps"), "{out}{error}");
    assert!(
        !error.contains("masked"),
        "no candidate paid for it: {error}"
    );
    let status = fleet.wait_until("the job was replaced", |status| {
        status["keeper"]["replaced"].as_u64() >= Some(1)
    });
    assert_eq!(status["keeper"]["tunnel"], true);
    assert!(
        fleet.log().contains("the tunnel stands again"),
        "{}",
        fleet.log()
    );
    fleet.down();
    assert_eq!(slurm.jobs(), "", "no job is left");
}

/// The process of the shared connection, identified by its configuration file.
fn tunnel(sshd: &Sshd) -> Option<String> {
    let config = sshd.config().display().to_string();
    let is_it = |pid: &String| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        words.first() == Some(&&b"ssh"[..])
            && words.contains(&config.as_bytes())
            && words.contains(&&b"-M"[..])
    };
    let names = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .find(is_it)
}

/// A run that ends with its test.
struct Run(Child);

impl Run {
    fn output(&mut self) -> (i32, String, String) {
        let read = |stream: Option<&mut dyn std::io::Read>| {
            let mut text = String::new();
            if let Some(stream) = stream {
                stream.read_to_string(&mut text).unwrap();
            }
            text
        };
        let out = read(
            self.0
                .stdout
                .as_mut()
                .map(|stream| stream as &mut dyn std::io::Read),
        );
        let error = read(
            self.0
                .stderr
                .as_mut()
                .map(|stream| stream as &mut dyn std::io::Read),
        );
        (self.0.wait().unwrap().code().unwrap_or(-1), out, error)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn a_job_that_slurm_ends_by_its_limit_loses_nothing() {
    use hotloop_flow::Bench;
    let Some(slurm) = Slurm::start() else { return };
    let Some(sshd) = Sshd::start(&[("SLURM_CONF", slurm.conf().to_str().unwrap())]) else {
        return;
    };
    let Some(fleet) = Fleet::new(&site(&sshd, "1", 1, REHEARSE)) else {
        return;
    };
    fleet.up();
    let config = hotloop_fleet::Config::read(Path::new(&fleet.file())).unwrap();
    let mut bench = hotloop_fleet::FleetBench::open(hotloop_fleet::Opening {
        access: hotloop_fleet::keeper::access(&config).unwrap(),
        settings: hotloop_bench::Settings::new(env!("CARGO_BIN_EXE_hotloop").into()),
        scope: "limit".into(),
        class: None,
        spread: true,
        patience: LONG,
        log: std::sync::Arc::new(|_, _| {}),
    })
    .unwrap();
    let task = std::sync::Arc::new(hotloop_bench::tasks::load("transpose").unwrap());
    let job = |id: u64| {
        let source = format!("// rehearse: 3 \n// {id}\n{}", task.seed);
        let candidate = hotloop_flow::Candidate::from_source(source.as_bytes(), &task).unwrap();
        hotloop_flow::Job {
            id: hotloop_flow::JobId(id),
            task: task.clone(),
            candidate,
            stage: None,
        }
    };
    // More work than a job of one minute can do.
    bench.submit((0..36).map(job).collect()).unwrap();
    let mut came: Vec<u64> = Vec::new();
    let begin = Instant::now();
    while came.len() < 36 {
        assert!(
            begin.elapsed() < LONG * 2,
            "{came:?}: {}{}",
            fleet.log(),
            slurm.jobs()
        );
        if let Some(reply) = bench.next(Duration::from_secs(1)).unwrap() {
            assert!(reply.judged.is_ok(), "{reply:?}");
            came.push(reply.id.0);
        }
    }
    came.sort_unstable();
    assert_eq!(came, (0..36).collect::<Vec<u64>>(), "each once");
    assert!(
        fleet.status()["keeper"]["replaced"].as_u64() >= Some(1),
        "Slurm ended one: {}",
        fleet.log()
    );
}

#[test]
fn mistakes_of_a_fleet_are_named_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fleet.toml");
    let path = file.to_str().unwrap();
    let fails = |arguments: &[&str], words: &[&str]| {
        let (status, out, error) = ended(&mut hotloop(arguments));
        assert_eq!(status, 1, "{arguments:?}: {out}{error}");
        for word in words {
            assert!(
                error.contains(word),
                "{arguments:?} does not say `{word}`: {error}"
            );
        }
    };
    fails(
        &["fleet", "up", path],
        &["fleet.toml", "hint:", "fleet example"],
    );
    std::fs::write(&file, "colour = 1").unwrap();
    fails(&["fleet", "up", path], &["fleet.toml", "colour", "hint:"]);
    std::fs::write(&file, "name = \"none\"").unwrap();
    fails(&["fleet", "up", path], &["[[nodes]]", "hint:"]);
    fails(
        &["judge", "transpose", "--fleet", path],
        &["`none` is not up", "hint:", "fleet up"],
    );
    fails(
        &["judge", "transpose", "--fleet", path, "--slots", "2"],
        &["--slots"],
    );
    fails(&["worker", "--access", path], &["fleet.toml", "hint:"]);
    let (status, example, _) = ended(&mut hotloop(&["fleet", "example"]));
    assert!(status == 0 && example.contains("[[nodes]]"));
}

#[test]
fn who_waits_for_a_fleet_is_told_without_a_terminal_too() {
    use std::io::BufRead;
    let server = format!("nats://127.0.0.1:{}", free_port());
    let waiting = hotloop(&["judge", "transpose", "--json", "--fleet", &server])
        .stderr(Stdio::piped())
        .spawn();
    let mut waiting = Run(waiting.unwrap());
    let mut said = String::new();
    std::io::BufReader::new(waiting.0.stderr.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    assert!(
        waiting.0.try_wait().unwrap().is_none(),
        "it still waits: {said}"
    );
    assert!(
        said.starts_with("fleet: waiting: ") && said.contains("no server answers"),
        "{said}"
    );
    assert!(said.contains("`hotloop fleet status`"), "{said}");
}
