//! Other users, missing layers, missing tools.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use hotloop_bench::sandbox::Layer;
use hotloop_bench::{LocalBench, Settings};
use hotloop_flow::{Bench, ErrorKind, How, Label, Remedy};

use crate::fixtures::{self, drain, job};
use crate::{beside, brief, settings, turn, turn_of_one_beside};

fn is_root() -> bool {
    std::fs::metadata("/proc/self")
        .is_ok_and(|data| std::os::unix::fs::MetadataExt::uid(&data) == 0)
}

/// Cheats that the missing layer would stop, and a few others.
const TELLING: [&str; 12] = [
    "read-passwd",
    "read-maps",
    "open-by-label",
    "write-file",
    "dlopen-openblas",
    "fork-bomb",
    "thread-bomb",
    "exec",
    "include-passwd",
    "incbin-library",
    "noop",
    "cache-by-pointer",
];

#[test]
fn without_landlock_or_namespaces_no_cheat_gets_through() {
    let _turn = turn();
    for without in [
        vec![Layer::Landlock],
        vec![Layer::Namespaces],
        vec![Layer::Landlock, Layer::Namespaces, Layer::Watch],
    ] {
        let settings = Settings {
            without: without.clone(),
            ..settings()
        };
        let facts = LocalBench::start(settings.clone()).unwrap().facts();
        assert_eq!(
            facts
                .sandbox
                .iter()
                .any(|layer| layer.starts_with("landlock")),
            !without.contains(&Layer::Landlock)
        );
        let cheats: Vec<_> = fixtures::load("cheats")
            .into_iter()
            .filter(|cheat| TELLING.iter().any(|name| cheat.name.contains(name)))
            .collect();
        assert!(
            cheats.len() >= TELLING.len(),
            "every name has its file: {}",
            cheats.len()
        );
        for (cheat, judgement) in cheats.iter().zip(fixtures::judge(&settings, &cheats)) {
            assert_ne!(
                judgement.verdict.label(),
                Label::Correct,
                "{} without {without:?}",
                cheat.name
            );
        }
        let honest: Vec<_> = fixtures::load("honest")
            .into_iter()
            .filter(|candidate| candidate.name.contains("omp"))
            .take(4)
            .collect();
        let settings = Settings {
            without: without.clone(),
            ..brief()
        };
        for (candidate, judgement) in honest.iter().zip(fixtures::judge(&settings, &honest)) {
            let detail = judgement.verdict.detail();
            assert_eq!(
                judgement.verdict.label(),
                Label::Correct,
                "{} without {without:?}: {detail}",
                candidate.name
            );
        }
    }
}

#[test]
fn without_seccomp_nothing_is_judged() {
    let _beside = beside();
    let error = LocalBench::start(Settings {
        without: vec![Layer::Seccomp],
        ..settings()
    })
    .err()
    .unwrap();
    assert!(error.what.contains("seccomp") && error.hint.is_some());
}

#[test]
fn a_missing_compiler_is_an_error_with_a_remedy() {
    let _beside = beside();
    let path = Some("/nonexistent/gcc".into());
    let error = LocalBench::start(Settings {
        compiler_path: path,
        ..settings()
    })
    .err()
    .unwrap();
    assert!(error.what.contains("/nonexistent/gcc"), "{error}");
}

/// A gcc that cannot start a process while the file `crowded` exists.
#[test]
fn a_compiler_that_can_start_no_process_is_a_machine_error_and_nothing_is_kept() {
    let room = tempfile::tempdir().unwrap();
    let (gcc, crowded) = (room.path().join("gcc"), room.path().join("crowded"));
    let limited = "if (ulimit -u 1) 2>/dev/null; then ulimit -u 1; else ulimit -p 1; fi";
    let script = format!(
        "#!/bin/sh\nif [ -e {} ]; then {limited}; fi\nexec gcc \"$@\"\n",
        crowded.display()
    );
    std::fs::write(&gcc, script).unwrap();
    for path in [room.path(), &gcc] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let _beside = beside();
    let (compiler_path, without) = (Some(gcc), vec![Layer::Landlock]);
    let mut bench = LocalBench::start(Settings {
        compiler_path,
        without,
        ..settings()
    })
    .unwrap();
    let seed = hotloop_bench::tasks::load("transpose").unwrap().seed;
    let source = format!("{seed}\n// {}\n", std::process::id());
    let mut judged = || {
        bench.submit(vec![job(0, "transpose", &source)]).unwrap();
        drain(&mut bench).remove(0).judged
    };
    std::fs::write(&crowded, "").unwrap();
    let error = judged().unwrap_err();
    assert!(
        error.what.contains("cannot start its processes") && error.hint.is_some(),
        "{error}"
    );
    std::fs::remove_file(&crowded).unwrap();
    // The turn starts only now, because gcc slept between its attempts most of the time.
    let _turn = turn_of_one_beside();
    let verdict = judged().unwrap().verdict;
    assert_eq!(verdict.label(), Label::Correct, "{}", verdict.detail());
}

#[test]
fn too_many_threads_are_named() {
    let _beside = beside();
    let error = LocalBench::start(Settings {
        how: How {
            threads: 5000,
            ..How::default()
        },
        ..settings()
    })
    .err()
    .unwrap();
    assert_eq!(error.kind, ErrorKind::User);
    assert!(error.what.contains("5000") && error.remedies.contains(&Remedy::Threads));
}

#[test]
fn a_frozen_supervisor_is_a_machine_error_and_the_next_job_is_judged() {
    let _beside = beside();
    // A reference that never returns represents any failure of the trusted side. It sleeps, so that
    // others can judge.
    let mut task = hotloop_bench::tasks::load("transpose").unwrap();
    let never = "#include <unistd.h>\nvoid reference(const double *in, double *out, double *scale, int M, int N) { for (;;) pause(); }";
    task.reference = never.into();
    task.hash = "endless".into();
    // There is one examiner, so the one that was frozen also examines the next candidate.
    let mut bench = LocalBench::start(Settings {
        limit_s: 0.2,
        jobs: 1,
        ..settings()
    })
    .unwrap();
    let mut endless = job(0, "transpose", &task.seed.clone());
    endless.task = std::sync::Arc::new(task);
    let seed = hotloop_bench::tasks::load("transpose").unwrap().seed;
    bench
        .submit(vec![endless, job(1, "transpose", &seed)])
        .unwrap();
    let mut replies = drain(&mut bench);
    replies.sort_by_key(|reply| reply.id);
    let queued = replies.remove(1).judged.unwrap().verdict;
    let error = replies.remove(0).judged.unwrap_err();
    assert!(error.what.contains("did not answer"), "{error}");
    bench.submit(vec![job(2, "transpose", &seed)]).unwrap();
    let next = drain(&mut bench).remove(0).judged.unwrap().verdict;
    for verdict in [queued, next] {
        assert_eq!(verdict.label(), Label::Correct, "{}", verdict.detail());
    }
}

#[test]
fn a_mistake_in_the_clock_costs_one_job_its_verdict_and_no_other() {
    let _turn = turn();
    // A task that `Task::parse` would refuse represents any mistake that shows only when a
    // candidate is timed.
    let mut task = hotloop_bench::tasks::load("transpose").unwrap();
    task.spec.cost.flops = Some("unknown".into());
    task.hash = "mistaken".into();
    let mut bench = LocalBench::start(settings()).unwrap();
    let mut mistaken = job(0, "transpose", &task.seed.clone());
    mistaken.task = std::sync::Arc::new(task);
    bench
        .submit(vec![
            mistaken,
            job(
                1,
                "transpose",
                &hotloop_bench::tasks::load("transpose").unwrap().seed,
            ),
        ])
        .unwrap();
    let mut replies = drain(&mut bench);
    replies.sort_by_key(|reply| reply.id);
    let error = replies[0].judged.as_ref().unwrap_err();
    assert!(error.what.contains("timing a candidate failed"), "{error}");
    assert_eq!(
        replies[1].judged.as_ref().unwrap().verdict.label(),
        Label::Correct
    );
}

/// Clusters raise the stack limit, and every thread of a process would reserve that much.
#[test]
fn a_raised_stack_limit_changes_no_verdict() {
    let _turn = turn();
    let raised = "ulimit -s 4194304 || exit 77; exec \"$@\"";
    for (suite, fixture) in [
        ("every_honest_candidate_is_correct", "matmul-omp-collapse"),
        ("no_cheat_is_correct", "recursion-bomb"),
    ] {
        let output = Command::new("sh")
            .args(["-c", raised, "sh"])
            .arg(std::env::current_exe().unwrap())
            .args([suite, "--nocapture"])
            .env("HOTLOOP_FIXTURE", fixture)
            .output()
            .unwrap();
        if output.status.code() == Some(77) {
            return; // this user may not raise it
        }
        let said = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{said}\n{complaint}"
        );
    }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

/// Runs the suites again as an unprivileged user. Only root can become one.
#[test]
fn an_unprivileged_user_judges_the_same() {
    if !is_root() {
        return;
    }
    let _turn = turn();
    let room = tempfile::tempdir().unwrap();
    std::fs::set_permissions(room.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    for folder in ["cheats", "honest"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests")
            .join(folder);
        copy_folder(&from, &room.path().join("fixtures").join(folder));
    }
    let roles = room.path().join("roles");
    let suites = room.path().join("suites");
    // Another process copies the files. If this one had them open for writing, a fork in another
    // thread would keep them busy.
    for (from, to) in [
        (env!("CARGO_BIN_EXE_bench-roles").into(), &roles),
        (std::env::current_exe().unwrap(), &suites),
    ] {
        assert!(
            Command::new("cp")
                .arg(from)
                .arg(to)
                .status()
                .unwrap()
                .success()
        );
    }
    let output = Command::new(&suites)
        .args([
            "no_cheat_is_correct",
            "every_honest_candidate_is_correct",
            "--nocapture",
        ])
        .env("HOTLOOP_TEST_ROLES", &roles)
        .env("HOTLOOP_TEST_FIXTURES", room.path().join("fixtures"))
        .env("HOTLOOP_CACHE", room.path().join("cache"))
        .env("HOTLOOP_TEST_BRIEF", "honest candidates on several threads")
        .env("TMPDIR", room.path())
        .current_dir("/")
        .uid(65_534)
        .gid(65_534)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.contains("2 passed"),
        "{said}\n{complaint}"
    );
}

/// What a compiler does not do, its exit status says; so a complaint that got lost must not end in
/// one.
#[test]
fn a_confined_role_that_cannot_complain_is_killed_and_says_nothing_of_the_source() {
    use std::os::unix::process::ExitStatusExt;
    let ended = |report: std::fs::File| {
        let mut role = Command::new(settings().roles);
        role.args(["__confine", "no confinement", "cc"])
            .stdin(report);
        role.status().unwrap()
    };
    let full = std::fs::File::options().write(true).open("/dev/full");
    assert_eq!(ended(full.unwrap()).signal(), Some(9));
    let nowhere = std::fs::File::options().write(true).open("/dev/null");
    assert_eq!(ended(nowhere.unwrap()).code(), Some(1));
}
