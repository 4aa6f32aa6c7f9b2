//! Many jobs at once.

use std::sync::Arc;
use std::time::Duration;

use hotloop_bench::{LocalBench, Settings};
use hotloop_flow::how::{Compiler, OptLevel};
use hotloop_flow::task::TaskFiles;
use hotloop_flow::{Bench, ErrorKind, How, Job, JobId, Label, Stage, Task};

use crate::fixtures::{drain, job, load};
use crate::{beside, brief, settings, turn};

const NAIVE: &str = "void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < K; k++) sum += A[i * K + k] * B[k * N + j];
            C[i * N + j] = sum;
        }
}
";

fn source(name: &str) -> String {
    let found = load("honest")
        .into_iter()
        .find(|fixture| fixture.name == name)
        .unwrap();
    String::from_utf8(found.source).unwrap()
}

#[test]
fn identical_candidates_are_judged_once_and_all_are_told() {
    let _turn = turn();
    let mut bench = LocalBench::start(settings()).unwrap();
    bench
        .submit((0..20).map(|id| job(id, "matmul", NAIVE)).collect())
        .unwrap();
    let replies = drain(&mut bench);
    assert_eq!(replies.len(), 20);
    let verdicts: Vec<_> = replies
        .iter()
        .map(|reply| reply.judged.as_ref().unwrap().verdict.clone())
        .collect();
    assert_eq!(verdicts[0].label(), Label::Correct);
    assert!(
        verdicts.iter().all(|verdict| *verdict == verdicts[0]),
        "one judgement, so one timing to the last digit"
    );
}

#[test]
fn a_name_that_fills_a_file_does_not_fill_the_verdict() {
    let _beside = beside();
    let mut bench = LocalBench::start(settings()).unwrap();
    let name = "x".repeat(70_000);
    let calls =
        |name: &str| NAIVE.replace("double sum = 0;", &format!("double sum = 0; {name}();"));
    bench
        .submit(vec![
            job(0, "matmul", &calls(&format!("cblas_{name}"))),
            job(1, "matmul", &calls(&name)),
        ])
        .unwrap();
    for reply in drain(&mut bench) {
        let verdict = reply.judged.unwrap().verdict;
        assert_eq!(
            verdict.label(),
            if reply.id == JobId(0) {
                Label::Refused
            } else {
                Label::NotCompiled
            }
        );
        let text = serde_json::to_string(&verdict).unwrap();
        assert!(text.len() < 3000, "{} bytes", text.len());
    }
}

#[test]
fn cancelled_jobs_never_reply_and_the_others_do() {
    let _turn = turn();
    let mut bench = LocalBench::start(settings()).unwrap();
    bench
        .submit(
            (0..6)
                .map(|id| job(id, "matmul", &format!("{NAIVE}// {id}\n")))
                .collect(),
        )
        .unwrap();
    bench.cancel(&[JobId(1), JobId(4)]);
    let mut ids: Vec<u64> = drain(&mut bench).iter().map(|reply| reply.id.0).collect();
    ids.sort_unstable();
    assert_eq!(ids, [0, 2, 3, 5]);
    assert!(bench.next(Duration::from_millis(50)).unwrap().is_none());
}

#[test]
fn a_job_that_nobody_here_can_judge_is_the_users_error() {
    let _beside = beside();
    let mut bench = LocalBench::start(settings()).unwrap();
    let mut refused = |job: Job| {
        let error = bench.submit(vec![job]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::User);
        error.what
    };
    let mut module = job(0, "matmul", NAIVE);
    let toml = "name = \"m\"\nsummary = \"s\"\nlanguage = \"torch\"\nclass = \"Model\"\ncost = { bytes = \"0\" }\nverify = { method = \"full\", bound = \"1\", why = \"w\" }\n";
    let files = TaskFiles {
        toml: toml.to_owned(),
        ..TaskFiles::default()
    };
    module.task = Arc::new(Task::parse(files).unwrap());
    assert_eq!(
        refused(module),
        "task m: tasks in torch cannot be judged by this version"
    );
    let mut seventh = job(1, "matmul", NAIVE);
    seventh.stage = Stage::try_from(7).ok();
    let why = refused(seventh);
    assert!(
        why.contains("stage 7 does not exist; stages are 1 to 6"),
        "{why}"
    );
    assert_eq!(bench.pending(), 0, "nothing of them is left over");
}

#[test]
fn a_stage_refuses_what_it_forbids_even_behind_macros() {
    let _turn = turn();
    let mut bench = LocalBench::start(settings()).unwrap();
    let hidden = format!(
        "#define JOIN(a, b) a##b\n#define RUN(x) _Pragma(#x)\nvoid inner(double *x) {{ RUN(omp parallel) {{ x[0] = JOIN(0, x1); }} }}\n{NAIVE}"
    );
    let mut plain = job(0, "matmul", NAIVE);
    let mut parallel = job(1, "matmul", &hidden);
    let mut vector = job(2, "matmul", &source("matmul-avx2-4x8"));
    for job in [&mut plain, &mut parallel, &mut vector] {
        job.stage = Some(Stage::try_from(1).unwrap());
    }
    bench.submit(vec![plain, parallel, vector]).unwrap();
    let mut replies = drain(&mut bench);
    replies.sort_by_key(|reply| reply.id);
    let verdicts: Vec<_> = replies
        .into_iter()
        .map(|reply| reply.judged.unwrap().verdict)
        .collect();
    assert_eq!(
        verdicts[0].label(),
        Label::Correct,
        "{}",
        verdicts[0].detail()
    );
    assert_eq!(verdicts[1].label(), Label::Refused);
    assert!(
        verdicts[1].detail().contains("OpenMP"),
        "{}",
        verdicts[1].detail()
    );
    assert_eq!(verdicts[2].label(), Label::Refused);
    assert!(
        verdicts[2].detail().contains("SIMD"),
        "{}",
        verdicts[2].detail()
    );
}

#[test]
fn all_levels_and_both_compilers_judge_alike() {
    let _turn = turn();
    let compilers = if crate::fixtures::has_clang() {
        vec![Compiler::Gcc, Compiler::Clang]
    } else {
        vec![Compiler::Gcc]
    };
    for compiler in compilers {
        for level in [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3] {
            let mut bench = LocalBench::start(Settings {
                how: How {
                    compiler,
                    opt: level,
                    threads: 2,
                    ..How::default()
                },
                ..brief()
            })
            .unwrap();
            let sources = [
                NAIVE,
                &source("matmul-omp-collapse"),
                &source("matmul-avx512-8x24"),
            ];
            bench
                .submit(
                    sources
                        .iter()
                        .zip(0..)
                        .map(|(source, id)| job(id, "matmul", source))
                        .collect(),
                )
                .unwrap();
            for reply in drain(&mut bench) {
                let verdict = reply.judged.unwrap().verdict;
                assert_eq!(
                    verdict.label(),
                    Label::Correct,
                    "{compiler:?} {level:?} {}: {}",
                    reply.id.0,
                    verdict.detail()
                );
            }
        }
    }
}

#[test]
fn the_papers_way_gives_both_checks_and_both_estimators() {
    let _turn = turn();
    let mut bench = LocalBench::start(settings().like_the_paper()).unwrap();
    let single_precision = NAIVE.replace("double sum = 0", "float sum = 0");
    bench
        .submit(vec![
            job(0, "matmul", NAIVE),
            job(1, "matmul", &single_precision),
        ])
        .unwrap();
    let mut replies = drain(&mut bench);
    replies.sort_by_key(|reply| reply.id);
    let verdict = &replies[0].judged.as_ref().unwrap().verdict;
    let measured = verdict.measured().unwrap();
    assert!(measured.checks.paper && measured.checks.strict);
    assert_eq!(measured.timing.samples, 3);
    assert!(
        (measured.gflops().unwrap() - measured.gflops_paper().unwrap()).abs() < 1e-12,
        "the paper's estimator decides"
    );
    let verdict = &replies[1].judged.as_ref().unwrap().verdict;
    assert_eq!(
        verdict.label(),
        Label::Wrong,
        "inputs in [-1, 1) show single precision even at 105 points"
    );
}

/// A matrix-vector product that sleeps far beyond its limit in its first calls of a process. A
/// candidate that hardly had a processor has most of a second more.
fn dawdling(calls: &str) -> String {
    format!(
        "#include <unistd.h>\nvoid matvec(double *A, double *x, double *y, int M, int N) {{\n\
         static int calls;\nif (M == 512 && calls++ < {calls}) usleep(60000);\n\
         for (int i = 0; i < M; i++) {{ y[i] = 0; for (int j = 0; j < N; j++) y[i] += A[i * N + j] * x[j]; }}\n}}\n"
    )
}

#[test]
fn who_dawdles_in_every_run_is_timed_out_and_who_does_so_once_is_not() {
    let _turn = turn();
    let mut bench = LocalBench::start(Settings {
        // Sixty limits are five runs of the first and sixty of the second.
        limit_s: 0.005,
        ..settings()
    })
    .unwrap();
    let jobs = vec![
        job(0, "matvec", &dawdling("1000000")),
        job(1, "matvec", &dawdling("1")),
    ];
    bench.submit(jobs).unwrap();
    let mut replies = drain(&mut bench);
    replies.sort_by_key(|reply| reply.id);
    let label = |at: usize| replies[at].judged.as_ref().unwrap().verdict.label();
    assert_eq!((label(0), label(1)), (Label::TimedOut, Label::Correct));
}
