//! Messages arrive as they were sent, and those out of bounds are refused.

use super::*;

fn group() -> Group {
    let task = Arc::new(hotloop_bench::tasks::load("transpose").unwrap());
    let candidate = Candidate::from_source(task.seed.as_bytes(), &task).unwrap();
    let job = Job {
        id: JobId(7),
        task,
        candidate,
        stage: Stage::try_from(2).ok(),
    };
    let terms = Terms::of(&Settings::new("/bin/true".into())).unwrap();
    Group::new("scope", &terms, [("a", &job), ("b", &job)])
}

#[test]
fn a_group_arrives_as_it_was_sent() {
    let sent = group();
    assert_eq!(sent.tasks.len(), 1, "one task travels once");
    let came = Group::read(&sent.bytes()).unwrap();
    assert_eq!(came, sent);
    let jobs = came.jobs().unwrap();
    assert_eq!(jobs.len(), 2);
    assert_eq!(jobs[1].task.spec.name, "transpose");
    assert_eq!(jobs[1].candidate.source(), jobs[1].task.seed);
    let task = hotloop_bench::tasks::load("transpose").unwrap();
    assert_eq!(*jobs[1].task, task, "its hash is the same everywhere");
}

#[test]
fn a_task_that_breaks_a_rule_is_refused() {
    let refused = |from: &str, to: &str| {
        let mut bad = group();
        let toml = bad.tasks[0].toml.replace(from, to);
        assert_ne!(toml, bad.tasks[0].toml);
        bad.tasks[0].toml = toml;
        let read = Group::read(&bad.bytes()).unwrap();
        read.jobs().unwrap_err()
    };
    for name in [
        "../../etc/passwd",
        "a/b/c",
        "a/",
        "",
        "A",
        "a\\u0000b",
        ".",
        "transpose\\n",
    ] {
        let why = refused("name = \"transpose\"", &format!("name = \"{name}\""));
        assert!(why.starts_with("task.toml: name `"), "{name}: {why}");
    }
    let why = refused("entry = \"transpose\"", "entry = \"f(){}int x\"");
    assert!(why.contains("entry"), "{why}");
    let mut module = group();
    module.tasks[0].toml = "name = \"m\"\nsummary = \"s\"\nlanguage = \"torch\"\nclass = \"Model\"\ncost = { bytes = \"0\" }\nverify = { method = \"full\", bound = \"1\", why = \"w\" }\n".to_owned();
    let why = Group::read(&module.bytes()).unwrap().jobs().unwrap_err();
    assert_eq!(why, "tasks in torch cannot be judged by this version");
}

#[test]
fn groups_out_of_bounds_are_refused() {
    let refused = |change: &dyn Fn(&mut Group)| {
        let mut bad = group();
        change(&mut bad);
        Group::read(&bad.bytes()).unwrap_err()
    };
    assert!(refused(&|group| group.version = 9).contains("one hotloop"));
    let old = br#"{"version":1,"what":"another version had other fields"}"#;
    for why in [
        Group::read(old).unwrap_err(),
        GroupReply::read(old).unwrap_err(),
    ] {
        assert!(
            why.starts_with("version 1 of the messages wrote it"),
            "{why}"
        );
    }
    assert!(refused(&|group| group.scope = "a.b".into()).contains("scope"));
    assert!(refused(&|group| group.terms.how.threads = 0).contains("settings"));
    assert!(refused(&|group| group.terms.limit_s = 1e9).contains("settings"));
    assert!(refused(&|group| group.jobs.clear()).contains("jobs"));
    assert!(refused(&|group| group.jobs[0].task = 5).contains("bounds"));
    assert!(refused(&|group| group.jobs[0].id = "*".into()).contains("bounds"));
    assert!(
        refused(&|group| group.jobs[0].source = "x".repeat(SOURCE_BYTES + 1)).contains("bounds")
    );
    assert!(Group::read(b"{}").is_err() && Group::read(b"\xff").is_err());
    assert!(
        Group::read(&vec![b' '; MESSAGE_BYTES + 1])
            .unwrap_err()
            .contains("bytes")
    );
}

#[test]
fn speeds_and_times_must_be_possible() {
    let read = |gflops: Option<f64>, seconds: f64| {
        let verdict = hotloop_flow::Verdict::Correct(hotloop_flow::verdict::Measured::steady(
            gflops, seconds,
        ));
        let judgement = Judgement {
            verdict,
            seconds: hotloop_flow::bench::Seconds::default(),
        };
        let reply = WireReply {
            id: "a".into(),
            judged: Judged::Judgement(judgement),
        };
        GroupReply::read(&GroupReply::new((1, 1), "worker", None, vec![reply]).bytes())
    };
    assert!(read(Some(5.0), 0.001).is_ok());
    assert!(read(None, 0.001).is_ok(), "a task may count no operations");
    for (gflops, seconds) in [
        (Some(-1.0), 0.001),
        (Some(0.0), 0.001),
        (Some(f64::INFINITY), 0.001),
        (Some(f64::NAN), 0.001),
        (Some(5.0), 0.0),
        (None, 0.0),
        (Some(5.0), -1.0),
    ] {
        assert!(
            read(gflops, seconds).is_err(),
            "{gflops:?} GFLOPS, {seconds} s"
        );
    }
}

#[test]
fn a_compilers_path_is_not_sent() {
    let settings = Settings {
        compiler_path: Some("/opt/cc".into()),
        ..Settings::new("/bin/true".into())
    };
    let error = Terms::of(&settings).unwrap_err();
    assert_eq!(
        (error.kind, error.remedies.as_slice()),
        (ErrorKind::User, [Remedy::CompilerPath].as_slice())
    );
}
