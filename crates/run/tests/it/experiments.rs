//! The papers' grids, run small with the fakes.

use std::path::Path;

use hotloop_run::Plan;
use hotloop_run::experiment::grid::{self, Progress};
use hotloop_run::experiment::{self, Output};
use hotloop_run::report::Report;

use crate::fake::{matmul, whole};

fn run_grid(name: &str, folder: &Path, overrides: &[String]) -> Vec<Output> {
    let grid = grid::named(name).unwrap();
    for (setting, progress) in grid.progress(folder) {
        if progress != Progress::Done {
            let layered = setting.configure(0.02, folder, overrides).unwrap();
            whole(&Plan::new(&layered, setting.name, &|_| Ok(matmul())).unwrap());
        }
    }
    assert!(
        grid.progress(folder)
            .iter()
            .all(|(_, progress)| *progress == Progress::Done)
    );
    let directories: Vec<_> = grid
        .settings
        .iter()
        .map(|setting| folder.join(setting.name))
        .collect();
    experiment::outputs(name, &Report::read(&directories).unwrap())
}

#[test]
fn both_grids_give_the_papers_figures_and_tables() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("experiments");
    drop(fs_err::remove_dir_all(&folder));
    for (name, expect) in [
        ("exp1", &["figure-3", "figure-4", "table-3"][..]),
        ("exp2", &["figure-7", "figure-8", "table-2", "table-3"]),
    ] {
        let mut fake = vec!["model=fake".to_owned(), "loop.probe=0".to_owned()];
        if name == "exp2" {
            fake.extend([
                "budget.iterations=3".to_owned(),
                "sampling.group=8".to_owned(),
            ]);
        }
        let outputs = run_grid(name, &folder.join(name), &fake);
        let names: Vec<&str> = outputs
            .iter()
            .map(|output| match output {
                Output::Figure(name, _) | Output::Table(name, _) => *name,
            })
            .collect();
        assert_eq!(names, expect);
        for output in &outputs {
            let files = output.write(&folder.join(name).join("paper")).unwrap();
            let kinds: Vec<_> = files.iter().filter_map(|file| file.extension()).collect();
            let expect = if matches!(output, Output::Figure(..)) {
                vec!["svg"]
            } else {
                vec!["txt", "csv"]
            };
            assert_eq!(kinds, expect);
        }
    }
    let read = |path: &str| fs_err::read_to_string(folder.join(path)).unwrap();
    let table_2 = read("exp2/paper/table-2.txt");
    assert_eq!(table_2.lines().count(), 7, "{table_2}");
    assert!(
        table_2
            .lines()
            .any(|line| line.starts_with("O1, LR=5e-7") && line.ends_with('%')),
        "{table_2}"
    );
    assert_eq!(read("exp1/paper/table-3.txt").lines().count(), 13);
    let figure_3 = read("exp1/paper/figure-3.svg");
    assert_eq!(
        figure_3.matches("stroke-width=\"1.8\"").count(),
        12,
        "one line a setting"
    );
    assert_eq!(figure_3.matches("LR=5e-7").count(), 6);
}

#[test]
fn an_interrupted_grid_continues() {
    let folder = tempfile::tempdir().unwrap();
    let grid = grid::named("exp2").unwrap();
    assert!(
        grid.progress(folder.path())
            .iter()
            .all(|(_, progress)| *progress == Progress::New)
    );
    let setting = grid.settings[0];
    let sets = ["model=fake".to_owned(), "loop.probe=0".to_owned()];
    let layered = setting.configure(0.05, folder.path(), &sets).unwrap();
    let plan = Plan::new(&layered, setting.name, &|_| Ok(matmul())).unwrap();
    let mut process = crate::fake::Process::new(&plan);
    process.stop_after = Some(20);
    let (mut store, lines) = hotloop_run::Store::open(&plan.directory).unwrap();
    process.drive(&plan, &mut store, &lines);
    drop(store);
    assert_eq!(grid.progress(folder.path())[0].1, Progress::Open);
    whole(&plan);
    assert_eq!(grid.progress(folder.path())[0].1, Progress::Done);
}
