//! Reports of whole runs.

use std::path::{Path, PathBuf};

use hotloop_run::report::page::Paged;
use hotloop_run::report::tensorboard::Tensorboard;
use hotloop_run::report::{Report, csv, text};

use crate::fake::{plan, whole};

/// A folder that stays, so that a person can look at its content.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(fs_err::remove_dir_all(&folder));
    folder
}

fn learned_and_control(folder: &Path, steps: u32) -> Paged {
    let steps = format!("budget.steps={steps}");
    let sets = [steps.as_str(), "loop.probe=32", "sampling.group=16"];
    whole(&plan(&folder.join("learned"), &sets));
    whole(&plan(
        &folder.join("control"),
        &[&sets[..], &["learning.rate=0"]].concat(),
    ));
    Paged::read(&[folder.join("learned"), folder.join("control")]).unwrap()
}

#[test]
fn a_report_is_one_self_contained_page() {
    let folder = folder("reports");
    let both = learned_and_control(&folder, 50);
    let alone = Paged::read(&[folder.join("learned")]).unwrap();
    for (report, name) in [(&both, "both"), (&alone, "alone")] {
        let written = report.write(&folder.join(name)).unwrap();
        assert!(
            written
                .iter()
                .any(|path| path.ends_with("figures/speed.svg"))
        );
        let page = report.html();
        let outside = page.replace("http://www.w3.org/2000/svg", "");
        assert!(
            !outside.contains("http") && !outside.contains(" src=") && !outside.contains("@import")
        );
        assert!(!outside.contains("<link rel=stylesheet") && !page.contains("<!--"));
        // Without JavaScript the page holds the tables.
        let plain = page.split("<noscript>").nth(1).unwrap();
        assert!(plain.contains("probe after: mean speed"));
    }
    let both = both.report;
    let best = both.runs[0].best.as_ref().unwrap();
    assert_eq!(
        best.lineage.last().map(|last| &last.hash),
        Some(&best.hash),
        "the lineage ends at the best"
    );
    assert!(best.lineage.len() >= 2, "and began at the seed");
    assert_eq!(
        (best.features.accumulators, best.features.simd_bits),
        (11, Some(256))
    );
}

#[test]
fn runs_of_one_name_in_two_folders_get_different_names() {
    let folder = folder("namesakes");
    let runs = ["one/run", "two/run"].map(|name| folder.join(name));
    for run in &runs {
        whole(&plan(run, &["budget.steps=2"]));
    }
    let report = Paged::read(&runs).unwrap();
    assert_eq!(
        report
            .report
            .runs
            .iter()
            .map(|run| run.name.as_str())
            .collect::<Vec<_>>(),
        ["one/run", "two/run"]
    );
    let written = report.write(&folder.join("both")).unwrap();
    let different: std::collections::HashSet<_> = written.iter().collect();
    assert_eq!(different.len(), written.len(), "a file was written twice");
    assert!(
        written
            .iter()
            .any(|path| path.ends_with("figures/two-run-verdicts.svg"))
    );
}

#[test]
fn tables_say_the_same_in_text_json_and_csv() {
    let folder = folder("tables");
    let report = learned_and_control(&folder, 10).report;
    let table = text::table(&report);
    assert!(
        table.lines().next().unwrap().contains("learned")
            && table.contains("probe after: mean speed"),
        "{table}"
    );
    let csv = csv::steps(&report);
    assert_eq!(csv.lines().count(), 1 + 10 + 10);
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert!(columns.iter().all(|count| *count == columns[0]));
    let json: serde_json::Value = serde_json::to_value(&report).unwrap();
    assert_eq!(json["runs"][0]["points"].as_array().unwrap().len(), 10);
    assert_eq!(
        json["runs"][1]["after"], json["runs"][1]["before"],
        "the control's probe does not move"
    );
}

#[test]
fn a_step_is_reported_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let (_, state) = whole(&plan(folder.path(), &[]));
    let line = text::step_line(&state).unwrap();
    assert!(
        line.starts_with("step   12  ") && !line.contains('\n'),
        "{line}"
    );
    for word in [
        "reward ",
        "best ",
        "of OpenBLAS",
        "of peak",
        "sampling ",
        "judging ",
        "updating ",
        "idle: policy",
    ] {
        assert!(line.contains(word), "no {word} in {line}");
    }
}

#[test]
fn event_files_hold_every_step_even_after_a_resume() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &[]);
    let (_, state) = whole(&plan);
    let path = folder
        .path()
        .join("tensorboard/events.out.tfevents.0.hotloop");
    let first = fs_err::read(&path).unwrap();
    drop(Tensorboard::create(folder.path(), &state).unwrap());
    assert_eq!(
        fs_err::read(&path).unwrap(),
        first,
        "the same when made anew from the journal"
    );
    let mut records = 0;
    let mut rest = &first[..];
    while !rest.is_empty() {
        let length = u64::from_le_bytes(rest[..8].try_into().unwrap()) as usize;
        rest = &rest[8 + 4 + length + 4..];
        records += 1;
    }
    assert_eq!(records, 1 + 12);
}

#[test]
fn a_run_that_has_hardly_begun_is_reported_too() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &[]);
    let mut process = crate::fake::Process::new(&plan);
    process.stop_after = Some(1);
    let (mut store, lines) = hotloop_run::Store::open(&plan.directory).unwrap();
    process.drive(&plan, &mut store, &lines);
    let paged = Paged::read(std::slice::from_ref(&plan.directory)).unwrap();
    let report = &paged.report;
    assert!(report.runs[0].best.is_none() && report.runs[0].status.starts_with("paused: "));
    assert!(paged.html().contains("\"doing\":\"paused\"") && !text::table(report).contains("NaN"));
}

#[test]
fn seeds_of_one_setting_are_one_line_with_its_spread() {
    let folder = folder("seeds");
    let mut directories = Vec::new();
    for (name, rate) in [("learned", "1e-4"), ("control", "0")] {
        for seed in 1..=3 {
            let directory = folder.join(format!("{name}-{seed}"));
            let sets = [
                format!("seed={seed}"),
                format!("learning.rate={rate}"),
                "budget.steps=20".into(),
            ];
            whole(&plan(
                &directory,
                &sets.iter().map(String::as_str).collect::<Vec<_>>(),
            ));
            directories.push(directory);
        }
    }
    let report = Report::read(&directories).unwrap();
    Paged::read(&directories)
        .unwrap()
        .write(&folder.join("report"))
        .unwrap();
    let figure = fs_err::read_to_string(folder.join("report/figures/reward.svg")).unwrap();
    assert!(figure.contains("learned-1 (3 seeds)") && figure.contains("control-1 (3 seeds)"));
    assert_eq!(figure.matches("fill-opacity").count(), 2);
    let after = |at: usize| report.pooled[at].after.unwrap();
    assert_eq!((report.pooled.len(), after(0).answers), (2, 3 * 6 * 8));
    assert!(
        after(0).speed.low > after(1).speed.high,
        "learning is told apart from its control over seeds"
    );
    assert!(text::table(&report).contains("control-1 (3 seeds)"));
}

#[test]
fn an_unmeasured_divergence_has_no_curve() {
    let folder = tempfile::tempdir().unwrap();
    // Without `learning.beta` the engine has no reference. Old journals say 0 in that case.
    for (beta, kl, drawn) in [
        ("0.1", Some(0.0), true),
        ("0.1", None, false),
        ("0", Some(0.0), false),
    ] {
        let directory = folder.path().join(format!("{beta}-{kl:?}"));
        let plan = plan(
            &directory,
            &[&format!("learning.beta={beta}"), "loop.probe=0"],
        );
        let mut process = crate::fake::Process::new(&plan);
        process.policy.kl = if kl.is_some() {
            |_| Some(0.0)
        } else {
            |_| None
        };
        let (mut store, lines) = hotloop_run::Store::open(&plan.directory).unwrap();
        process.drive(&plan, &mut store, &lines);
        let directories = [directory];
        let report = Report::read(&directories).unwrap();
        assert_eq!(
            report.runs[0].points.iter().any(|point| point.kl.is_some()),
            drawn,
            "{beta} {kl:?}"
        );
        let files = Paged::read(&directories)
            .unwrap()
            .write(&folder.path().join("report"))
            .unwrap();
        assert_eq!(
            files.iter().any(|file| file.ends_with("figures/kl.svg")),
            drawn,
            "{beta} {kl:?}"
        );
    }
}

#[test]
fn only_seeds_on_one_class_of_machine_and_of_one_length_are_pooled() {
    let folder = tempfile::tempdir().unwrap();
    let short = |name: &str, seed: u32, steps: u32, class: Option<&'static str>| {
        let directory = folder.path().join(name);
        let sets = [
            format!("seed={seed}"),
            "budget.steps=4".into(),
            "loop.probe=2".into(),
        ];
        let plan = plan(
            &directory,
            &sets.iter().map(String::as_str).collect::<Vec<_>>(),
        );
        let mut process = crate::fake::Process::new(&plan);
        process.bench.class = class;
        let (mut store, lines) = hotloop_run::Store::open(&plan.directory).unwrap();
        // Runs a few events first, and then to the end, possibly with another budget.
        process.stop_after = (steps != 4).then_some(30);
        process.drive(&plan, &mut store, &lines);
        drop(store);
        if steps != 4 {
            let longer = hotloop_run::Plan::resume(
                &directory,
                &[format!("budget.steps={steps}")],
                &crate::fake::task,
            )
            .unwrap();
            assert_eq!(whole(&longer).1.finished(), u64::from(steps));
        }
        directory
    };
    let (first, second) = (short("first", 1, 4, None), short("second", 2, 4, None));
    let (elsewhere, longer) = (
        short("elsewhere", 3, 4, Some("other")),
        short("longer", 4, 6, None),
    );
    let pooled = |runs: &[&PathBuf]| {
        let runs: Vec<PathBuf> = runs.iter().map(|run| (*run).clone()).collect();
        let names = Report::read(&runs)
            .unwrap()
            .pooled
            .into_iter()
            .map(|pooled| pooled.name);
        names.collect::<Vec<_>>()
    };
    assert_eq!(pooled(&[&first, &second]), ["first (2 seeds)"]);
    assert_eq!(
        pooled(&[&first, &elsewhere]),
        [""; 0],
        "another class of machine"
    );
    assert_eq!(pooled(&[&first, &first]), [""; 0], "the same run twice");
    assert_eq!(
        pooled(&[&first, &longer]),
        [""; 0],
        "a run that got more steps"
    );
    assert_eq!(
        pooled(&[&first, &elsewhere, &first, &longer, &second]),
        ["first (2 seeds)"]
    );
}

#[test]
fn a_run_of_one_step_uses_the_singular() {
    let folder = tempfile::tempdir().unwrap();
    for (steps, told) in [
        ("1", "the only step is done"),
        ("2", "all 2 steps are done"),
    ] {
        let set = format!("budget.steps={steps}");
        let (_, state) = whole(&plan(&folder.path().join(steps), &[&set]));
        assert_eq!(state.ended.as_deref(), Some(told));
    }
}
