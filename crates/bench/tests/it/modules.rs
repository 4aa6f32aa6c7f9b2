//! Answers for torch, judged on the emulator of a GPU by the real torch on the CPU. Without a Python
//! that has torch nothing is judged.
//!
//! An answer's first line says `# VERDICT: words of the reason`, or `//` in CUDA.

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
    let entries = std::fs::read_dir(folder.join("judged")).unwrap();
    let mut answers: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    answers.sort();
    let _turn = crate::turn();
    let tried = Command::new(env!("CARGO_BIN_EXE_bench-roles"))
        .arg("module-trial")
        .arg(&python)
        .arg(folder.join("problems/scaled.py"))
        .args(&answers)
        .env("LD_LIBRARY_PATH", emulator.path())
        .env("EMU_CLOCK", "1")
        .env("EMU_MEMORY", "1024")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&tried.stdout);
    let errors = String::from_utf8_lossy(&tried.stderr);
    for path in &answers {
        let text = std::fs::read_to_string(path).unwrap();
        let first = text.lines().next().unwrap();
        let first = first.trim_start_matches("# ").trim_start_matches("// ");
        let (label, why) = first.split_once(':').unwrap();
        let name = path.file_stem().unwrap().to_string_lossy();
        let begin = format!("{name}: ");
        let line = said.lines().find_map(|line| line.strip_prefix(&begin));
        let line = line.unwrap_or_else(|| panic!("{name}: {said}\n{errors}"));
        // An emulated GPU shares its processor with other processes, so that its clocks may
        // disagree about what is correct.
        let is_disturbed = label == "correct"
            && line.starts_with("suspect")
            && line.contains("the examiner's clock says");
        let is_right = line.starts_with(label) && line.contains(why.trim());
        assert!(is_right || is_disturbed, "{name}: {line}\n{said}\n{errors}");
    }
}
