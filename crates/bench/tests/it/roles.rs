//! A task with arguments of every role, unlike any shipped one.

use hotloop_bench::Settings;
use hotloop_flow::Label;

use crate::fixtures::{self, Fixture};
use crate::settings;

const TASK: &str = r#"
name = "roles"
summary = "adds x to y in place and returns a large count"
language = "c"
entry = "add"
args = [
    { name = "x", type = "f32", role = "in", shape = ["N"], fill = { uniform = [-1.0, 1.0] } },
    { name = "y", type = "f64", role = "inout", shape = ["N"], fill = { uniform = [-1.0, 1.0] } },
    { name = "k", type = "i32", role = "inout", shape = ["3"], fill = { uniform = [0.0, 100.0] } },
    { name = "n", type = "i64", role = "scalar", value = "N" },
    { name = "count", type = "i64", role = "return" },
]
[sizes]
timed = { N = 100000 }
hidden = [{ N = 1 }, { N = 333 }]
[cost]
flops = "N"
bytes = "12*N"
[verify]
method = "full"
bound = "2"
why = "one addition"
"#;

const REFERENCE: &str = "
#include <math.h>
void reference(const float *x, double *y, double *y_scale, int *k, double *k_scale, long long n, long long *count, double *count_scale) {
    *count = 1LL << 53;
    for (long long i = 0; i < n; i++) y_scale[i] = fabs(y[i]) + fabs(x[i]), y[i] += x[i], *count += x[i] > 0;
    for (int i = 0; i < 3; i++) k[i] += 7, k_scale[i] = 0;
    *count_scale = 0;
}
";

fn judge(settings: &Settings, add: &str, bump: &str, more: &str) -> (Label, String) {
    let folder = tempfile::tempdir().unwrap();
    let source = format!(
        "long long add(float *x, double *y, int *k, long long n) {{ long long count = 1LL << 53;\n\
         for (long long i = 0; i < n; i++) {{ {add} count += x[i] > 0; }}\n\
         for (int i = 0; i < 3; i++) {bump}\nreturn count{more}; }}\n"
    );
    for (name, text) in [
        ("task.toml", TASK),
        ("reference.c", REFERENCE),
        ("prompt.md", "add"),
        ("seed.c", &source),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let task = folder.path().display().to_string();
    let candidate = Fixture {
        name: "roles".into(),
        task,
        threads: 1,
        stage: None,
        compiler: None,
        level: None,
        expect: vec![],
        source: source.into_bytes(),
    };
    let judgement = fixtures::judge(settings, &[candidate]).remove(0);
    (judgement.verdict.label(), judgement.verdict.detail())
}

#[test]
fn arguments_are_checked_whatever_their_role() {
    let _turn = crate::turn();
    for settings in [settings(), settings().like_the_paper()] {
        let judge = |add, bump, more| judge(&settings, add, bump, more);
        let (label, why) = judge("y[i] += x[i];", "k[i] += 7;", "");
        assert_eq!(label, Label::Correct, "{why}");
        assert_eq!(
            judge("", "k[i] += 7;", "").0,
            Label::Wrong,
            "y was left as it came"
        );
    }
    let judge = |add, bump, more| judge(&settings(), add, bump, more);
    let (label, why) = judge("y[i] += x[i];", "k[i] += 7;", " + 1");
    assert_eq!(label, Label::Wrong, "doubles cannot tell the two apart");
    assert!(why.starts_with("the return value"), "{why}");
    assert_eq!(judge("y[i] += x[i];", "k[i] += 8;", "").0, Label::Wrong);
    assert_eq!(judge("y[i] += x[i];", "k[i] = 7;", "").0, Label::Wrong);
}
