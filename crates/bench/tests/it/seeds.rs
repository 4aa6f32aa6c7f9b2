//! Every shipped task judges its own seed.

use crate::fixtures::{self, Fixture};
use crate::{patient, settings};

#[test]
fn every_seed_is_correct() {
    let _turn = crate::turn();
    let seeds: Vec<Fixture> = hotloop_bench::tasks::shipped()
        .map(|name| Fixture {
            name: name.to_owned(),
            task: name.to_owned(),
            threads: 1,
            stage: None,
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
fn a_task_that_starts_cold_is_slower_than_the_same_task_warm() {
    let _turn = crate::turn();
    // Large enough to matter: twelve megabytes that the supervisor has just written, or not.
    let warm = hotloop_bench::tasks::load("transpose").unwrap();
    let mut cold = warm.clone();
    cold.spec.cache = hotloop_flow::task::CacheState::Cold;
    cold.hash = "cold".into();
    let mut bench = hotloop_bench::LocalBench::start(patient()).unwrap();
    let mut seconds = |task: hotloop_flow::Task| {
        let candidate = hotloop_flow::Candidate::from_source(task.seed.as_bytes(), &task).unwrap();
        let job = hotloop_flow::Job {
            id: hotloop_flow::JobId(0),
            task: std::sync::Arc::new(task),
            candidate,
            stage: None,
        };
        hotloop_flow::Bench::submit(&mut bench, vec![job]).unwrap();
        let verdict = fixtures::drain(&mut bench)
            .remove(0)
            .judged
            .unwrap()
            .verdict;
        verdict
            .measured()
            .unwrap_or_else(|| panic!("{}", verdict.detail()))
            .timing
            .min_s
    };
    let (warm_s, cold_s) = (seconds(warm), seconds(cold));
    assert!(cold_s > warm_s, "{cold_s} cold, {warm_s} warm");
}
