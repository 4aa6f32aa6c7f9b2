//! Folders of pairs whose sides were judged. The verdicts are made up here; those of a bench are in
//! the tests of the program.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hotloop_corpus::pairs::{
    Built, Harness, Mark, Options, Own, RunError, Runs, Tools, build, read, write,
};
use hotloop_flow::verdict::Mismatch;
use hotloop_flow::{Job, Measured, Verdict};

fn ours(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/pairs")
        .join(part)
}

/// A folder of our own pairs.
fn folder(at: &Path) -> PathBuf {
    let options = Options {
        own: Some(Own::Folders {
            slow: ours("slow"),
            fast: ours("fast"),
        }),
        max_tokens: 4096,
        ..Options::default()
    };
    let tools = Tools {
        compiler: None,
        writer: None,
        tokens: &|text| text.len() / 4,
        progress: &|_| {},
    };
    let out = at.join("pairs");
    write(&build(&options, tools).unwrap(), &out).unwrap();
    out
}

/// The verdicts on a task's slow side and fast side, by its name.
type Verdicts = BTreeMap<&'static str, [Verdict; 2]>;

fn right(seconds: f64) -> Verdict {
    Verdict::Correct(Measured::steady(None, seconds))
}

fn wrong() -> Verdict {
    Verdict::Wrong(Mismatch {
        why: "y[0] is 1 but should be 2".to_owned(),
        error: 1.0,
        paper: false,
    })
}

/// Runs a folder's pairs with these verdicts. Returns what is known then, and how often it judged.
fn ran(out: &Path, verdicts: &Verdicts, keep_slower: bool) -> (Built, usize) {
    let harnesses = Harness::below(&ours("harnesses")).unwrap();
    let runs = Runs {
        harnesses: &harnesses,
        rounds: 6,
        keep_slower,
        machine: "class",
        device: "a GPU",
    };
    let judged = RefCell::new(0);
    let mut judge = |job: Job| {
        *judged.borrow_mut() += 1;
        let of = &verdicts[&*job.task.spec.name];
        // The fast polynomial multiplies by `at`; the fast `reverse` leaves a pair of two out.
        let source = job.candidate.source();
        let is_fast = source.contains("float at =") || source.contains("n - 2 - i");
        Ok::<_, ()>(of[usize::from(is_fast)].clone())
    };
    let built = runs.of_folder(out, &mut judge, &|_| {}).unwrap();
    (built, judged.into_inner())
}

fn marks(built: &Built) -> Vec<Option<Mark>> {
    let records = built.records.iter();
    records
        .map(|record| record.run.as_ref().map(|ran| ran.mark))
        .collect()
}

fn chats(out: &Path) -> usize {
    let count = |name| {
        fs_err::read_to_string(out.join(name))
            .unwrap()
            .lines()
            .count()
    };
    count("train.jsonl") + count("held-out.jsonl")
}

#[test]
fn what_is_not_faster_is_dropped_unless_it_is_to_stay() {
    let root = tempfile::tempdir().unwrap();
    let out = folder(root.path());
    assert_eq!(chats(&out), 3);
    let verdicts = Verdicts::from([
        ("own/polynomial", [right(1.0), right(2.0)]),
        ("own/reverse", [right(1.0), right(1.0)]),
    ]);
    let (built, judged) = ran(&out, &verdicts, false);
    assert_eq!(judged, 24);
    assert_eq!(
        marks(&built),
        [None, Some(Mark::Slower), Some(Mark::AsFast)]
    );
    let slower = built.records[1].run.as_ref().unwrap();
    let speedup = slower.speedup.unwrap();
    assert!((speedup.value - 0.5).abs() < 1e-12 && slower.equal == Some(true));
    assert_eq!(chats(&out), 1, "only the pair without a harness is left");
    let why = built.records[1].dropped.as_deref();
    assert_eq!(why, Some("its fast side is not faster"));
    let (kept, judged) = ran(&out, &verdicts, true);
    assert_eq!((judged, chats(&out)), (0, 3), "nothing is judged again");
    assert_eq!(kept.summary.runs.unwrap().dropped, 0);
}

#[test]
fn a_wrong_fast_side_is_unequal_and_a_wrong_slow_side_proves_nothing() {
    let root = tempfile::tempdir().unwrap();
    let out = folder(root.path());
    let verdicts = Verdicts::from([
        ("own/polynomial", [right(2.0), wrong()]),
        ("own/reverse", [wrong(), right(1.0)]),
    ]);
    let (built, judged) = ran(&out, &verdicts, true);
    assert_eq!(judged, 4, "one round shows it");
    assert_eq!(
        marks(&built),
        [None, Some(Mark::Unequal), Some(Mark::Unproven)]
    );
    let equal = |at: usize| built.records[at].run.as_ref().unwrap().equal;
    assert_eq!((equal(1), equal(2)), (Some(false), None));
    assert_eq!(chats(&out), 2);
    let card = fs_err::read_to_string(out.join("README.md")).unwrap();
    assert!(
        card.contains("| unproven | 1 |") && card.contains("2 of 3 pairs"),
        "{card}"
    );
}

#[test]
fn a_torn_line_is_run_again_and_other_circumstances_are_run_anew() {
    let root = tempfile::tempdir().unwrap();
    let out = folder(root.path());
    let verdicts = Verdicts::from([
        ("own/polynomial", [right(2.0), right(1.0)]),
        ("own/reverse", [right(1.0), wrong()]),
    ]);
    let (first, _) = ran(&out, &verdicts, false);
    let journal = out.join("runs.jsonl");
    let text = fs_err::read_to_string(&journal).unwrap();
    fs_err::write(&journal, &text[..text.len() - 9]).unwrap();
    let (again, judged) = ran(&out, &verdicts, false);
    assert_eq!(judged, 2, "the second pair alone");
    assert_eq!(again, first);
    assert_eq!(read(&out).unwrap(), first);
    // A failure of the machine changes nothing but the journal.
    let harnesses = Harness::below(&ours("harnesses")).unwrap();
    let runs = Runs {
        harnesses: &harnesses,
        rounds: 7,
        keep_slower: false,
        machine: "class",
        device: "a GPU",
    };
    let mut fails = |_: Job| Err::<Verdict, _>("no GPU");
    let failed = runs.of_folder(&out, &mut fails, &|_| {});
    assert!(matches!(failed, Err(RunError::Judging("no GPU"))));
    assert_eq!(read(&out).unwrap(), first);
}
