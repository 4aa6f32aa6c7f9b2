//! The invariants of the repository, tested like code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::root;

/// Maximum number of lines of a source file, including its tests.
const LINES_MAX: usize = 600;

#[test]
fn crates_depend_only_as_the_design_allows() {
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("hotloop-flow", [].as_slice()),
        ("hotloop-bench", &["hotloop-flow"]),
        ("hotloop-policy", &["hotloop-flow"]),
        ("hotloop-run", &["hotloop-flow"]),
        ("hotloop-corpus", &["hotloop-flow"]),
        ("hotloop-serve", &["hotloop-flow", "hotloop-run"]),
        ("hotloop-fleet", &["hotloop-flow", "hotloop-bench"]),
    ]);
    let packages = packages(&["--no-deps"]);
    let ours: BTreeSet<&str> = packages
        .iter()
        .map(|package| package["name"].as_str().unwrap())
        .collect();
    assert!(
        ours.contains("hotloop-flow") && ours.contains("hotloop-bench"),
        "{ours:?}"
    );
    for package in &packages {
        let name = package["name"].as_str().unwrap();
        let inside: Vec<&str> = package["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .map(|dependency| dependency["name"].as_str().unwrap())
            .filter(|dependency| ours.contains(dependency))
            .collect();
        if name == "hotloop" {
            continue;
        }
        let allowed = allowed
            .get(name)
            .unwrap_or_else(|| panic!("the design knows no crate {name}"));
        for dependency in inside {
            assert!(
                allowed.contains(&dependency),
                "{name} must not depend on {dependency}"
            );
        }
    }
}

/// The packages in `cargo metadata`.
fn packages(flags: &[&str]) -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--format-version", "1"])
        .args(flags)
        .current_dir(root())
        .output()
        .unwrap();
    let mut metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    serde_json::from_value(metadata["packages"].take()).unwrap()
}

/// Whether a licence expression lets everybody use, change and redistribute the program.
fn is_permissive(licence: &str) -> bool {
    const PERMISSIVE: [&str; 10] = [
        "MIT",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "ISC",
        "Zlib",
        "Unicode-3.0",
        "0BSD",
        "OFL-1.1",
        // The list of certificate authorities, which is data.
        "CDLA-Permissive-2.0",
    ];
    let plain = licence.replace(['(', ')'], "").replace('/', " OR ");
    let any = |part: &str| {
        part.split(" OR ")
            .any(|one| PERMISSIVE.contains(&one.trim()))
    };
    plain.split(" AND ").all(any)
}

#[test]
fn dependencies_are_free_to_use_and_pass_on() {
    assert!(is_permissive("(MIT OR GPL-3.0) AND ISC") && is_permissive("Apache-2.0 / MIT"));
    assert!(!is_permissive("MIT AND GPL-3.0") && !is_permissive("LGPL-2.1 OR MPL-2.0"));
    let packages = packages(&["--filter-platform", "x86_64-unknown-linux-gnu"]);
    assert!(packages.len() > 100, "{} packages", packages.len());
    for package in packages {
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(is_permissive(licence), "{}: `{licence}`", package["name"]);
    }
}

/// All Rust sources under `folder`.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
    {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn no_source_file_is_too_long() {
    for path in sources(&root().join("crates")) {
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= LINES_MAX, "{} has {lines} lines", path.display());
    }
}

/// Files that write command lines: of compilers, of Slurm, of workers and of a plan's jobs.
const COMMAND_LINES: [&str; 13] = [
    "crates/bench/src/confine.rs",
    "crates/bench/src/cpu/toolchain.rs",
    "crates/bench/src/gpu/compile/",
    "crates/bench/src/gpu/host/linking.rs",
    "crates/bench/src/gpu/host/toolchain.rs",
    "crates/bench/src/gpu/site.rs",
    "crates/bench/src/gpu/trial/",
    "crates/fleet/src/keeper/server.rs",
    "crates/fleet/src/nodes/",
    "crates/fleet/src/server.rs",
    "crates/policy/src/cuda/kernels.rs",
    "crates/run/src/experiment/plan.rs",
    "crates/run/src/report/",
];

#[test]
fn libraries_name_no_flag_of_the_program() {
    let mut named = Vec::new();
    for file in sources(&root().join("crates")) {
        let path = file.strip_prefix(root()).unwrap().display().to_string();
        let is_library = path.contains("/src/") && !path.starts_with("crates/hotloop/");
        if !is_library
            || path.ends_with("tests.rs")
            || COMMAND_LINES.iter().any(|start| path.starts_with(start))
        {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let lines = code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        named.extend(
            lines
                .filter(|line| names_flag(line))
                .map(|line| format!("{path}: {}", line.trim())),
        );
    }
    assert!(
        named.is_empty(),
        "give the error a remedy, and let the program name its flag:\n{}",
        named.join("\n")
    );
}

/// Whether a line holds two dashes before a lower-case letter, and nothing of a word before them.
fn names_flag(line: &str) -> bool {
    line.match_indices("--").any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + 2..].chars().next();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '-')
            && after.is_some_and(|c| c.is_ascii_lowercase())
    })
}

#[test]
fn flags_are_found_in_messages() {
    assert!(names_flag(r#"hint("set --threads 4")"#) && names_flag("`--json`"));
    assert!(!names_flag("// ---- line") && !names_flag("models--a--b") && !names_flag("x -- y"));
}

#[test]
fn only_the_program_prints() {
    for path in sources(&root().join("crates")) {
        let inside = path.strip_prefix(root()).unwrap().display().to_string();
        let is_test = inside.contains("/tests/")
            || inside.ends_with("/tests.rs")
            || inside.contains("/benches/");
        // An example is a separate program, and so is the one that plays roles for tests.
        let is_program = inside.contains("/examples/") || inside.contains("/src/bin/");
        if inside.starts_with("crates/hotloop/") || is_program || is_test {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        // An example in a comment may print.
        let code: String = code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect();
        for word in ["println!(", "eprintln!(", "print!(", "eprint!(", "dbg!("] {
            assert!(!code.contains(word), "{inside} uses {word}");
        }
    }
}

/// Text in single backticks that looks like a path of this repository.
fn paths(text: &str) -> BTreeSet<String> {
    let folders = [
        "crates/",
        "tasks/",
        "docs/",
        "experiments/",
        "python/",
        ".ci/",
    ];
    let is_path = |word: &&str| {
        folders.iter().any(|folder| word.starts_with(folder))
            && !word.contains(['*', '<', '{', ' ', '$'])
            && !word
                .chars()
                .any(|c| c.is_ascii_uppercase() && word.contains(&format!("/{c}{c}")))
    };
    let fences_out: Vec<&str> = text.split("```").step_by(2).collect();
    fences_out
        .iter()
        .flat_map(|part| part.split('`').skip(1).step_by(2))
        .filter(is_path)
        .map(str::to_owned)
        .collect()
}

#[test]
fn paths_in_documents_exist() {
    for page in crate::prose::pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for path in paths(&text) {
            let plain = path.split([':', '#']).next().unwrap_or_default();
            assert!(
                root().join(plain).exists(),
                "{} names `{path}`, which does not exist",
                page.display()
            );
        }
    }
}

#[test]
fn no_merge_was_left_half_done() {
    let marks = ["^<<<<<<< ", "^>>>>>>> "].map(|mark| ["-e", mark]);
    let found = Command::new("git")
        .args(["grep", "--line-number", "-I"])
        .args(marks.as_flattened())
        .current_dir(root())
        .output()
        .unwrap();
    // 1 says that nothing was found, and more that this is no checkout.
    let said = String::from_utf8_lossy(&found.stdout);
    assert!(!found.status.success(), "{said}");
}

#[test]
fn paths_are_found_in_backticks_outside_of_code_blocks() {
    let text = "See `crates/flow/src` and `cargo test`.\n```\n`tasks/none`\n```\nAnd `tasks/*`, `docs/threads.md`.";
    assert_eq!(
        paths(text),
        BTreeSet::from(["crates/flow/src".to_owned(), "docs/threads.md".to_owned()])
    );
}
