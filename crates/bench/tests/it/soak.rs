//! The long test: 500 hostile candidates in a row, then 100 honest ones, on the same benches.

use std::sync::Arc;
use std::time::Instant;

use hotloop_bench::{LocalBench, Settings};
use hotloop_flow::{Candidate, How, Job, JobId, Label};

use crate::fixtures::{self, Fixture};
use crate::leftovers::{held_by_supervisors, names, role_processes, shared_memory};
use crate::{alone, patient};

const HOSTILE: usize = 500;
const HONEST: usize = 100;
/// Candidates that are judged before the first look at what is held.
const WARM_UP: usize = 100;
/// Bytes by which the memory of this process and its supervisors may grow after that.
const GROWTH: u64 = 128 << 20;

#[expect(
    clippy::print_stdout,
    reason = "it takes minutes, and people wait for it"
)]
fn tell(judged: usize, of: usize) {
    println!("{judged} of {of}");
}

/// A bench for each way of judging, all of them alive from the first candidate to the last.
struct Benches {
    benches: Vec<(How, LocalBench)>,
}

impl Benches {
    fn start(fixtures: &[Fixture]) -> Self {
        let mut benches: Vec<(How, LocalBench)> = Vec::new();
        for fixture in fixtures {
            let how = fixture.how(patient().how);
            if benches.iter().all(|(known, _)| *known != how) {
                let bench = LocalBench::start(Settings { how, ..patient() });
                benches.push((how, bench.unwrap()));
            }
        }
        Self { benches }
    }

    /// The labels of all fixtures that hold a candidate at all, fifty at a time.
    fn judge(&mut self, fixtures: &[&Fixture]) -> Vec<(String, Label)> {
        let mut labels = Vec::new();
        for some in fixtures.chunks(50) {
            labels.extend(self.judge_some(some));
            tell(labels.len(), fixtures.len());
        }
        labels
    }

    fn judge_some(&mut self, fixtures: &[&Fixture]) -> Vec<(String, Label)> {
        let mut labels = Vec::new();
        for (how, bench) in &mut self.benches {
            let own = fixtures.iter().enumerate();
            let own = own.filter(|(_, fixture)| fixture.how(patient().how) == *how);
            let jobs = own.filter_map(|(index, fixture)| job(index, fixture));
            for (index, judgement) in fixtures::ask(bench, jobs.collect()) {
                let label = judgement.unwrap().verdict.label();
                labels.push((fixtures[index].name.clone(), label));
            }
        }
        labels
    }
}

fn job(index: usize, fixture: &Fixture) -> Option<Job> {
    let task = Arc::new(hotloop_bench::tasks::load(&fixture.task).unwrap());
    let candidate = Candidate::from_source(&fixture.source, &task).ok()?;
    Some(Job {
        id: JobId(index as u64),
        task,
        candidate,
        stage: fixture.stage,
    })
}

/// Bytes of memory that this process and its supervisors hold now.
fn resident_bytes() -> u64 {
    let own = std::process::id().to_string();
    let supervisors = role_processes();
    let supervisors = supervisors.iter().filter_map(|line| line.split(' ').next());
    let resident = |pid: &str| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes << 10)
    };
    let processes = supervisors.chain([own.as_str()]);
    processes.filter_map(resident).sum()
}

fn scratch_folders() -> usize {
    let own = format!("hotloop-scratch-{}-", std::process::id());
    let temporary = std::env::temp_dir().display().to_string();
    let names = names(&temporary);
    names.iter().filter(|name| name.starts_with(&own)).count()
}

/// The next so many of a list without end.
fn next(fixtures: &[Fixture], begin: usize, count: usize) -> Vec<&Fixture> {
    let endless = fixtures.iter().cycle();
    endless.skip(begin % fixtures.len()).take(count).collect()
}

/// What deserved another label than it got.
fn surprises(labels: &[(String, Label)], expected: impl Fn(&str, Label) -> bool) -> Vec<String> {
    let wrong = labels
        .iter()
        .filter(|(name, label)| !expected(name, *label));
    wrong
        .map(|(name, label)| format!("{name}: {label}"))
        .collect()
}

#[test]
#[ignore = "takes ten minutes: cargo test -p hotloop-bench --test it soak -- --ignored --nocapture"]
fn soak() {
    let _alone = alone();
    let begin = Instant::now();
    let mut cheats = fixtures::load("cheats");
    cheats.retain(|cheat| job(0, cheat).is_some());
    let honest = fixtures::load("honest");
    let before = shared_memory();
    let descriptors = names("/proc/self/fd").len();
    let mut benches = Benches::start(&[cheats.clone(), honest.clone()].concat());

    let is_expected = |name: &str, label: Label| {
        // On a busy machine a batch may have one call, and these compute one call honestly
        // (`docs/bench.md`).
        let is_honest_now = name.starts_with("batch-team") && label == Label::Correct;
        let cheat = cheats.iter().find(|cheat| cheat.name == name);
        let is_of_file = |cheat: &Fixture| cheat.expect.iter().any(|word| word == label.name());
        is_honest_now || cheat.is_some_and(is_of_file)
    };
    let mut labels = benches.judge(&next(&cheats, 0, WARM_UP));
    let (held, resident) = (held_by_supervisors(), resident_bytes());
    labels.extend(benches.judge(&next(&cheats, WARM_UP, HOSTILE - WARM_UP)));
    assert_eq!(labels.len(), HOSTILE);
    let hostile = surprises(&labels, is_expected);
    println!("unexpected: {hostile:?}");
    let labels = benches.judge(&next(&honest, 0, HONEST));
    assert_eq!(labels.len(), HONEST);
    let refused = surprises(&labels, |_, label| label == Label::Correct);
    let (held_late, resident_late) = (held_by_supervisors(), resident_bytes());
    println!(
        "{HOSTILE} hostile and {HONEST} honest candidates in {:.0} s: descriptors and maps {held} and then {held_late}, memory {resident} and then {resident_late} bytes",
        begin.elapsed().as_secs_f64()
    );
    assert_eq!((hostile, refused), (vec![], vec![]), "hostile, honest");
    assert!(held_late <= held + 4, "{held} and then {held_late}");
    assert!(
        resident_late <= resident + GROWTH,
        "{resident} and then {resident_late} bytes"
    );

    drop(benches);
    assert_eq!(role_processes(), Vec::<String>::new());
    assert_eq!(scratch_folders(), 0);
    assert_eq!(before, shared_memory());
    assert!(names("/proc/self/fd").len() <= descriptors);
}
