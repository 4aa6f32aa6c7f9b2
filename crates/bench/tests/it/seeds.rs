//! Every shipped task judges its own seed.

use hotloop_flow::Language;

use crate::fixtures::{self, Fixture};
use crate::settings;

#[test]
fn every_seed_is_correct() {
    let _turn = crate::turn();
    let seeds: Vec<Fixture> = hotloop_bench::tasks::shipped_in(Language::C)
        .map(|name| Fixture {
            name: name.to_owned(),
            task: name.to_owned(),
            threads: 1,
            stage: None,
            compiler: None,
            level: None,
            expect: vec![],
            source: hotloop_bench::tasks::load(name).unwrap().seed.into_bytes(),
        })
        .collect();
    for (seed, judgement) in seeds.iter().zip(fixtures::judge(&settings(), &seeds)) {
        println!(
            "{:12} {:?} {:?}",
            seed.name, judgement.seconds, judgement.verdict
        );
        assert_eq!(
            judgement.verdict.label(),
            hotloop_flow::Label::Correct,
            "{}: {}",
            seed.name,
            judgement.verdict.detail()
        );
    }
}

#[test]
fn a_task_that_starts_cold_is_timed() {
    let _turn = crate::turn();
    let mut task = hotloop_bench::tasks::load("transpose").unwrap();
    task.spec.cache = hotloop_flow::task::CacheState::Cold;
    task.hash = "cold".into();
    let candidate = hotloop_flow::Candidate::from_source(task.seed.as_bytes(), &task).unwrap();
    let job = hotloop_flow::Job {
        id: hotloop_flow::JobId(0),
        task: std::sync::Arc::new(task),
        candidate,
        stage: None,
    };
    let mut bench = hotloop_bench::LocalBench::start(settings()).unwrap();
    hotloop_flow::Bench::submit(&mut bench, vec![job]).unwrap();
    let judged = fixtures::drain(&mut bench).remove(0).judged;
    // The bench takes no timing of runs that were not flushed, so a verdict says that all were.
    let verdict = judged.unwrap().verdict;
    assert!(verdict.measured().is_some(), "{}", verdict.detail());
}
