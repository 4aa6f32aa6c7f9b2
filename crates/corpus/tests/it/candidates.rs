use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use hotloop_corpus::{Pool, Program, TASKS};
use hotloop_flow::language::c::{scan, stages};
use hotloop_flow::task::TaskFiles;
use hotloop_flow::technique::Scan;
use hotloop_flow::{Candidate, Stage, Task, Technique};

use crate::pool;

/// A shipped task.
fn task(name: &str) -> Task {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tasks")
        .join(name);
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap_or_default();
    let baseline = Some(read("baseline.c")).filter(|text| !text.is_empty());
    let files = TaskFiles {
        toml: read("task.toml"),
        reference: read("reference.c"),
        prompt: read("prompt.md"),
        seed: read("seed.c"),
        baseline,
    };
    Task::parse(files).expect("a shipped task is sound")
}

#[test]
fn every_candidate_has_its_tasks_signature_and_is_unique() {
    let tasks: BTreeMap<&str, Task> = TASKS.iter().map(|(name, _)| (*name, task(name))).collect();
    let mut seen = HashSet::new();
    for program in pool().programs() {
        let source = program.source();
        let candidate = Candidate::from_source(source.as_bytes(), &tasks[program.task()]).unwrap();
        assert_eq!(candidate.source(), source);
        assert!(candidate.notes().is_empty());
        assert!(
            seen.insert((program.task(), candidate.normalised())),
            "twice:\n{source}"
        );
    }
    assert_eq!(seen.len(), pool().len());
}

#[test]
fn choices_match_the_techniques_of_the_source() {
    for program in pool().programs() {
        let source = program.source();
        let (scan, uses) = (scan(&source), program.uses());
        let found = [Technique::Simd, Technique::Openmp, Technique::Prefetch]
            .map(|technique| scan.uses(technique));
        assert_eq!(found, [uses.simd, uses.threads, uses.prefetch], "{source}");
    }
}

#[test]
fn a_stage_allows_its_candidates_and_the_one_before_does_not() {
    let six = stages::default();
    let violation = |stage: Stage, scan: &Scan| six.get(stage).unwrap().violation(scan);
    let mut seen = HashSet::new();
    for program in pool().programs() {
        let (stage, scan) = (program.stage(), scan(&program.source()));
        seen.insert(stage);
        assert_eq!(violation(stage, &scan), None, "{}", program.source());
        let before = match stage {
            stages::SIMD => stages::CACHE_BLOCKING,
            stages::OPENMP => stages::SIMD,
            stages::PREFETCH => stages::OPENMP,
            _ => continue,
        };
        assert!(
            violation(before, &scan).is_some(),
            "{stage} is too late for\n{}",
            program.source()
        );
    }
    assert_eq!(seen.len(), stages::SIX.len());
}

#[test]
fn sources_are_canonical() {
    for program in pool().programs() {
        let source = program.source();
        assert_eq!(hotloop_corpus::canonical(&source), source);
    }
}

#[test]
fn the_same_seed_gives_the_same_candidates() {
    let sources = |seed| -> Vec<String> {
        Pool::draw(seed, 300)
            .programs()
            .map(Program::source)
            .collect()
    };
    assert_eq!(sources(1), sources(1));
    assert_ne!(sources(1), sources(2));
}

#[test]
fn there_are_more_than_fifty_thousand() {
    let pool = Pool::draw(3, 52_000);
    assert!(pool.len() > 50_000, "{}", pool.len());
}

#[test]
fn the_enumeration_finds_what_is_drawn() {
    let step = Program::combinations() / 20_011;
    let found: Vec<Program> = (0..20_000)
        .filter_map(|at| Program::nth(at * step))
        .collect();
    assert!(found.len() > 20, "{}", found.len());
    assert!(found.iter().all(Program::makes_sense));
    assert_eq!(Program::nth(u64::MAX), None);
}

#[test]
fn neighbours_are_other_candidates_of_the_same_task() {
    let mut rng = hotloop_corpus::Rng::new(1, 1);
    for program in pool().programs().step_by(20) {
        let changed = program.changed(&mut rng);
        assert!(changed != *program && changed.task() == program.task() && changed.makes_sense());
    }
}
