//! Examiner and runner on the emulator of a GPU: honest candidates, cheats, faults, hangs,
//! successors.

use std::path::Path;
use std::process::Command;

/// Candidates, in this order: one that faults or hangs is followed by one that does not.
const NAMES: [&str; 20] = [
    "relu",
    "saxpy",
    "matmul",
    "matmul-one-wrong",
    "spmv",
    "histogram",
    "histogram-in-bytes",
    "sum",
    "sum-fixed-point",
    "relu-through-scratch",
    "relu-half",
    "relu-changes-input",
    "relu-one-past-the-end",
    "relu-far-away",
    "relu-every-fourth-rests",
    "relu-endless",
    "relu-trap",
    "relu-parameters-differ",
    "relu-forged-marks",
    "relu-memset-beyond",
];

#[test]
fn plans_are_judged_on_an_emulated_gpu() {
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
    let _turn = crate::turn();
    let tried = Command::new(env!("CARGO_BIN_EXE_bench-roles"))
        // Loading code means opening files there, which the filter forbids.
        .args(["gpu-trial", "small", "without-seccomp"])
        .args(NAMES)
        .current_dir(&root)
        .env("LD_LIBRARY_PATH", emulator.path())
        .env("EMU_CLOCK", "1")
        .env("EMU_MEMORY", "256")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&tried.stdout);
    let errors = String::from_utf8_lossy(&tried.stderr);
    assert!(
        said.contains("0 verdicts are not as expected"),
        "{said}\n{errors}"
    );
    for name in NAMES {
        assert!(
            said.contains(&format!("   {name} ")),
            "{name}: {said}\n{errors}"
        );
    }
}
