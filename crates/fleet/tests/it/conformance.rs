//! What every bench must do, in this process and over a fleet.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use hotloop_bench::LocalBench;
use hotloop_flow::{Bench, Candidate, Job, JobId, Label, Stage};

use crate::parts::{LONG, Server, Worker, open, replies, settings, wait_until};

const RIGHT: &str = "void transpose(double *in, double *out, int M, int N) {
    for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) out[j * M + i] = in[i * N + j];
}
";

fn job(id: u64, source: &str) -> Job {
    let task = Arc::new(hotloop_bench::tasks::load("transpose").unwrap());
    let candidate = Candidate::from_source(source.as_bytes(), &task).unwrap();
    Job {
        id: JobId(id),
        task,
        candidate,
        stage: None,
    }
}

fn wrong(id: u64) -> Job {
    job(
        id,
        &format!(
            "// {id}\nvoid transpose(double *in, double *out, int M, int N) {{ out[0] = 0; }}"
        ),
    )
}

/// Every rule of the trait, on a bench that is idle.
fn conforms(bench: &mut dyn Bench) {
    verdicts_fit_their_candidates(bench);
    copies_are_judged_once(bench);
    a_later_copy_is_judged_anew(bench);
    cancelled_jobs_are_not_told(bench);
    stages_hold(bench);
    let facts = bench.facts();
    assert!(!facts.class.is_empty() && facts.device.simd().is_some_and(|simd| !simd.is_empty()));
    assert!(
        bench.next(Duration::ZERO).unwrap().is_none(),
        "an idle bench says nothing"
    );
    bench.submit(Vec::new()).unwrap();
    assert!(
        bench.next(Duration::from_millis(50)).unwrap().is_none(),
        "no job, no reply"
    );
}

fn verdicts_fit_their_candidates(bench: &mut dyn Bench) {
    let broken = job(
        2,
        "void transpose(double *in, double *out, int M, int N) { oops }",
    );
    let crashes = job(
        3,
        "void transpose(double *in, double *out, int M, int N) { *(volatile int *)8 = 0; }",
    );
    bench.submit(vec![job(0, RIGHT), wrong(1), broken]).unwrap();
    bench.submit(vec![crashes]).unwrap();
    let came = replies(bench, 4);
    let labels: Vec<Label> = came
        .iter()
        .map(|reply| reply.judged.as_ref().unwrap().verdict.label())
        .collect();
    assert_eq!(
        labels,
        [
            Label::Correct,
            Label::Wrong,
            Label::NotCompiled,
            Label::Crashed
        ]
    );
    let judgement = came[0].judged.as_ref().unwrap();
    assert!(judgement.verdict.measured().unwrap().gflops() > Some(0.0));
    let seconds = judgement.seconds;
    assert!(
        seconds.total > 0.0 && seconds.total + 1e-6 >= seconds.run,
        "{seconds:?}"
    );
}

fn copies_are_judged_once(bench: &mut dyn Bench) {
    bench
        .submit((10..15).map(|id| job(id, RIGHT)).collect())
        .unwrap();
    bench.submit(vec![job(15, RIGHT)]).unwrap();
    let came = replies(bench, 6);
    let timings: BTreeSet<u64> = came
        .iter()
        .map(|reply| {
            reply
                .judged
                .as_ref()
                .unwrap()
                .verdict
                .measured()
                .unwrap()
                .timing
                .median_s
                .to_bits()
        })
        .collect();
    assert_eq!(
        timings.len(),
        1,
        "one judgement, so one timing to the last digit"
    );
}

fn a_later_copy_is_judged_anew(bench: &mut dyn Bench) {
    let mut timings = BTreeSet::new();
    for id in 20..23 {
        bench.submit(vec![job(id, RIGHT)]).unwrap();
        let came = replies(bench, 1);
        timings.insert(
            came[0]
                .judged
                .as_ref()
                .unwrap()
                .verdict
                .measured()
                .unwrap()
                .timing
                .median_s
                .to_bits(),
        );
    }
    assert!(timings.len() > 1, "a timing is never remembered");
}

fn cancelled_jobs_are_not_told(bench: &mut dyn Bench) {
    bench.submit((30..36).map(wrong).collect()).unwrap();
    bench.cancel(&[JobId(31), JobId(34)]);
    let ids: Vec<u64> = replies(bench, 4).iter().map(|reply| reply.id.0).collect();
    assert_eq!(ids, [30, 32, 33, 35]);
    bench.submit((30..36).map(wrong).collect()).unwrap();
    bench.cancel(&(30..36).map(JobId).collect::<Vec<_>>());
    assert!(
        bench.next(Duration::from_secs(1)).unwrap().is_none(),
        "all were cancelled"
    );
    bench.submit(vec![wrong(31)]).unwrap();
    assert_eq!(
        replies(bench, 1)[0].id,
        JobId(31),
        "what was cancelled can be asked for again"
    );
}

fn stages_hold(bench: &mut dyn Bench) {
    let source = format!("#include <immintrin.h>\nstatic __m256d unused;\n{RIGHT}");
    let mut staged = job(40, &source);
    staged.stage = Stage::try_from(1).ok();
    bench.submit(vec![staged, job(41, &source)]).unwrap();
    let came = replies(bench, 2);
    let labels: Vec<Label> = came
        .iter()
        .map(|reply| reply.judged.as_ref().unwrap().verdict.label())
        .collect();
    assert_eq!(labels, [Label::Refused, Label::Correct]);
}

/// Benches that time take turns.
fn turn() -> std::sync::MutexGuard<'static, ()> {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    TURN.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[test]
fn the_bench_of_this_machine_conforms() {
    let _turn = turn();
    conforms(&mut LocalBench::start(settings()).unwrap());
}

#[test]
fn a_fleet_conforms() {
    let Some(server) = Server::start() else {
        return;
    };
    let _turn = turn();
    let _worker = Worker::with(&server.access_file(), "real", "30", "1");
    let mut bench = open(&server, "conformance");
    assert!(bench.workers().unwrap().len() == 1 && LONG.as_secs() > 0);
    conforms(&mut bench);
    wait_until("a beat that tells of more than ten judgements", || {
        bench.workers().unwrap()[0].judged > 10
    });
    let beat = &bench.workers().unwrap()[0];
    assert_eq!(beat.failed, 0, "{beat:?}");
    assert!(beat.noise.is_some_and(|noise| noise.peak_gflops > 0.0));
}
