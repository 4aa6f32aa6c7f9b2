//! The device halves of the fixtures, cut by a rule of thumb: the bench's own splitter is tested
//! elsewhere.

use hotloop_flow::stage::{Stage, Stages};

use super::*;

/// Classes with members for the host, and macros around a function: the rule of thumb cuts them wrong.
const UNCUT: [&str; 4] = [
    "relu-odd-format",
    "relu-parameters-by-value",
    "relu-runner-class",
    "saxpy-class",
];
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cuda");

/// Blanks the functions and prototypes at the top level that are for the host.
fn device_half(source: &str) -> String {
    let mut text = source.as_bytes().to_vec();
    let tokens: Vec<_> = lex::lex_in(source, Dialect::Cuda)
        .items
        .into_iter()
        .filter_map(|item| match item {
            Item::Token(token) => Some((token.text.into_owned(), token.offset, token.end)),
            Item::Directive(_) => None,
        })
        .collect();
    let mut at = 0;
    while at < tokens.len() {
        let (mut depth, mut end, mut is_function) = (0, at, false);
        while end < tokens.len() {
            match tokens[end].0.as_str() {
                "{" | "(" => depth += 1,
                "}" | ")" => depth -= 1,
                _ => {}
            }
            is_function |= depth == 1 && tokens[end].0 == "(";
            let next = tokens.get(end + 1).map(|token| token.0.as_str());
            let ends = tokens[end].0 == ";" || (tokens[end].0 == "}" && next != Some(";"));
            end += 1;
            if depth == 0 && ends {
                break;
            }
        }
        let words: Vec<&str> = tokens[at..end]
            .iter()
            .map(|token| token.0.as_str())
            .collect();
        let head = words
            .iter()
            .position(|word| *word == "{")
            .unwrap_or(words.len());
        let has = |known: &[&str]| words[..head].iter().any(|word| known.contains(word));
        let is_device = has(&[
            "__global__",
            "__device__",
            "__constant__",
            "struct",
            "namespace",
            "enum",
            "using",
            "typedef",
            "union",
            "class",
            "constexpr",
            "texture",
            "KERNEL",
            "__attribute__",
        ]);
        if is_function && !is_device {
            let end = tokens.get(end - 1).map_or(text.len(), |token| token.2);
            for byte in text[tokens[at].1..end]
                .iter_mut()
                .filter(|byte| **byte != b'\n')
            {
                *byte = b' ';
            }
        }
        at = end;
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn sources(folder: &str) -> Vec<(String, String)> {
    let mut found: Vec<_> = std::fs::read_dir(format!("{FOLDER}/{folder}"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    found.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    found
        .iter()
        .map(|path| {
            (
                name(path),
                String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned(),
            )
        })
        .collect()
}

/// The stage that a source names.
fn named(stages: &Stages, source: &str) -> Option<Stage> {
    let mut lines = source.lines();
    let stage = lines.find_map(|line| line.strip_prefix("// stage: "))?;
    Some(stages.find(stage.trim()).unwrap())
}

/// Judges device halves two at a time, each by its stage.
fn judged(
    compiler: &DeviceCompiler,
    sources: &[(String, String)],
    stage_of: impl Fn(&Stages, &str) -> Option<Stage> + Sync,
) -> Vec<(String, Result<Image, Box<Verdict>>)> {
    let task = crate::tasks::load("cuda/relu").unwrap();
    let stages_of_tasks = stages::default();
    let one = |(name, source): &(String, String)| {
        let stage = stage_of(&stages_of_tasks, source);
        let rules = stage.map(|stage| stages_of_tasks.get(stage).unwrap());
        let stage = rules.map(|rules| staged(rules, &task));
        let made = compiler.compile(&device_half(source), &[], stage, user());
        let made = made.map_err(|error| {
            // Other work on this machine says nothing about the candidate.
            assert!(
                error.what.contains("hardly had a processor"),
                "{name}: {error}"
            );
            eprintln!("skipped: {name} ({error})");
        });
        Some((name.clone(), made.ok()?.map_err(Box::new)))
    };
    std::thread::scope(|scope| {
        let parts = sources.chunks(sources.len().div_ceil(2).max(1));
        let threads: Vec<_> = parts
            .map(|part| scope.spawn(move || part.iter().filter_map(one).collect::<Vec<_>>()))
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    })
}

#[test]
fn every_honest_device_half_compiles() {
    let Some(compiler) = opened() else {
        return;
    };
    let mut honest = sources("honest");
    honest.retain(|(name, _)| !UNCUT.contains(&name.as_str()));
    let failed: Vec<_> = judged(compiler, &honest, named)
        .into_iter()
        .filter_map(|(name, made)| Some(format!("{name}: {}", made.err()?.detail())))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn honest_device_halves_obey_in_ptx_the_stages_that_they_obey_in_their_text() {
    let Some(compiler) = opened() else {
        return;
    };
    let mut honest = sources("honest");
    honest.retain(|(name, _)| !UNCUT.contains(&name.as_str()));
    // Each forbids less than the one before, so that the first one says most.
    let first = |stages: &Stages, source: &str| {
        let scan = cuda::scan(source);
        let obeys = |rules: &Rules<'_>| rules.violation(&scan).is_none();
        stages.iter().find(obeys).map(|rules| rules.stage)
    };
    let refused: Vec<_> = judged(compiler, &honest, first)
        .into_iter()
        .filter_map(|(name, made)| Some(format!("{name}: {}", made.err()?.detail())))
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// Cheats whose device half alone gives them away.
const CHEATS: [&str; 53] = [
    "conv2d-cudnn",
    "histogram-votes",
    "histogram-warp-reduction",
    "matmul-async-copies",
    "matmul-child-kernels",
    "matmul-cublas",
    "matmul-cute",
    "matmul-hidden-tensor-cores",
    "relu-absolute-include",
    "relu-assembly-by-digraph",
    "relu-assembly-by-escape",
    "relu-assembly-by-header-macro",
    "relu-assembly-by-macro",
    "relu-assembly-over-line-ends",
    "relu-assembly-that-forges-marks",
    "relu-bulk-copies",
    "relu-compiler-breaks",
    "relu-constant-too-large",
    "relu-data-as-text",
    "relu-embed",
    "relu-empty-assembly",
    "relu-error-flood",
    "relu-forged-compiler-message",
    "relu-global-array-of-a-terabyte",
    "relu-global-array-of-all-memory",
    "relu-global-array-of-most-memory",
    "relu-has-include-oracle",
    "relu-huge-local-memory",
    "relu-include-by-macro",
    "relu-includes-a-device",
    "relu-includes-itself",
    "relu-line-markers",
    "relu-managed-variable",
    "relu-npp",
    "relu-pch-pragma",
    "relu-prefetch-behind-a-label",
    "relu-prefetch-for-the-next-run",
    "relu-shared-memory-by-extern",
    "relu-static-shared-too-large",
    "relu-template-recursion",
    "relu-texture-reference",
    "relu-two-kernels-of-one-name",
    "relu-vector-loads-behind-a-call",
    "relu-vector-loads-behind-a-comparison",
    "relu-vector-loads-behind-a-sum",
    "relu-vector-loads-by-double",
    "relu-vector-loads-by-high-product",
    "relu-vector-loads-by-struct",
    "relu-vector-stores-of-a-double",
    "saxpy-loads-that-stay-in-l2",
    "scan-thrust",
    "spmv-cusparse",
    "sum-shared-memory-by-attribute",
];

#[test]
fn cheats_of_the_device_half_are_refused_or_not_compiled() {
    let Some(compiler) = opened() else {
        return;
    };
    let mut cheats = sources("cheats");
    cheats.retain(|(name, _)| CHEATS.contains(&name.as_str()));
    assert_eq!(cheats.len(), CHEATS.len());
    let passed: Vec<_> = judged(compiler, &cheats, named)
        .into_iter()
        .filter(|(_, made)| made.is_ok())
        .map(|(name, _)| name)
        .collect();
    assert!(passed.is_empty(), "{passed:?}");
}
