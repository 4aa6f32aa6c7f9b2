//! A run that is killed at any point continues as if nothing had happened.

use std::io::ErrorKind;
use std::sync::atomic::Ordering;

use hotloop_flow::random::Random;
use hotloop_run::event::{Made, When};
use hotloop_run::state::Step;
use hotloop_run::{Ended, Event, Interrupt, RunState, Store};

use crate::fake::{Failing, Process, plan, same, same_facts, whole};

/// Drives a run that is killed each time after a number of further bytes in the journal.
fn drive_in_pieces(
    plan: &hotloop_run::Plan,
    mut bytes: impl FnMut() -> usize,
) -> (RunState, usize) {
    let mut kills = 0;
    loop {
        // Everything but the directory dies with the process.
        let mut process = Process::new(plan);
        let left = bytes();
        let opened = Store::open_with(&plan.directory, |sink| {
            Box::new(Failing {
                sink,
                left,
                kind: ErrorKind::BrokenPipe,
            })
        });
        let (mut store, lines) = opened.unwrap();
        let (ended, state) = process.drive(plan, &mut store, &lines);
        match ended {
            Ended::Done(_) => return (state, kills),
            Ended::Paused(Interrupt::Store(_)) => kills += 1,
            Ended::Paused(other) => panic!("{other}"),
        }
        assert!(kills < 10_000, "the run does not get on");
    }
}

#[test]
fn a_hundred_kills_at_random_bytes_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut kills = 0;
    let mut random = Random::new(11);
    for (round, source) in ["sqd", "fixed", "both"].into_iter().cycle().enumerate() {
        let set = format!("prompts.source={source}");
        let overlap = format!("loop.overlap={}", round % 3 != 2);
        let task = if round % 2 == 0 {
            "task=matmul"
        } else {
            "task=matmul, transpose, softmax"
        };
        let sets = [set.as_str(), overlap.as_str(), task, "budget.steps=10"];
        let unbroken = plan(&folder.path().join(format!("unbroken-{round}")), &sets);
        let broken = plan(&folder.path().join(format!("broken-{round}")), &sets);
        let (_, expect) = whole(&unbroken);
        let size = fs_err::metadata(hotloop_run::store::journal_path(&unbroken.directory))
            .unwrap()
            .len() as usize;
        // The pieces are large enough to get past the largest event eventually.
        let (state, killed) = drive_in_pieces(&broken, || random.below(size / 4));
        same(state.clone(), expect);
        same_facts(&broken.directory, &unbroken.directory);
        same(RunState::read(&broken.directory).unwrap(), state);
        kills += killed;
        if kills >= 100 {
            return;
        }
    }
}

#[test]
fn a_kill_after_every_single_event_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let sets = [
        "budget.steps=5",
        "loop.probe=2",
        "sampling.group=4",
        "task=matmul, transpose",
    ];
    let unbroken = plan(&folder.path().join("unbroken"), &sets);
    let (_, expect) = whole(&unbroken);
    let journal = fs_err::read(hotloop_run::store::journal_path(&unbroken.directory)).unwrap();
    let ends: Vec<usize> = journal
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1)
        .collect();
    for (at, end) in ends.iter().enumerate() {
        let broken = plan(&folder.path().join(format!("broken-{at}")), &sets);
        let mut first = Some(*end);
        let (state, _) = drive_in_pieces(&broken, || first.take().unwrap_or(usize::MAX));
        same(state, expect.clone());
        same_facts(&broken.directory, &unbroken.directory);
        fs_err::remove_dir_all(&broken.directory).unwrap();
    }
}

#[test]
fn a_request_to_stop_takes_effect_at_once_and_the_run_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let unbroken = plan(&folder.path().join("unbroken"), &[]);
    let stopped = plan(&folder.path().join("stopped"), &[]);
    let (_, expect) = whole(&unbroken);
    for events in [3, 20, 60, 75, 100] {
        let mut process = Process::new(&stopped);
        process.stop_after = Some(events);
        let (mut store, lines) = Store::open(&stopped.directory).unwrap();
        let (ended, state) = process.drive(&stopped, &mut store, &lines);
        if matches!(ended, Ended::Done(_)) {
            break;
        }
        assert!(process.stop.load(Ordering::Relaxed));
        assert_eq!(state.paused.as_deref(), Some("stopped on request"));
    }
    let (_, state) = whole(&stopped);
    same(state, expect);
    same_facts(&stopped.directory, &unbroken.directory);
}

#[test]
fn a_policy_stopped_in_the_middle_of_anything_leaves_nothing_half_done() {
    let folder = tempfile::tempdir().unwrap();
    for overlap in ["true", "false"] {
        let sets = [&*format!("loop.overlap={overlap}")];
        let unbroken = plan(&folder.path().join(format!("unbroken-{overlap}")), &sets);
        let stopped = plan(&folder.path().join(format!("stopped-{overlap}")), &sets);
        let (_, expect) = whole(&unbroken);
        let mut stops = 0;
        // Every process gets one call further than the one before, whatever it must replay first.
        for calls in 0.. {
            let mut process = Process::new(&stopped);
            process.policy.calls_left = Some(calls);
            let (mut store, lines) = Store::open(&stopped.directory).unwrap();
            match process.drive(&stopped, &mut store, &lines) {
                (Ended::Paused(Interrupt::Stopped), state) => {
                    assert_eq!(state.paused.as_deref(), Some("stopped on request"));
                    stops += 1;
                }
                (Ended::Paused(other), _) => panic!("{other}"),
                (Ended::Done(_), state) => {
                    same(state, expect);
                    break;
                }
            }
        }
        assert!(stops > 5, "{stops} stops are no test");
        same_facts(&stopped.directory, &unbroken.directory);
    }
}

#[test]
fn only_the_last_checkpoints_are_kept_and_they_are_enough() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &["loop.checkpoint-every=2"]);
    let (process, state) = whole(&plan);
    let mut names: Vec<String> = fs_err::read_dir(folder.path().join("checkpoints"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["step-00000010", "step-00000012"]);
    assert_eq!(state.checkpoint, Some(12));
    assert!(state.replay.is_empty());
    let mut again = crate::fake::FakePolicy::new(1.0);
    hotloop_flow::Policy::load(
        &mut again,
        &hotloop_run::store::checkpoint_path(folder.path(), 12),
    )
    .unwrap();
    assert_eq!(again.preferences, process.policy.preferences);
}

#[test]
fn one_process_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = Store::open(folder.path()).unwrap();
    let error = Store::open(folder.path()).map(|_| ()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{} is in use by another process", folder.path().display())
    );
    drop(store);
    assert!(Store::open(folder.path()).is_ok());
}

#[test]
fn a_run_does_not_continue_with_another_task_or_machine() {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan(folder.path(), &[]);
    let mut process = Process::new(&plan);
    process.stop_after = Some(30);
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    process.drive(&plan, &mut store, &lines);
    drop(store);
    let mut other = (*plan.task).clone();
    other.hash = "another".into();
    plan.task = std::sync::Arc::new(other);
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (ended, _) = Process::new(&plan).drive(&plan, &mut store, &lines);
    let Ended::Paused(interrupt) = ended else {
        panic!("{ended:?}")
    };
    assert!(
        interrupt
            .to_string()
            .contains("but task another is in use now"),
        "{interrupt}"
    );
}

#[test]
fn a_run_does_not_continue_with_another_practised_task() {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan(folder.path(), &["task=matmul,transpose"]);
    let mut process = Process::new(&plan);
    process.stop_after = Some(30);
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    process.drive(&plan, &mut store, &lines);
    drop(store);
    let mut other = (*plan.practised[0]).clone();
    other.hash = "another".into();
    plan.practised = vec![std::sync::Arc::new(other)];
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (ended, _) = Process::new(&plan).drive(&plan, &mut store, &lines);
    let Ended::Paused(interrupt) = ended else {
        panic!("{ended:?}")
    };
    assert!(
        interrupt
            .to_string()
            .contains("but practised task transpose another is in use now"),
        "{interrupt}"
    );
}

/// The run file may name a folder of tasks, out of which somebody took one, or into which one came.
#[test]
fn a_run_does_not_continue_with_fewer_or_more_practised_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan(folder.path(), &["task=matmul,transpose,softmax"]);
    let mut process = Process::new(&plan);
    process.stop_after = Some(60);
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    process.drive(&plan, &mut store, &lines);
    drop(store);
    let all = plan.practised.clone();
    let more = [all.clone(), all[..1].to_vec()].concat();
    for (practised, words) in [
        (all[..1].to_vec(), "began with practised task softmax"),
        (all[1..].to_vec(), "began with practised task transpose"),
        (more, "began with no practised task in its place"),
    ] {
        plan.practised = practised;
        let (mut store, lines) = Store::open(&plan.directory).unwrap();
        let (ended, _) = Process::new(&plan).drive(&plan, &mut store, &lines);
        let Ended::Paused(interrupt) = ended else {
            panic!("{ended:?}")
        };
        assert!(interrupt.to_string().contains(words), "{interrupt}");
    }
}

#[test]
fn a_run_continues_from_its_directory_alone_and_only_as_it_began() {
    let folder = tempfile::tempdir().unwrap();
    let (first, moved) = (folder.path().join("first"), folder.path().join("moved"));
    let begun = plan(&first, &[]);
    let mut process = Process::new(&begun);
    process.stop_after = Some(40);
    let (mut store, lines) = Store::open(&first).unwrap();
    process.drive(&begun, &mut store, &lines);
    drop(store);
    fs_err::rename(&first, &moved).unwrap();
    let load = |_: &str| Ok(crate::fake::matmul());
    let other = hotloop_run::Plan::resume(
        &moved,
        &["learning.rate=0.5".into(), "budget.steps=4".into()],
        &load,
    )
    .unwrap();
    let (mut store, lines) = Store::open(&moved).unwrap();
    let (ended, _) = Process::new(&other).drive(&other, &mut store, &lines);
    let Ended::Paused(interrupt) = ended else {
        panic!("{ended:?}")
    };
    assert_eq!(
        interrupt.to_string(),
        "the run in this directory began with other values of learning.rate"
    );
    assert!(interrupt.hint().is_some());
    drop(store);
    let shorter = hotloop_run::Plan::resume(&moved, &["budget.steps=4".into()], &load).unwrap();
    assert_eq!(whole(&shorter).1.finished(), 4);
    let nothing = hotloop_run::Plan::resume(&first, &[], &load).unwrap_err();
    assert!(
        nothing[0].to_string().contains("holds no run"),
        "{}",
        nothing[0]
    );
}

#[test]
fn a_parent_too_long_for_the_policy_is_replaced_by_the_seed() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &["sampling.group=16"]);
    let mut process = Process::new(&plan);
    // Prompts with the seed fit. Prompts with a kernel do not.
    process.policy.longest = Some(1700);
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (ended, state) = process.drive(&plan, &mut store, &lines);
    assert!(matches!(ended, Ended::Done(_)), "{ended:?}");
    let groups = || state.steps.iter().flat_map(|step| &step.groups);
    assert!(groups().any(|group| group.asked.parent.is_none()
        && group.asked.stage > Some(hotloop_flow::language::c::stages::REGISTER_BLOCKING)));
}

#[test]
fn a_longer_budget_withdraws_the_earlier_end() {
    let folder = tempfile::tempdir().unwrap();
    let after = |state: &RunState| {
        state
            .probes
            .iter()
            .filter(|probe| probe.when == When::After)
            .count()
    };
    let short = plan(folder.path(), &["budget.steps=6"]);
    let mut process = Process::new(&short);
    let (mut store, lines) = Store::open(&short.directory).unwrap();
    let mut probed = 0;
    let (_, paused) = process.drive_until(&short, &mut store, &lines, |event| {
        probed +=
            usize::from(matches!(event, Event::ProbeJudged(probe) if probe.when == When::After));
        probed == 3
    });
    assert_eq!(
        (after(&paused), paused.confirmed.len()),
        (3, 3),
        "stopped within the last probe"
    );
    drop(store);
    let long = plan(folder.path(), &["budget.steps=9"]);
    let (process, state) = whole(&long);
    assert_eq!((after(&state), state.finished()), (6, 9));
    let last_step = process
        .seen
        .iter()
        .rposition(|event| matches!(event, Event::StepFinished(_)))
        .unwrap();
    let told = |event: &Event| {
        matches!(
            event,
            Event::ProbeJudged(_) | Event::CandidateConfirmed { .. }
        )
    };
    assert_eq!(
        process.seen[last_step..]
            .iter()
            .filter(|event| told(event))
            .count(),
        6 + 3,
        "all anew"
    );
    assert!(state.confirmed.contains_key(&state.best.unwrap().hash));
}

#[test]
fn an_edited_run_file_is_noticed_and_only_the_end_may_change() {
    let folder = tempfile::tempdir().unwrap();
    let begun = plan(folder.path(), &[]);
    let mut process = Process::new(&begun);
    process.stop_after = Some(40);
    let (mut store, lines) = Store::open(folder.path()).unwrap();
    process.drive(&begun, &mut store, &lines);
    drop(store);
    let file = folder.path().join("run.toml");
    let text = fs_err::read_to_string(&file).unwrap();
    let resumed = |text: &str| {
        fs_err::write(&file, text).unwrap();
        let load = |_: &str| Ok(crate::fake::matmul());
        let plan = hotloop_run::Plan::resume(folder.path(), &[], &load).unwrap();
        let (mut store, lines) = Store::open(folder.path()).unwrap();
        Process::new(&plan).drive(&plan, &mut store, &lines).0
    };
    let edited = text
        .replace("beta = 0.0", "beta = 0.125")
        .replace("group = 8", "group = 9");
    assert_ne!(edited, text);
    let Ended::Paused(interrupt) = resumed(&edited) else {
        panic!("it went on")
    };
    let told = interrupt.to_string();
    assert!(told.contains("learning.beta, sampling.group"), "{told}");
    assert!(interrupt.hint().unwrap().contains("run.toml"));
    let shorter = text.replace("steps = 12", "steps = 4");
    assert_ne!(shorter, text);
    assert!(matches!(resumed(&shorter), Ended::Done(_)));
}

#[test]
fn an_unreadable_configuration_is_not_taken_for_an_equal_one() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &["budget.steps=4"]);
    let mut process = Process::new(&plan);
    process.stop_after = Some(30);
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    process.drive(&plan, &mut store, &lines);
    drop(store);
    let config = plan.directory.join("run.toml");
    fs_err::write(
        &config,
        format!(
            "{}\nrubbish = 1\n",
            fs_err::read_to_string(&config).unwrap()
        ),
    )
    .unwrap();
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (ended, _) = Process::new(&plan).drive(&plan, &mut store, &lines);
    let Ended::Paused(Interrupt::Unreadable(why)) = ended else {
        panic!("{ended:?}")
    };
    assert!(
        why[0].starts_with("run.toml: ") && why[0].contains("rubbish"),
        "{why:?}"
    );
}

#[test]
fn a_candidate_lost_in_a_power_failure_is_not_judged() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &["budget.steps=4"]);
    let (_, expect) = whole(&plan);
    let journal = hotloop_run::store::journal_path(folder.path());
    let whole_journal = fs_err::read_to_string(&journal).unwrap();
    let sampled = whole_journal
        .find("\"event\":\"step_sampled\",\"step\":2")
        .unwrap();
    let end = sampled + whole_journal[sampled..].find('\n').unwrap() + 1;
    fs_err::write(&journal, &whole_journal[..end]).unwrap();
    let state = RunState::read(folder.path()).unwrap();
    let hashes = |step: u64| {
        let answers = state.open[&step]
            .sampled
            .groups
            .iter()
            .flat_map(|group| &group.answers);
        answers.filter_map(|answer| match &answer.made {
            Made::Candidate { hash, .. } => Some(hash),
            Made::Malformed { .. } => None,
        })
    };
    // The program appears in no earlier step, because an earlier step would find the damage first.
    let earlier: Vec<&String> = state
        .steps
        .iter()
        .flat_map(Step::members)
        .flat_map(|member| &member.hash)
        .collect();
    let earlier: Vec<&String> = earlier.into_iter().chain(hashes(1)).collect();
    let lost = hashes(2).rfind(|hash| !earlier.contains(hash)).unwrap();
    let path = folder.path().join("candidates").join(format!("{lost}.c"));
    let source = fs_err::read(&path).unwrap();
    let is_judged = || {
        let judged =
            |event: &Event| matches!(event, Event::CandidateJudged { at, .. } if at.step == 2);
        crate::fake::facts(folder.path()).iter().any(judged)
    };
    for damage in [Some(&b""[..]), Some(&b"\xff\0"[..]), None] {
        match damage {
            Some(bytes) => fs_err::write(&path, bytes).unwrap(),
            None => fs_err::remove_file(&path).unwrap(),
        }
        let (mut store, lines) = Store::open(folder.path()).unwrap();
        let (ended, _) = Process::new(&plan).drive(&plan, &mut store, &lines);
        let Ended::Paused(Interrupt::Store(error)) = ended else {
            panic!("{ended:?}")
        };
        assert_eq!(error.to_string().split(" is lost").next(), path.to_str());
        assert!(
            error.hint().starts_with("restore it from a copy"),
            "{}",
            error.hint()
        );
        assert!(!is_judged(), "nothing of the step is judged");
    }
    // Each of the two remedies works.
    let damaged = fs_err::read_to_string(&journal).unwrap();
    fs_err::write(&path, &source).unwrap();
    same(whole(&plan).1, expect.clone());
    fs_err::write(&path, "").unwrap();
    let first = damaged
        .lines()
        .position(|line| line.contains(lost.as_str()))
        .unwrap();
    let kept: Vec<&str> = damaged.lines().take(first).collect();
    fs_err::write(&journal, format!("{}\n", kept.join("\n"))).unwrap();
    same(whole(&plan).1, expect);
    assert_eq!(fs_err::read(&path).unwrap(), source);
}
