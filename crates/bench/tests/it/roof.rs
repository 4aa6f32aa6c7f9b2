//! The bench's own kernels do what their results assume.

use hotloop_flow::Label;

use crate::fixtures::{self, Fixture};
use crate::settings;

const TASK: &str = r#"
name = "sum"
summary = "the sum of a buffer"
language = "c"
entry = "whole"
args = [
    { name = "in", type = "f64", role = "in", shape = ["N"], fill = { uniform = [-1.0, 1.0] } },
    { name = "out", type = "f64", role = "out", shape = ["1"] },
    { name = "n", type = "i64", role = "scalar", value = "N" },
]
[sizes]
timed = { N = 200003 }
hidden = [{ N = 1 }, { N = 7 }, { N = 128 }, { N = 131 }, { N = 256 }, { N = 65535 }, { N = 65536 }, { N = 524288 }]
[cost]
flops = "N"
bytes = "8*N"
[verify]
method = "full"
bound = "2*N + 8"
why = "a sum of N numbers"
"#;

const REFERENCE: &str = "
#include <math.h>
void reference(const double *in, double *out, double *out_scale, long long n) {
    long double sum = 0;
    *out_scale = 0;
    for (long long i = 0; i < n; i++) sum += in[i], *out_scale += fabs(in[i]);
    *out = sum;
}
";

const WHOLE: &str = "
void whole(double *in, double *out, long long n) {
    static double parts[1024 * 8];
    for (int i = 0; i < 1024 * 8; i++) parts[i] = 0;
    stream(in, parts, n);
    *out = 0;
    for (int i = 0; i < 1024 * 8; i++) *out += parts[i];
}
";

/// If the kernel left out a number, the roof would be lower than any candidate can reach. If it
/// read one twice, it would be higher.
#[test]
fn the_memory_roof_reads_every_number_once() {
    let _turn = crate::turn();
    let folder = tempfile::tempdir().unwrap();
    let source = [include_str!("../../src/cpu/roof/stream.c"), WHOLE].concat();
    for (name, text) in [
        ("task.toml", TASK),
        ("reference.c", REFERENCE),
        ("prompt.md", "sum"),
        ("seed.c", &source),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let task = folder.path().display().to_string();
    let on = |threads| Fixture {
        name: "sum".into(),
        task: task.clone(),
        threads,
        stage: None,
        compiler: None,
        level: None,
        expect: vec![],
        source: source.clone().into_bytes(),
    };
    for judgement in fixtures::judge(&settings(), &[on(1), on(2)]) {
        assert_ne!(
            judgement.verdict.label(),
            Label::Wrong,
            "{}",
            judgement.verdict.detail()
        );
        assert!(
            judgement.verdict.measured().is_some(),
            "{}",
            judgement.verdict.detail()
        );
    }
}
