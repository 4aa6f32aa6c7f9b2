//! The long test: 500 hostile candidates in a row, then 100 honest ones, on the same benches.

use std::collections::BTreeMap;
use std::sync::Arc;

use hotloop_bench::{LocalBench, Settings};
use hotloop_flow::{Candidate, How, Job, JobId, Label};

use crate::fixtures::{self, Fixture};
use crate::leftovers::{held_by_supervisors, names, role_processes, shared_memory};
use crate::{alone, brief};

const HOSTILE: usize = 500;
const HONEST: usize = 100;
/// Candidates that are judged before the first look at what is held.
const WARM_UP: usize = 100;
/// Bytes by which the memory of this process and its supervisors may grow after that.
const GROWTH: u64 = 128 << 20;

/// Benches by threads, all of them alive from the first candidate to the last.
struct Benches {
    benches: BTreeMap<u32, LocalBench>,
}

impl Benches {
    fn start(fixtures: &[Fixture]) -> Self {
        let start = |threads: u32| {
            let settings = brief();
            let how = How {
                threads,
                ..settings.how
            };
            LocalBench::start(Settings { how, ..settings }).unwrap()
        };
        let threads = fixtures.iter().map(|fixture| fixture.threads);
        let benches = threads.map(|threads| (threads, start(threads))).collect();
        Self { benches }
    }

    /// The labels of all fixtures that hold a candidate at all.
    fn judge(&mut self, fixtures: &[&Fixture]) -> Vec<(String, Label)> {
        let mut labels = Vec::new();
        for (threads, bench) in &mut self.benches {
            let own = fixtures.iter().enumerate();
            let own = own.filter(|(_, fixture)| fixture.threads == *threads);
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

#[test]
#[ignore = "takes ten minutes: cargo test -p hotloop-bench --test it soak -- --ignored"]
fn soak() {
    let _alone = alone();
    let cheats = fixtures::load("cheats");
    let honest = fixtures::load("honest");
    let before = shared_memory();
    let descriptors = names("/proc/self/fd").len();
    let mut benches = Benches::start(&[cheats.clone(), honest.clone()].concat());

    let expected = |name: &str, label: Label| {
        let cheat = cheats.iter().find(|cheat| cheat.name == name);
        cheat.is_some_and(|cheat| cheat.expect.iter().any(|word| word == label.name()))
    };
    let mut judged = 0;
    let mut hostile = |benches: &mut Benches, begin: usize, count: usize| {
        for (name, label) in benches.judge(&next(&cheats, begin, count)) {
            assert!(expected(&name, label), "{name}: {label}");
            judged += 1;
        }
    };
    hostile(&mut benches, 0, WARM_UP);
    let (held, resident) = (held_by_supervisors(), resident_bytes());
    hostile(&mut benches, WARM_UP, HOSTILE + 20 - WARM_UP);
    assert!(judged >= HOSTILE, "{judged} hostile candidates");
    let honest_labels = benches.judge(&next(&honest, 0, HONEST));
    assert_eq!(honest_labels.len(), HONEST);
    for (name, label) in honest_labels {
        assert_eq!(label, Label::Correct, "{name}");
    }
    let (held_late, resident_late) = (held_by_supervisors(), resident_bytes());
    println!(
        "{judged} hostile and {HONEST} honest candidates: descriptors and maps {held} and then {held_late}, memory {resident} and then {resident_late} bytes"
    );
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
