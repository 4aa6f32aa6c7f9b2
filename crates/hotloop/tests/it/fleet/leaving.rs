//! A scheduler asks every process of a job to end: the verdict comes all the same, once.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::cluster::{Slurm, free_port};
use super::{Fleet, LONG, Run, children, local, ready};
use crate::{hotloop, turn};

/// Correct programs, each of which is judged for some seconds.
fn slow(folder: &Path, count: usize) -> Vec<String> {
    (0..count)
        .map(|index| {
            let path = folder.join(format!("{index}.c"));
            let source = format!(
                "// {index}\nvoid transpose(double *in, double *out, int M, int N) {{\n\
                 for (volatile long i = 0; i < 30000000; i++);\n\
                 for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) out[(long)j * M + i] = in[(long)i * N + j];\n}}\n"
            );
            std::fs::write(&path, source).unwrap();
            path.to_str().unwrap().to_owned()
        })
        .collect()
}

/// `hotloop judge` of `files` by a fleet.
fn judging(fleet: &Fleet, files: &[String]) -> Run {
    let file = fleet.file();
    let arguments = [
        "judge",
        "transpose",
        "--json",
        "--paper",
        "--fresh",
        "--fleet",
        &file,
    ];
    Run(hotloop(&arguments)
        .args(files)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap())
}

/// Every file has one verdict, and it is `correct`.
fn assert_each_is_correct_once(mut run: Run, files: &[String], fleet: &Fleet) {
    let (status, out, error) = run.output();
    assert_eq!(status, 0, "{out}{error}{}", fleet.log());
    let mut verdicts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in out.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let of = verdicts.entry(line["file"].to_string()).or_default();
        of.push(line["verdict"].to_string());
    }
    assert_eq!(verdicts.len(), files.len(), "{out}");
    assert!(
        verdicts.values().all(|of| *of == ["\"correct\""]),
        "{verdicts:?}{error}{}",
        fleet.log()
    );
}

/// A process and all that it started, directly or not.
fn tree(pid: u64) -> Vec<String> {
    let mut found = vec![pid.to_string()];
    let mut at = 0;
    while let Some(one) = found.get(at).and_then(|one| one.parse().ok()) {
        found.extend(children(one));
        at += 1;
    }
    found
}

/// Whether a candidate runs among these processes.
fn is_judging(processes: &[String]) -> bool {
    processes.iter().any(|pid| {
        std::fs::read_to_string(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| line.contains("__runner"))
    })
}

fn wait_for<T>(fleet: &Fleet, what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(begin.elapsed() < LONG, "{what}: {}", fleet.log());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_worker_whose_every_process_is_asked_to_end_delivers_its_verdict() {
    let Some(fleet) = Fleet::new(&local(free_port(), 1, "")) else {
        return;
    };
    let _turn = turn();
    fleet.up();
    let folder = tempfile::tempdir().unwrap();
    for signal in ["-TERM", "-USR1", "-HUP"] {
        let files = slow(folder.path(), 2);
        let run = judging(&fleet, &files);
        let status = fleet.wait_until("a worker is heard", |status| ready(status) == 1);
        let pid = status["workers"][0]["pid"].as_u64().unwrap();
        let processes = wait_for(&fleet, "a candidate runs", || {
            let processes = tree(pid);
            is_judging(&processes).then_some(processes)
        });
        let sent = Command::new("kill")
            .arg(signal)
            .args(&processes)
            .stderr(Stdio::null())
            .status();
        sent.unwrap(); // one of them may have ended meanwhile
        assert_each_is_correct_once(run, &files, &fleet);
    }
}

/// A fleet of Slurm's jobs on this machine: one may be cancelled by a job that comes first, and one
/// is queued again.
fn pilots(slurm: &Slurm) -> Option<Fleet> {
    let pool = |partition: &str, options: &str| {
        format!(
            "[[nodes]]\nkind = \"slurm\"\npartition = \"{partition}\"\ncount = 1\ntime = \"30\"\nwarning = 0\noptions = [{options}]\n"
        )
    };
    let conf = slurm.conf();
    let export = format!("\"--export=ALL,SLURM_CONF={}\"", conf.display());
    let requeued = format!("{export}, \"--requeue\"");
    Fleet::new(&format!(
        "name = \"test\"\n[server]\nlisten = \"127.0.0.1:{}\"\n\
         [worker]\ncalm = 0.0\nshare-cores = true\nlease = 3.0\ngrace = 4.0\n{}{}",
        free_port(),
        pool("bench", &export),
        pool("again", &requeued),
    ))
}

#[test]
fn slurm_cancels_signals_and_preempts_workers_and_every_verdict_comes_once() {
    let Some(slurm) = Slurm::start() else { return };
    let Some(mut fleet) = pilots(&slurm) else {
        return;
    };
    fleet.environment = vec![("SLURM_CONF".to_owned(), slurm.conf().display().to_string())];
    let _turn = turn();
    fleet.up();
    let folder = tempfile::tempdir().unwrap();
    let both = |status: &Value| ready(status) == 2;
    let ways: [&[&str]; 5] = [
        &["scancel"],
        &["scancel", "--full", "--signal=TERM"],
        &["scancel", "--full", "--signal=USR1"],
        &["scancel", "--batch", "--signal=TERM"],
        &[], // a job that comes first
    ];
    for way in ways {
        let status = fleet.wait_until("both workers are ready", both);
        let files = slow(folder.path(), 4);
        let run = judging(&fleet, &files);
        wait_for(&fleet, "a candidate runs", || {
            let workers = status["workers"].as_array().unwrap();
            let pids = workers.iter().filter_map(|one| one["pid"].as_u64());
            pids.map(tree).any(|tree| is_judging(&tree)).then_some(())
        });
        match way {
            [] => slurm.preempt(),
            [program, options @ ..] => {
                for node in status["keeper"]["nodes"].as_array().unwrap() {
                    let mut arguments = options.to_vec();
                    arguments.push(node["id"].as_str().unwrap());
                    slurm.ask(program, &arguments);
                }
            }
        }
        assert_each_is_correct_once(run, &files, &fleet);
    }
    fleet.down();
    assert_eq!(slurm.jobs(), "", "no job is left");
}
