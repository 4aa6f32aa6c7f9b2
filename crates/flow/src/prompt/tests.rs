use super::*;
use crate::candidate::Candidate;
use crate::language::Language;
use crate::language::c::{scan, stages};
use crate::language::cuda;
use crate::task::TaskFiles;
use crate::verdict::{Mismatch, Phase};

fn matmul() -> Task {
    Task::parse(TaskFiles {
        toml: include_str!("../../../../tasks/matmul/task.toml").into(),
        prompt: include_str!("../../../../tasks/matmul/prompt.md").into(),
        seed: include_str!("../../../../tasks/matmul/seed.c").into(),
        reference: include_str!("../../../../tasks/matmul/reference.c").into(),
        baseline: Some(include_str!("../../../../tasks/matmul/baseline.c").into()),
    })
    .unwrap()
}

fn prose(begin: bool) -> Prose {
    Prose {
        wording: Wording::default(),
        begin,
        device: Device::with_vectors("avx2"),
    }
}

fn user(chat: &Chat) -> &str {
    &chat.messages[1].content
}

#[test]
fn there_are_eight_fixed_prompts() {
    let wording = Wording::default();
    assert_eq!(wording.fixed_count(Language::C), 8);
    assert_eq!(wording.fixed(Language::C, 0), wording.fixed(Language::C, 8));
    for variant in 0..8 {
        let text = wording.fixed(Language::C, variant).unwrap().to_lowercase();
        assert!(
            text.contains("openmp") && text.contains("prefetch") && text.contains("block"),
            "{text}"
        );
    }
}

#[test]
fn a_fixed_prompt_states_the_task_and_has_no_parent() {
    let task = matmul();
    let ask = Ask {
        task: &task,
        role: Role::Explore,
        stage: None,
        variant: 3,
        parent: None,
        beside: &[],
        profile: None,
    };
    let chat = prose(false).chat(&ask);
    assert!(user(&chat).starts_with("Write a fast C function that multiplies"));
    assert!(user(&chat).contains(Wording::default().fixed(Language::C, 3).unwrap()));
    assert!(user(&chat).contains("no AVX-512"));
    assert_eq!(chat.begun, "");
}

#[test]
fn a_repair_prompt_carries_what_went_wrong() {
    let task = matmul();
    let verdicts = [
        (
            Verdict::NotCompiled {
                diagnostics: "line 3: expected ';'".into(),
            },
            "line 3: expected ';'",
        ),
        (
            Verdict::TimedOut {
                limit_s: 8.0,
                during: Phase::Run,
            },
            "did not return within 8 s",
        ),
        (
            Verdict::Crashed {
                how: "signal 11 (segmentation fault)".into(),
            },
            "signal 11",
        ),
        (
            Verdict::Wrong(Mismatch {
                why: "C[3] is 1.5, wanted 2".into(),
                error: 0.25,
                paper: false,
            }),
            "C[3] is 1.5, wanted 2 (relative error 2.5e-1)",
        ),
        (
            Verdict::Refused {
                why: "stage 1 forbids SIMD: line 1 uses `__m512d`".into(),
            },
            "stage 1 forbids SIMD",
        ),
    ];
    for (verdict, expect) in &verdicts {
        let parent = Some(Shown {
            source: "void broken;",
            verdict: Some(verdict),
        });
        let ask = Ask {
            task: &task,
            role: Role::Repair,
            stage: Some(stages::OPENMP),
            variant: 0,
            parent,
            beside: &[],
            profile: None,
        };
        let chat = prose(true).chat(&ask);
        assert!(user(&chat).contains(expect), "{}", user(&chat));
        assert!(user(&chat).contains("```c\nvoid broken;\n```"));
    }
}

#[test]
fn an_endless_message_is_cut_between_characters() {
    let task = matmul();
    let verdict = Verdict::NotCompiled {
        diagnostics: "é".repeat(100_000),
    };
    let parent = Some(Shown {
        source: "x",
        verdict: Some(&verdict),
    });
    let ask = Ask {
        task: &task,
        role: Role::Repair,
        stage: Some(stages::ALL),
        variant: 0,
        parent,
        beside: &[],
        profile: None,
    };
    assert!(user(&prose(true).chat(&ask)).len() < 6000);
}

#[test]
fn the_beginning_of_an_answer_completes_a_bare_body_and_breaks_no_stage() {
    let task = matmul();
    for stage in stages::SIX {
        let parent = Some(Shown {
            source: &task.seed,
            verdict: None,
        });
        let ask = Ask {
            task: &task,
            role: Role::Explore,
            stage: Some(stage),
            variant: 0,
            parent,
            beside: &[],
            profile: None,
        };
        let chat = prose(true).chat(&ask);
        let text = format!("{}    C[0] = A[0] * B[0];\n}}\n```\n", chat.begun);
        let candidate = Candidate::extract(&text, &task).unwrap();
        let rules = task.spec.stages.get(stage).unwrap();
        assert_eq!(rules.violation(&scan(candidate.source())), None);
        assert_eq!(chat.begun.contains("immintrin"), stage >= stages::SIMD);
    }
}

#[test]
fn a_stage_uses_its_own_text_unless_the_wording_has_one() {
    let task = matmul();
    let said = |wording: &Wording| {
        stages::SIX.map(|stage| {
            let rules = task.spec.stages.get(stage).unwrap();
            wording.stage(rules).to_owned()
        })
    };
    let plain = said(&Wording::default());
    assert!(plain[0].starts_with("Use register blocking: keep"));
    let file = format!(
        "{}\n[stages]\n2 = \"Two.\"\nopenmp = \"Four.\"\n",
        include_str!("default.toml")
    );
    let other = said(&Wording::parse(&file).unwrap());
    assert_eq!((other[1].as_str(), other[3].as_str()), ("Two.", "Four."));
    assert_eq!((&other[0], &other[4]), (&plain[0], &plain[4]));
}

#[test]
fn a_cuda_prompt_gives_the_plain_version_and_begins_the_faster_one() {
    let seed = "#include <cuda_runtime.h>\n__global__ void relu() {}\nextern \"C\" void solve(const float* x, float* y, long long n) {}\n";
    let task = Task::parse(TaskFiles {
        toml: include_str!("../../tests/data/relu.toml").into(),
        prompt: "Write fast CUDA C++ code that computes y = max(x, 0).\n".into(),
        seed: seed.into(),
        ..TaskFiles::default()
    })
    .unwrap();
    let stage = Some(cuda::stages::VECTOR_LOADS);
    let ask = Ask {
        task: &task,
        role: Role::Explore,
        stage,
        variant: 0,
        parent: Some(Shown {
            source: &task.seed,
            verdict: None,
        }),
        beside: &[],
        profile: None,
    };
    let gpu = Device::Gpu {
        name: "NVIDIA H200".into(),
        compute_capability: "9.0".into(),
        memory_bytes: 0,
        driver: String::new(),
        clock_mhz: None,
        memory_clock_mhz: None,
        power_limit_w: None,
    };
    let prose = Prose {
        device: gpu,
        ..prose(true)
    };
    let chat = prose.chat(&ask);
    let rules = task.spec.stages.get(cuda::stages::VECTOR_LOADS).unwrap();
    let expect = format!(
        "Write fast CUDA C++ code that computes y = max(x, 0).\n\n{}\n\nThe GPU is an NVIDIA H200 \
         (compute capability 9.0).\n\nThis is a plain and correct version. Write a faster one.\n\n\
         ```cuda\n{}\n```",
        rules.spec.wording,
        seed.trim()
    );
    assert_eq!(user(&chat), expect);
    assert!(chat.messages[0].content.contains("CUDA C++"));
    assert_eq!(
        chat.begun,
        "```cuda\n#include <cuda_runtime.h>\n\n__global__ void relu_fast("
    );
    let rest = "const float* x, float* y, long long n) {}\nextern \"C\" void solve(const float* x, float* y, long long n) {}\n```";
    assert!(Candidate::extract(&format!("{}{rest}", chat.begun), &task).is_ok());
    let fixed = prose.chat(&Ask {
        stage: None,
        parent: None,
        ..ask
    });
    assert!(!user(&fixed).contains("OpenMP"), "{}", user(&fixed));
}

#[test]
fn a_wording_names_its_mistakes() {
    assert!(
        Wording::parse("sytem = \"x\"")
            .unwrap_err()
            .to_string()
            .contains("sytem")
    );
}
