//! Answers for torch, judged on the emulator of a GPU by the real torch on the CPU. Without a Python
//! that has torch nothing is judged.
//!
//! An answer's first line says `# PROBLEM: VERDICT: words of the reason`, with `//` in CUDA.
//! `HOTLOOP_FIXTURE` leaves out those whose names do not hold it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The Python that has torch: the one that `HOTLOOP_TEST_TORCH` names, or that of `.ci/python`.
fn python() -> Option<PathBuf> {
    let from = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = || from("XDG_CACHE_HOME").or_else(|| Some(from("HOME")?.join(".cache")));
    let venv = || from("HOTLOOP_VENV").or_else(|| Some(cache()?.join("hotloop/python")));
    let python = from("HOTLOOP_TEST_TORCH").or_else(|| Some(venv()?.join("bin/python")))?;
    let asked = Command::new(&python)
        .args(["-c", "import importlib.metadata as m; m.version('torch')"])
        .output();
    asked
        .is_ok_and(|said| said.status.success())
        .then_some(python)
}

#[test]
fn answers_are_judged_beside_the_real_torch() {
    let Some(python) = python() else {
        println!("skipped: no Python with torch (`.ci/python prepare` installs one)");
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let emulator = tempfile::tempdir().unwrap();
    let built = Command::new("sh")
        .arg(root.join("crates/policy/tests/cuda_emulator/build.sh"))
        .arg(emulator.path())
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torch");
    let mut answers = expected(&folder.join("judged"));
    // A problem is measured once for answers that follow each other.
    answers.sort_by(|one, next| one.problem.cmp(&next.problem));
    let problem = |answer: &Expected| folder.join(format!("problems/{}.py", answer.problem));
    let pairs = answers.iter().flat_map(|it| [problem(it), it.path.clone()]);
    let _turn = crate::turn();
    let tried = Command::new(env!("CARGO_BIN_EXE_bench-roles"))
        .arg("module-trial")
        .arg(&python)
        .args(pairs)
        .env("LD_LIBRARY_PATH", emulator.path())
        .env("EMU_CLOCK", "1")
        .env("EMU_MEMORY", "1024")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&tried.stdout);
    let errors = String::from_utf8_lossy(&tried.stderr);
    let missed = answers.iter().filter_map(|answer| answer.missed(&said));
    let missed: Vec<String> = missed.collect();
    assert!(missed.is_empty(), "{}\n{errors}", missed.join("\n"));
}

/// What an answer's first line says of it.
struct Expected {
    path: PathBuf,
    problem: String,
    label: String,
    why: String,
}

impl Expected {
    /// How a trial's words differ.
    fn missed(&self, said: &str) -> Option<String> {
        let name = self.path.file_stem().unwrap().to_string_lossy();
        let begin = format!("{name}: ");
        let line = said.lines().find_map(|line| line.strip_prefix(&begin));
        let Some(line) = line else {
            return Some(format!("{name} has no line in {said}"));
        };
        // An emulated GPU shares its processor with other processes, so that its clocks may
        // disagree about what is correct.
        let is_disturbed = self.label == "correct"
            && line.starts_with("suspect")
            && line.contains("the examiner's clock says");
        let is_right = line.starts_with(&self.label) && line.contains(&self.why);
        let Self { label, why, .. } = self;
        (!is_right && !is_disturbed).then(|| format!("{name}: {line}\n    wanted {label}: {why}"))
    }
}

/// The answers of a folder.
fn expected(folder: &Path) -> Vec<Expected> {
    let only = std::env::var("HOTLOOP_FIXTURE").unwrap_or_default();
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.file_stem().unwrap().to_string_lossy().contains(&only));
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let first = text.lines().next().unwrap();
        let first = first.trim_start_matches("# ").trim_start_matches("// ");
        let words: Vec<&str> = first.splitn(3, ':').map(str::trim).collect();
        let [problem, label, why] = words.as_slice() else {
            panic!("{}: {first}", path.display());
        };
        Expected {
            problem: (*problem).to_owned(),
            label: (*label).to_owned(),
            why: (*why).to_owned(),
            path,
        }
    };
    paths.into_iter().map(read).collect()
}
