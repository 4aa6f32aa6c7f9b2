//! Reports of whole runs.

use std::path::{Path, PathBuf};

use run::report::tensorboard::Tensorboard;
use run::report::{Report, csv, html, text};

use crate::fake::{plan, whole};

/// A folder that stays, so that a person can look at what is in it.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(fs_err::remove_dir_all(&folder));
    folder
}

/// A PNG file's width and height, from its first chunk.
fn size(path: &Path) -> (u32, u32) {
    let bytes = fs_err::read(path).unwrap();
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes[12..16] == *b"IHDR", "{}", path.display());
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

fn learned_and_control(folder: &Path, steps: u32) -> Report {
    let steps = format!("budget.steps={steps}");
    let sets = [steps.as_str(), "loop.probe=32", "sampling.group=16"];
    whole(&plan(&folder.join("learned"), &sets));
    whole(&plan(&folder.join("control"), &[&sets[..], &["learning.rate=0"]].concat()));
    Report::read(&[folder.join("learned"), folder.join("control")]).unwrap()
}

#[test]
fn a_report_is_one_page_without_anything_from_outside() {
    let folder = folder("reports");
    let both = learned_and_control(&folder, 50);
    let alone = Report { runs: vec![both.runs[0].clone()], pooled: Vec::new() };
    for (report, name) in [(&both, "both"), (&alone, "alone")] {
        let written = report.write(&folder.join(name)).unwrap();
        assert!(written.iter().any(|path| path.ends_with("figures/speed.svg")));
        for drawn in written.iter().filter(|path| path.extension().is_some_and(|extension| extension == "svg")) {
            let painted = drawn.with_extension("png");
            assert!(written.contains(&painted), "no {}", painted.display());
            assert_eq!(size(&painted).0, 1280);
        }
        let page = html::page(report);
        let outside = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!outside.contains("http") && !outside.contains("<script") && !outside.contains("<link"));
        assert!(!page.contains("NaN"));
        for section in
            ["Probe", "Curves", "Best code", "Difference from the seed", "Machine", "From the seed to the best"]
        {
            assert!(page.contains(section), "no {section}");
        }
    }
    let best = both.runs[0].best.as_ref().unwrap();
    assert_eq!(best.lineage.last().map(|last| &last.hash), Some(&best.hash), "the lineage ends at the best");
    assert!(best.lineage.len() >= 2, "and began at the seed");
    assert_eq!((best.features.accumulators, best.features.simd_bits), (11, Some(256)));
}

#[test]
fn tables_say_the_same_in_text_json_and_csv() {
    let folder = folder("tables");
    let report = learned_and_control(&folder, 10);
    let table = text::table(&report);
    assert!(table.lines().next().unwrap().contains("learned") && table.contains("probe after: mean GFLOPS"), "{table}");
    let csv = csv::steps(&report);
    assert_eq!(csv.lines().count(), 1 + 10 + 10);
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert!(columns.iter().all(|count| *count == columns[0]));
    let json: serde_json::Value = serde_json::to_value(&report).unwrap();
    assert_eq!(json["runs"][0]["points"].as_array().unwrap().len(), 10);
    assert_eq!(json["runs"][1]["after"], json["runs"][1]["before"], "the control's probe does not move");
}

#[test]
fn a_step_is_told_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let (_, state) = whole(&plan(folder.path(), &[]));
    let line = text::step_line(&state).unwrap();
    assert!(line.starts_with("step   12  ") && !line.contains('\n'), "{line}");
    for word in ["reward ", "best ", "of OpenBLAS", "of peak", "sampling ", "judging ", "updating ", "idle: policy"] {
        assert!(line.contains(word), "no {word} in {line}");
    }
}

#[test]
fn event_files_hold_every_step_also_after_a_resume() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &[]);
    let (_, state) = whole(&plan);
    let path = folder.path().join("tensorboard/events.out.tfevents.0.hotloop");
    let first = fs_err::read(&path).unwrap();
    drop(Tensorboard::create(folder.path(), &state).unwrap());
    assert_eq!(fs_err::read(&path).unwrap(), first, "the same when made anew from the journal");
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
    let (mut store, lines) = run::Store::open(&plan.directory).unwrap();
    process.drive(&plan, &mut store, &lines);
    let report = Report::read(std::slice::from_ref(&plan.directory)).unwrap();
    assert!(report.runs[0].best.is_none() && report.runs[0].status.starts_with("paused: "));
    assert!(!html::page(&report).contains("NaN") && !text::table(&report).contains("NaN"));
}

#[test]
fn seeds_of_one_setting_are_one_line_with_its_spread() {
    let folder = folder("seeds");
    let mut directories = Vec::new();
    for (name, rate) in [("learned", "1e-4"), ("control", "0")] {
        for seed in 1..=3 {
            let directory = folder.join(format!("{name}-{seed}"));
            let sets = [format!("seed={seed}"), format!("learning.rate={rate}"), "budget.steps=20".into()];
            whole(&plan(&directory, &sets.iter().map(String::as_str).collect::<Vec<_>>()));
            directories.push(directory);
        }
    }
    let report = Report::read(&directories).unwrap();
    report.write(&folder.join("report")).unwrap();
    let figure = fs_err::read_to_string(folder.join("report/figures/reward.svg")).unwrap();
    assert!(figure.contains("learned-1 (3 seeds)") && figure.contains("control-1 (3 seeds)"));
    assert_eq!(figure.matches("fill-opacity").count(), 2);
    let after = |at: usize| report.pooled[at].after.unwrap();
    assert_eq!((report.pooled.len(), after(0).answers), (2, 3 * 6 * 8));
    assert!(after(0).gflops.low > after(1).gflops.high, "learning is told apart from its control over seeds");
    assert!(text::table(&report).contains("control-1 (3 seeds)"));
}
