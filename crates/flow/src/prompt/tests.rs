use super::*;
use crate::language::c::extract::Candidate;
use crate::language::c::scan;
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
        simd: "avx2".into(),
    }
}

fn user(chat: &Chat) -> &str {
    &chat.messages[1].content
}

#[test]
fn there_are_eight_fixed_prompts_and_one_for_each_stage() {
    let wording = Wording::default();
    assert_eq!(wording.fixed_count(), 8);
    assert_eq!(wording.fixed(0), wording.fixed(8));
    assert!(
        Stage::ALL
            .into_iter()
            .all(|stage| wording.stage(stage).is_some())
    );
    for variant in 0..8 {
        let text = wording.fixed(variant).unwrap().to_lowercase();
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
    };
    let chat = prose(false).chat(&ask);
    assert!(user(&chat).starts_with("Write a fast C function that multiplies"));
    assert!(user(&chat).contains(Wording::default().fixed(3).unwrap()));
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
            stage: Some(Stage::Openmp),
            variant: 0,
            parent,
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
        stage: Some(Stage::All),
        variant: 0,
        parent,
    };
    assert!(user(&prose(true).chat(&ask)).len() < 6000);
}

#[test]
fn a_begun_answer_makes_a_candidate_of_a_bare_body_and_breaks_no_stage() {
    let task = matmul();
    for stage in Stage::ALL {
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
        };
        let chat = prose(true).chat(&ask);
        let text = format!("{}    C[0] = A[0] * B[0];\n}}\n```\n", chat.begun);
        let candidate = Candidate::extract(&text, &task).unwrap();
        assert_eq!(stage.violation(&scan::scan(&candidate.source)), None);
        assert_eq!(chat.begun.contains("immintrin"), stage >= Stage::Simd);
    }
}

#[test]
fn a_wording_names_its_mistakes() {
    let broken = include_str!("default.toml").replace("6 = ", "7 = ");
    assert_eq!(
        Wording::parse(&broken).unwrap_err().to_string(),
        "stages: `7` names no stage; stages are 1 to 6"
    );
    assert!(
        Wording::parse("sytem = \"x\"")
            .unwrap_err()
            .to_string()
            .contains("sytem")
    );
}
