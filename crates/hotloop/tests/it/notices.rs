//! `THIRD_PARTY.md` lists the crates in the program, as in `Cargo.lock`.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::Command;

use crate::root;

/// If this variable is set, the test writes the file instead of comparing it.
const WRITE: &str = "HOTLOOP_WRITE_NOTICES";

const HEAD: &str = "\
# Third-party software

The crates that are compiled into the program `hotloop` on Linux on x86-64: name, version, licence \
as the authors state
it, and source. `.ci/third-party` writes this file from `Cargo.lock`, and a test fails when the \
file is out of date.

The standard library of Rust (MIT OR Apache-2.0, https://github.com/rust-lang/rust) comes with the \
compiler.

| crate | version | licence | source |
|---|---|---|---|
";

/// The third-party crates in the program. Macros and build scripts are not part of it.
fn crates() -> BTreeSet<[String; 4]> {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--locked",
            "--package",
            "hotloop",
            "--edges",
            "normal,no-proc-macro",
        ])
        .args([
            "--target",
            "x86_64-unknown-linux-gnu",
            "--prefix",
            "none",
            "--format",
            "{p}\t{l}\t{r}",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("hotloop"));
    let parts = lines.map(|line| {
        // A crate that was listed before ends with a star.
        let [package, licence, source] = line
            .trim_end_matches(" (*)")
            .split('\t')
            .collect::<Vec<_>>()
            .try_into()
            .expect("three columns");
        let mut words = package.split(' ');
        let (name, version) = (
            words.next().unwrap(),
            words.next().unwrap().trim_start_matches('v'),
        );
        [name, version, licence, source.trim_end_matches(".git")].map(str::to_owned)
    });
    parts.collect()
}

#[test]
fn third_party_notices_are_those_of_the_lock_file() {
    let crates = crates();
    assert!(crates.len() > 100, "{} crates", crates.len());
    let mut text = HEAD.to_owned();
    for [name, version, licence, source] in &crates {
        assert!(
            !licence.is_empty() && source.starts_with("https://"),
            "{name}: `{licence}`, `{source}`"
        );
        writeln!(text, "| {name} | {version} | {licence} | {source} |").unwrap();
    }
    let path = root().join("THIRD_PARTY.md");
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let is = std::fs::read_to_string(&path).unwrap_or_default();
    let of = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let (is_lines, should) = (of(&is), of(&text));
    let wrong: Vec<&String> = is_lines.symmetric_difference(&should).take(10).collect();
    assert!(
        is == text,
        "THIRD_PARTY.md is out of date: run .ci/third-party. It differs in {wrong:#?}"
    );
}
