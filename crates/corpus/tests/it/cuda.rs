//! The CUDA candidates: read by the extractor, compiled by NVRTC where it is installed elsewhere,
//! and run on a CPU that plays the GPU.

mod played;

use std::collections::BTreeSet;

use hotloop_corpus::cuda::{self, TASKS};
use hotloop_corpus::nearest::{Tokens, nearest};
use hotloop_flow::language::cuda::split;
use hotloop_flow::task::TaskFiles;
use hotloop_flow::{Candidate, Task};

/// A shipped task.
pub(crate) fn task(name: &str) -> Task {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tasks")
        .join(name);
    let text = |file: &str| fs_err::read_to_string(folder.join(file)).unwrap();
    Task::try_from(TaskFiles {
        toml: text("task.toml"),
        reference: text("reference.cu"),
        prompt: text("prompt.md"),
        seed: text("seed.cu"),
        baseline: None,
    })
    .unwrap()
}

#[test]
fn every_candidate_is_one_to_the_extractor_and_splits_into_halves() {
    for name in TASKS {
        let task = task(name);
        for program in cuda::programs(name, 3, 150) {
            let source = program.source();
            let stem = name.rsplit('/').next().unwrap();
            let begin = format!("#include <cuda_runtime.h>\n\n__global__ void {stem}_fast(");
            assert!(source.starts_with(&begin), "{source}");
            let answer = format!("```cuda\n{source}```");
            let found = Candidate::extract(&answer, &task)
                .unwrap_or_else(|why| panic!("{why:?}\n{source}"));
            assert_eq!(found.source(), source, "nothing is repaired");
            if let Err(why) = split(&source) {
                panic!("{why:?}\n{source}");
            }
        }
    }
}

#[test]
fn spaces_are_wide_and_drawn_by_the_seed_alone() {
    for name in TASKS {
        let sources = |seed| -> BTreeSet<String> {
            cuda::programs(name, seed, 120)
                .iter()
                .map(cuda::Program::source)
                .collect()
        };
        let (one, again, other) = (sources(1), sources(1), sources(2));
        assert_eq!(one.len(), 120, "{name}");
        assert_eq!(one, again);
        assert_ne!(one, other);
    }
}

#[test]
fn every_technique_of_the_spaces_appears() {
    let all: String = TASKS
        .iter()
        .flat_map(|name| cuda::programs(name, 1, 150))
        .map(|program| program.source())
        .collect();
    for word in [
        "__shared__",
        "__shfl_xor_sync",
        "float4",
        "float2",
        "#pragma unroll",
        "__ldg(",
        "__restrict__",
        "__expf",
        "rsqrtf",
        "stride",
        "sum[r][c]",
    ] {
        assert!(all.contains(word), "no candidate has {word}");
    }
}

#[test]
fn a_candidate_is_its_own_nearest() {
    let programs = cuda::programs("cuda/softmax", 1, 100);
    let tokens: Vec<Tokens> = programs
        .iter()
        .map(|program| Tokens::of(&program.source()))
        .collect();
    let (at, distance) = nearest(&tokens[40], &tokens).unwrap();
    assert_eq!(at, 40);
    assert!(distance.written.abs() < 1e-12);
}
