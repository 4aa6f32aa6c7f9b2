use std::io::Write;
use std::process::{Command, Stdio};

use hotloop_corpus::breakage::Breakage;
use hotloop_corpus::{Program, Rng};

use crate::pool;

/// gcc's messages for a source; `None` without a gcc for x86.
fn complaints(source: &str) -> Option<String> {
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    let flags = [
        "-fsyntax-only",
        "-w",
        "-std=gnu17",
        "-fopenmp",
        "-mavx512f",
        "-mavx2",
        "-mfma",
        "-x",
        "c",
        "-",
    ];
    let mut gcc = Command::new("gcc")
        .args(flags)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    gcc.stdin.take()?.write_all(source.as_bytes()).ok()?;
    Some(String::from_utf8_lossy(&gcc.wait_with_output().ok()?.stderr).into_owned())
}

#[test]
fn candidates_compile() {
    for program in pool().programs().step_by(pool().len() / 60) {
        let source = program.source();
        let Some(said) = complaints(&source) else {
            println!("skipped: no gcc for x86-64 here");
            return;
        };
        assert_eq!(said, "", "{source}");
    }
}

#[test]
fn tiles_in_registers_compile_and_are_the_same_otherwise() {
    let tiles: Vec<(&Program, String)> = pool()
        .programs()
        .filter_map(|program| Some((program, program.in_registers()?)))
        .collect();
    for (program, source) in &tiles {
        assert!(source.matches("register ").count() >= 4, "{source}");
        assert_eq!(
            hotloop_corpus::canonical(&source.replace("register ", "")),
            program.source()
        );
        assert!(
            !source.contains("#pragma omp") && !source.contains("s["),
            "{source}"
        );
    }
    for (_, source) in tiles.iter().step_by((tiles.len() / 30).max(1)) {
        let Some(said) = complaints(source) else {
            return;
        };
        assert_eq!(said, "", "{source}");
    }
    assert!(tiles.len() > 20, "{}", tiles.len());
}

#[test]
fn faults_that_the_compiler_finds_have_the_expected_verdict() {
    let mut rng = Rng::new(4, 4);
    let sources: Vec<String> = pool()
        .programs()
        .step_by(pool().len() / 8)
        .map(Program::source)
        .collect();
    for (breakage, word) in [
        (Breakage::Undeclared, "undeclared"),
        (Breakage::MissingSemicolon, "expected"),
    ] {
        for source in &sources {
            let Some(broken) = breakage.apply(source, &mut rng) else {
                continue;
            };
            let Some(said) = complaints(&broken.source) else {
                return;
            };
            assert!(
                said.contains(word),
                "{breakage:?}: {said}\n{}",
                broken.source
            );
        }
    }
}
