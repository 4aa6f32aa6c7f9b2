//! The paper's check decides if requested, and then on every run.

use hotloop_flow::Label;

use crate::fixtures::{self, Fixture};
use crate::settings;

/// Correct in the first three calls of the timed size, which the paper verifies, and does nothing
/// afterwards.
const LATE: &str = "
static int calls;
void matvec(double *A, double *x, double *y, int M, int N) {
    for (int i = 0; i < M; i++) {
        double s[32] = {0}, t = 0;
        int j = 0;
        for (; j + 32 <= N; j += 32)
            for (int l = 0; l < 32; l++) s[l] += A[i * N + j + l] * x[j + l];
        for (; j < N; j++) t += A[i * N + j] * x[j];
        for (int l = 0; l < 32; l++) t += s[l];
        y[i] = t + (M == 512 && calls >= 3);
    }
    calls += M == 512;
}
";

#[test]
fn runs_behind_the_fourth_are_verified_too() {
    let _turn = crate::turn();
    let late = Fixture {
        name: "late".into(),
        task: "matvec".into(),
        threads: 1,
        stage: None,
        compiler: None,
        level: None,
        expect: vec![],
        source: LATE.into(),
    };
    let judgement = fixtures::judge(&settings().like_the_paper(), &[late]).remove(0);
    assert_eq!(
        judgement.verdict.label(),
        Label::Wrong,
        "{}",
        judgement.verdict.detail()
    );
}
