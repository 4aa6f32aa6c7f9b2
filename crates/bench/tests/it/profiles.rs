//! Profiles of candidates, taken without running them.

use std::sync::Arc;

use hotloop_bench::{LocalBench, tasks};
use hotloop_flow::{Bench, Candidate, Job, JobId};

use crate::settings;

fn profile(bench: &mut LocalBench, source: &str) -> Option<String> {
    let task = Arc::new(tasks::load("matmul").unwrap());
    let candidate = Candidate::from_source(source.as_bytes(), &task).unwrap();
    let job = Job {
        id: JobId(1),
        task,
        candidate,
        stage: None,
    };
    bench.profile(&job).unwrap()
}

#[test]
fn a_profile_tells_of_loops_and_vectors_and_changes_no_verdict() {
    let mut bench = LocalBench::start(settings()).unwrap();
    let seed = tasks::load("matmul").unwrap().seed;
    let said = profile(&mut bench, &seed).expect("the seed compiles");
    assert!(
        said.contains("hottest loop: ") && said.contains("bytes per FLOP"),
        "{said}"
    );
    // A recurrence that no compiler vectorises.
    let serial = "void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {\n    for (int i = 1; i < M; i++) C[i] = C[i - 1] * 0.5 + A[i];\n}\n";
    let said = profile(&mut bench, serial).expect("it compiles");
    assert!(said.contains("scalar arithmetic"), "{said}");
    let broken = "void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {\n    nothing\n}\n";
    assert_eq!(profile(&mut bench, broken), None);
    assert_eq!(bench.pending(), 0);
}
