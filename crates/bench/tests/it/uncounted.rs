//! A task that counts no operations is judged like any other, but has no GFLOPS.

use std::sync::Arc;

use hotloop_bench::LocalBench;
use hotloop_flow::reward::RewardContext;
use hotloop_flow::{Bench, Candidate, Job, JobId, Label, Reward, seed};

use crate::fixtures::drain;
use crate::settings;

/// Four times the stores of the seed.
const SLOW: &str = "void reverse(double *in, double *out, int N) {
    for (int round = 0; round < 4; round++)
        for (int i = 0; i < N; i++) ((volatile double *)out)[i] = in[N - 1 - i];
}
";

#[test]
fn a_task_without_operations_is_judged_and_rewarded() {
    let _turn = crate::turn();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tasks/reverse");
    let task = Arc::new(hotloop_bench::tasks::load(folder).unwrap());
    assert!(!task.counts_operations());
    let slow = Job {
        id: JobId(1),
        task: Arc::clone(&task),
        candidate: Candidate::from_source(SLOW.as_bytes(), &task).unwrap(),
        stage: None,
    };
    let mut bench = LocalBench::start(settings()).unwrap();
    bench
        .submit(vec![seed::job(JobId(0), &task).unwrap(), slow])
        .unwrap();
    let mut replies = drain(&mut bench);
    replies.sort_by_key(|reply| reply.id);
    let verdicts: Vec<_> = replies
        .into_iter()
        .map(|reply| reply.judged.unwrap().believable().unwrap().verdict)
        .collect();
    for verdict in &verdicts {
        assert_eq!(verdict.label(), Label::Correct, "{}", verdict.detail());
        let measured = verdict.correct().unwrap();
        assert_eq!((measured.gflops(), measured.peak_fraction()), (None, None));
        assert!(measured.work.bytes.is_some() && measured.roof.is_some());
    }
    let measured = seed::measured(&task, &verdicts[0]).unwrap();
    let context = RewardContext::of_seed(measured);
    for reward in Reward::ALL {
        let of = |verdict| reward.of(verdict, &context).unwrap().unwrap();
        let (own, slow) = (of(&verdicts[0]), of(&verdicts[1]));
        assert!(
            own.is_finite() && own >= slow,
            "{}: {own} {slow}",
            reward.name()
        );
    }
    let ladder = |verdict| Reward::Ladder.of(verdict, &context).unwrap().unwrap();
    assert!(
        (ladder(&verdicts[0]) - 1.0).abs() < 1e-9,
        "the seed is the unit"
    );
    assert!(ladder(&verdicts[1]) < 0.8, "four times the stores");
}
