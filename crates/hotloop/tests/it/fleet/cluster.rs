//! A real Slurm with two virtual nodes and a real sshd, both on loopback. Both stop when their
//! value is dropped.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub(super) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

/// Reports what a test skips. It bypasses the harness, which hides the output of passing tests.
pub(super) fn left_out(why: &str) {
    std::io::stderr()
        .write_all(format!("left out: {why}\n").as_bytes())
        .unwrap();
}

/// Whether a program is missing. If so, it reports the skipped test.
fn is_missing(program: &str) -> bool {
    let folders = ["/usr/sbin", "/usr/bin", "/usr/local/bin"];
    let missing = !folders
        .iter()
        .any(|folder| Path::new(folder).join(program).exists());
    if missing {
        left_out(&format!("{program} is not installed"));
    }
    missing
}

fn is_root() -> bool {
    let is_root =
        std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0;
    if !is_root {
        left_out("only root starts sshd and slurmd here");
    }
    is_root
}

fn start(command: &mut Command, log: &Path) -> Child {
    let out = std::fs::File::create(log).unwrap();
    command
        .stdin(Stdio::null())
        .stdout(out.try_clone().unwrap())
        .stderr(out)
        .spawn()
        .unwrap()
}

fn wait_until(what: &str, folder: &Path, holds: impl Fn() -> bool) {
    let begin = Instant::now();
    while !holds() {
        let logs = || {
            Command::new("sh")
                .arg("-c")
                .arg(format!("tail -n 5 {}/*.log", folder.display()))
                .output()
        };
        assert!(
            begin.elapsed() < Duration::from_mins(1),
            "{what}: {}",
            String::from_utf8_lossy(&logs().unwrap().stdout)
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Processes that end when this value is dropped, the last one first.
struct Processes(Vec<Child>);

impl Drop for Processes {
    fn drop(&mut self) {
        for child in self.0.iter_mut().rev() {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// An ssh server for this user only, with its own keys.
pub(super) struct Sshd {
    _processes: Processes,
    pub(super) folder: TempDir,
}

impl Sshd {
    /// Starts the server. Every login gets these environment variables.
    pub(super) fn start(environment: &[(&str, &str)]) -> Option<Self> {
        if is_missing("sshd") || is_missing("ssh") || is_missing("ssh-keygen") || !is_root() {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().display();
        for key in ["host", "id"] {
            let path = folder.path().join(key);
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(path)
                .status();
            assert!(made.unwrap().success());
        }
        let port = free_port();
        let pairs: Vec<String> = environment
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let set = if pairs.is_empty() {
            String::new()
        } else {
            format!("SetEnv {}\n", pairs.join(" "))
        };
        let server = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {at}/host\nPidFile {at}/pid\nAuthorizedKeysFile {at}/id.pub\n\
             StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n{set}"
        );
        std::fs::write(folder.path().join("sshd.conf"), server).unwrap();
        let host = std::fs::read_to_string(folder.path().join("host.pub")).unwrap();
        std::fs::write(
            folder.path().join("known"),
            format!("[127.0.0.1]:{port} {host}"),
        )
        .unwrap();
        let client = format!(
            "Host bench\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {at}/id\n  IdentitiesOnly yes\n  \
             UserKnownHostsFile {at}/known\n  StrictHostKeyChecking yes\n"
        );
        std::fs::write(folder.path().join("ssh.conf"), client).unwrap();
        // sshd's privilege separation directory, which the system's own start would create.
        drop(std::fs::create_dir("/run/sshd"));
        let mut command = Command::new("/usr/sbin/sshd");
        command
            .args(["-D", "-e", "-f"])
            .arg(folder.path().join("sshd.conf"));
        let child = start(&mut command, &folder.path().join("sshd.log"));
        let processes = Processes(vec![child]);
        wait_until("sshd listens", folder.path(), || {
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        Some(Self {
            _processes: processes,
            folder,
        })
    }

    /// Makes `program` run every command of a login. It finds the command in
    /// `SSH_ORIGINAL_COMMAND`.
    pub(super) fn force(&self, program: &Path) {
        let path = self.folder.path().join("id.pub");
        let key = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, format!("command=\"{}\" {key}", program.display())).unwrap();
    }

    /// The file for `ssh -F`. The host's name in it is bench.
    pub(super) fn config(&self) -> PathBuf {
        self.folder.path().join("ssh.conf")
    }
}

/// A Slurm with two virtual nodes that share this machine's cores.
pub(super) struct Slurm {
    processes: Processes,
    folder: TempDir,
}

impl Slurm {
    pub(super) fn start() -> Option<Self> {
        if ["slurmctld", "slurmd", "sbatch", "munged"]
            .into_iter()
            .any(is_missing)
            || !is_root()
        {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().display();
        let key: Vec<u8> = (0..1024)
            .map(|_| std::collections::hash_map::RandomState::new())
            .map(|state| std::hash::BuildHasher::hash_one(&state, 0) as u8)
            .collect();
        std::fs::write(folder.path().join("munge.key"), key).unwrap();
        std::fs::set_permissions(
            folder.path().join("munge.key"),
            std::os::unix::fs::PermissionsExt::from_mode(0o400),
        )
        .unwrap();
        for name in ["state", "spool"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let host = host.trim().split('.').next().unwrap().to_owned();
        let cores = std::thread::available_parallelism().unwrap();
        let [controller, first, second] = [free_port(), free_port(), free_port()];
        let node = |name: &str, port: u16| {
            format!(
                "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cores} RealMemory=1000\n"
            )
        };
        let conf = format!(
            "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={controller}\nSlurmUser=root\nSlurmdUser=root\n\
             AuthType=auth/munge\nAuthInfo=socket={at}/munge.sock\n\
             CommunicationParameters=NoCtldInAddrAny,NoInAddrAny\nStateSaveLocation={at}/state\n\
             SlurmdSpoolDir={at}/spool/%n\nSlurmctldPidFile={at}/slurmctld.pid\nSlurmdPidFile={at}/slurmd-%n.pid\n\
             SlurmctldLogFile={at}/slurmctld.log\nSlurmdLogFile={at}/slurmd-%n.log\nMpiDefault=none\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\n\
             SelectTypeParameters=CR_Core\nSlurmdParameters=config_overrides\nReturnToService=2\nSwitchType=switch/none\n\
             KillWait=5\nAccountingStorageType=accounting_storage/none\nJobAcctGatherType=jobacct_gather/none\n\
             PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n{}{}\
             PartitionName=bench Nodes=one,two Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=CANCEL\n\
             PartitionName=again Nodes=one,two MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE\n\
             PartitionName=first Nodes=one,two MaxTime=INFINITE State=UP PriorityTier=9 PreemptMode=OFF\n",
            node("one", first),
            node("two", second),
        );
        std::fs::write(folder.path().join("slurm.conf"), conf).unwrap();
        let mut slurm = Self {
            processes: Processes(Vec::new()),
            folder,
        };
        slurm.run();
        Some(slurm)
    }

    fn run(&mut self) {
        let at = self.folder.path().to_owned();
        let mut munged = Command::new("/usr/sbin/munged");
        munged.args(["--foreground", "--force"]);
        for (option, name) in [
            ("socket", "sock"),
            ("key-file", "key"),
            ("pid-file", "pid"),
            ("seed-file", "seed"),
        ] {
            munged.arg(format!("--{option}={}/munge.{name}", at.display()));
        }
        munged.arg(format!("--log-file={}/munged.log", at.display()));
        self.processes
            .0
            .push(start(&mut munged, &at.join("munge-out.log")));
        wait_until("munged listens", &at, || at.join("munge.sock").exists());
        let conf = self.conf();
        let daemon = |program: &str, name: &str| {
            let mut command = Command::new(program);
            command.arg("-D").env("SLURM_CONF", &conf);
            if !name.is_empty() {
                command.args(["-N", name]);
            }
            start(&mut command, &at.join(format!("out{name}.log")))
        };
        self.processes.0.push(daemon("/usr/sbin/slurmctld", ""));
        self.processes.0.push(daemon("/usr/sbin/slurmd", "one"));
        self.processes.0.push(daemon("/usr/sbin/slurmd", "two"));
        wait_until("both nodes are idle", &at, || {
            let said = self.ask(
                "sinfo",
                &["--noheader", "--Node", "--partition=bench", "--format=%t"],
            );
            said.split_whitespace()
                .filter(|state| *state == "idle")
                .count()
                == 2
        });
    }

    pub(super) fn conf(&self) -> PathBuf {
        self.folder.path().join("slurm.conf")
    }

    pub(super) fn ask(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program)
            .args(arguments)
            .env("SLURM_CONF", self.conf())
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    pub(super) fn cancel(&self, job: &str) {
        self.ask("scancel", &[job]);
    }

    /// Submits a short job that needs both nodes and comes before all others.
    pub(super) fn preempt(&self) {
        let said = self.ask(
            "sbatch",
            &[
                "--partition=first",
                "--nodes=2",
                "--exclusive",
                "--output=/dev/null",
                "--wrap=sleep 1",
            ],
        );
        assert!(!said.is_empty(), "the job was taken");
    }

    /// Suspends a job, which keeps its place.
    pub(super) fn suspend(&self, job: &str) {
        self.ask("scontrol", &["suspend", job]);
    }

    pub(super) fn resume(&self, job: &str) {
        self.ask("scontrol", &["resume", job]);
    }

    /// The jobs that wait or run.
    pub(super) fn jobs(&self) -> String {
        self.ask("squeue", &["--noheader", "--states=PENDING,RUNNING"])
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        // Its jobs would outlive the controller.
        self.ask("scancel", &["--user=root"]);
        let begin = Instant::now();
        while !self.ask("squeue", &["--noheader"]).is_empty()
            && begin.elapsed() < Duration::from_secs(20)
        {
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}
