//! Signals from outside: whoever stops, continues or kills processes of the bench changes no
//! verdict.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use hotloop_bench::LocalBench;
use hotloop_bench::torch::{Answer, Planner};
use hotloop_flow::{Bench, BenchError, Judgement, Label};

use crate::fixtures::{drain, job};
use crate::{alone, settings, turn};

/// Right, and long enough in every call for someone to come in between.
const SLOW: &str = "
#include <time.h>
void transpose(double *in, double *out, int M, int N) {
    nanosleep(&(struct timespec){0, 200000000}, 0);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) out[(long)j * M + i] = in[(long)i * N + j];
}
";

/// Whether the process was still there.
fn signal(name: &str, process: &str) -> bool {
    let sent = Command::new("kill")
        .args(["-s", name, "--", process])
        .stderr(Stdio::null())
        .status()
        .unwrap();
    sent.success()
}

/// State and parent of a process, while it is there.
fn state_and_parent(pid: &str) -> Option<(String, String)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat
        .rsplit_once(')')?
        .1
        .split_whitespace()
        .map(str::to_owned);
    Some((fields.next()?, fields.next()?))
}

/// Whether a process that was told to stop did so, or had ended before.
fn stopped_or_ended(pid: &str) -> Option<bool> {
    match state_and_parent(pid)?.0.as_str() {
        "T" => Some(true),
        "Z" => Some(false),
        _ => None,
    }
}

fn is_in_state(pid: &str, wanted: &str) -> bool {
    state_and_parent(pid).is_some_and(|(state, _)| state == wanted)
}

/// A candidate in the middle of a call, and its supervisor, which is a child of ours.
fn running() -> Option<(String, String)> {
    let own = std::process::id().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .find_map(|pid| {
            let (state, supervisor) = state_and_parent(&pid)?;
            let is_runner = std::fs::read_to_string(format!("/proc/{pid}/cmdline"))
                .ok()?
                .contains("__runner");
            let (_, bench) = state_and_parent(&supervisor)?;
            (is_runner && state == "S" && bench == own).then_some((pid, supervisor))
        })
}

fn wait_for<T>(mut what: impl FnMut() -> Option<T>) -> T {
    let found = (0..12_000).find_map(|_| {
        std::thread::sleep(Duration::from_millis(5));
        what()
    });
    found.expect("within a minute")
}

/// Judges the slow candidate while `meddle` meets it in the middle of a call, so many times.
///
/// A busy machine may let a process end between being found and being met. `meddle` then says so,
/// and the next one is looked for.
fn judged(times: usize, meddle: impl Fn(&str, &str) -> bool) -> Result<Judgement, BenchError> {
    let mut bench = LocalBench::start(settings()).unwrap();
    bench.submit(vec![job(0, "transpose", SLOW)]).unwrap();
    let mut met = 0;
    while met < times {
        let (candidate, supervisor) = wait_for(running);
        met += usize::from(meddle(&candidate, &supervisor));
    }
    drain(&mut bench).remove(0).judged
}

#[test]
fn a_suspended_bench_judges_again_what_it_was_judging() {
    let _alone = alone();
    let verdict = judged(2, |candidate, supervisor| {
        // A stopped supervisor leaves an ended candidate as a zombie, which can be signalled.
        if !signal("STOP", supervisor) {
            return false;
        }
        wait_for(|| is_in_state(supervisor, "T").then_some(()));
        let is_met = signal("STOP", candidate) && wait_for(|| stopped_or_ended(candidate));
        // The supervisor goes on first, and finds a candidate that is frozen, as if it were done.
        signal("CONT", supervisor);
        wait_for(|| state_and_parent(candidate).is_none().then_some(()));
        is_met
    });
    let verdict = verdict.unwrap().verdict;
    assert_eq!(verdict.label(), Label::Correct, "{}", verdict.detail());
}

/// As a scheduler does with every process of a job.
#[test]
fn processes_of_the_bench_that_are_asked_to_end_go_on() {
    let _alone = alone();
    for name in ["TERM", "INT", "HUP", "USR1"] {
        let verdict = judged(2, |candidate, supervisor| {
            signal(name, candidate) && signal(name, supervisor)
        });
        let verdict = verdict.unwrap().verdict;
        assert_eq!(verdict.label(), Label::Correct, "{}", verdict.detail());
    }
}

/// A compiler and those between it and us.
fn compiling() -> Option<Vec<String>> {
    let own = std::process::id().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().into_string().ok());
    pids.filter(|pid| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "cc1\n")
    })
    .find_map(|pid| {
        let mut line = vec![pid];
        while line.len() < 5 {
            let (_, parent) = state_and_parent(line.last()?)?;
            if parent == own {
                return Some(line);
            }
            line.push(parent);
        }
        None
    })
}

#[test]
fn a_compiler_that_is_asked_to_end_goes_on() {
    let _alone = alone();
    let mut bench = LocalBench::start(settings()).unwrap();
    // Enough to compile for someone to come in between.
    let functions: Vec<String> = (0..300)
        .map(|n| format!("double f{n}(double x) {{ for (int i = 0; i < 9; i++) x = x * x + {n}; return x; }}\n"))
        .collect();
    // A source that was compiled before would come from the cache.
    let random = std::collections::hash_map::RandomState::new();
    let number = std::hash::BuildHasher::hash_one(&random, 0);
    let source = format!("// {number}\n{}{SLOW}", functions.concat());
    bench.submit(vec![job(0, "transpose", &source)]).unwrap();
    let asked = Command::new("kill")
        .args(["-s", "TERM", "--"])
        .args(wait_for(compiling))
        .status();
    assert!(asked.unwrap().success());
    let verdict = drain(&mut bench).remove(0).judged.unwrap().verdict;
    assert_eq!(verdict.label(), Label::Correct, "{}", verdict.detail());
}

#[test]
fn a_candidate_that_is_killed_from_outside_has_no_verdict() {
    let _alone = alone();
    let error = judged(1, |candidate, _| signal("KILL", candidate)).unwrap_err();
    assert!(error.what.contains("killed from outside"), "{error}");
}

/// Whether the process has computed for half a second, which no start of an interpreter takes.
fn has_computed(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().nth(11);
    ticks.is_some_and(|ticks| ticks.parse::<u64>().is_ok_and(|ticks| ticks >= 50))
}

/// An interpreter in the middle of an answer's Python, which is a child of ours.
fn interpreting() -> Option<String> {
    let own = std::process::id().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .find(|pid| {
            let command = std::fs::read_to_string(format!("/proc/{pid}/cmdline"));
            command.is_ok_and(|command| command.contains("play.py"))
                && state_and_parent(pid).is_some_and(|(_, parent)| parent == own)
                && has_computed(pid)
        })
}

#[test]
fn an_interpreter_that_is_killed_from_outside_gives_no_verdict() {
    let _alone = alone();
    let planner = Planner::open(&settings()).unwrap();
    let problem = "
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x + x
def get_inputs():
    return [torch.rand(8)]
def get_init_inputs():
    return []
";
    let facts = planner.problem(problem).unwrap().unwrap();
    let endless = "
import torch
while True:
    pass
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x
";
    let outcome = std::thread::scope(|scope| {
        let thread = scope.spawn(|| planner.plan(problem, &facts, Answer::Python(endless)));
        while !thread.is_finished() {
            if let Some(interpreter) = interpreting() {
                signal("KILL", &interpreter);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        thread.join().unwrap()
    });
    let error = outcome.map(|_| ()).unwrap_err();
    assert!(error.what.contains("killed from outside"), "{error}");
}

/// As a shell does on Ctrl-Z and `fg`.
#[test]
fn a_program_that_is_stopped_for_a_while_judges_the_same() {
    let _turn = turn();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["every_honest_candidate_is_correct", "--nocapture"])
        .env("HOTLOOP_FIXTURE", "matmul-ijk")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let group = format!("-{}", child.id());
    for pause in [60, 20].into_iter().cycle().take(100) {
        let name = if pause == 20 { "CONT" } else { "TSTP" };
        std::thread::sleep(Duration::from_millis(pause));
        if child.try_wait().unwrap().is_some() {
            break;
        }
        assert!(signal(name, &group), "{name} to {group}");
    }
    let output = child.wait_with_output().unwrap();
    let (said, complaint) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}\n{complaint}"
    );
}
