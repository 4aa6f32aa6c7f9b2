//! How many calls a run makes is for the bench to choose.

use hotloop_flow::Label;

use crate::fixtures::{self, Fixture};
use crate::settings;

/// Its first calls sleep: so slow a candidate would be timed one call a run, where the round trip
/// that is taken off weighs most.
const SLOW_AT_FIRST: &str = "
#include <time.h>
static int calls;
void matvec(double *A, double *x, double *y, int M, int N) {
    for (int i = 0; i < M; i++) {
        double s[32] = {0}, t = 0;
        int j = 0;
        for (; j + 32 <= N; j += 32)
            for (int l = 0; l < 32; l++) s[l] += A[i * N + j + l] * x[j + l];
        for (; j < N; j++) t += A[i * N + j] * x[j];
        for (int l = 0; l < 32; l++) t += s[l];
        y[i] = t;
    }
    if (calls++ < 4) nanosleep(&(struct timespec){0, 10000000}, 0);
}
";

#[test]
fn slow_first_calls_do_not_choose_the_calls_per_run() {
    let _turn = crate::turn();
    let slow = |source: &str| Fixture {
        name: "slow".into(),
        task: "matvec".into(),
        threads: 2,
        stage: None,
        compiler: None,
        level: None,
        expect: vec![],
        source: source.into(),
    };
    let plain = SLOW_AT_FIRST.replace("calls++ < 4", "0");
    let calls: Vec<u32> = fixtures::judge(&settings(), &[slow(SLOW_AT_FIRST), slow(&plain)])
        .iter()
        .map(|judgement| {
            assert_eq!(
                judgement.verdict.label(),
                Label::Correct,
                "{}",
                judgement.verdict.detail()
            );
            judgement
                .verdict
                .measured()
                .map_or(0, |measured| measured.timing.calls)
        })
        .collect();
    // A machine whose round trip is so short that even the plain one needs no batch has nothing to
    // show.
    assert!(calls[0] > 1 || calls[1] <= 2, "{calls:?}");
}
