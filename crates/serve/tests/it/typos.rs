//! Keys that nobody knows, in any body and any label, are errors that name the key, the known keys
//! and the one meant.

use serde_json::{Value, json};

use crate::fake::{Service, candidate};

fn start() -> Service {
    Service::start(|settings| settings.task = Some("matmul".to_owned()))
}

/// Where a body goes, the body, its wrong key and the key that was meant.
fn typos() -> [(&'static str, Value, &'static str, &'static str); 12] {
    let code = candidate("8 GFLOPS", 0);
    let query = format!("Write it.{code}");
    [
        (
            "/rm",
            json!({"response": code, "label": {"tsk": "fft"}}),
            "tsk",
            "task",
        ),
        (
            "/rm",
            json!({"response": code, "label": "{\"stagee\": 2}"}),
            "stagee",
            "stage",
        ),
        (
            "/rm",
            json!({"response": code, "labell": "matmul"}),
            "labell",
            "label",
        ),
        (
            "/rm",
            json!({"response": code, "label": {"reward": {"shape": "ladder-log", "hihg": 6}}}),
            "hihg",
            "high",
        ),
        (
            "/get_reward",
            json!({"query": [query], "label": ["fft"]}),
            "label",
            "labels",
        ),
        (
            "/get_reward",
            json!({"query": [query], "labels": [{"prompt": "sqd/0/0"}]}),
            "prompt",
            "",
        ),
        (
            "/run_code",
            json!({"code": code, "language": "cpp", "stdn": "fft"}),
            "stdn",
            "stdin",
        ),
        (
            "/v1/judge",
            json!({"tsk": "fft", "candidates": []}),
            "tsk",
            "task",
        ),
        (
            "/v1/judge",
            json!({"candidates": [{"sourse": code}]}),
            "sourse",
            "source",
        ),
        (
            "/v1/prompts",
            json!({"rnu": "sqd", "task": "matmul"}),
            "rnu",
            "run",
        ),
        ("/reset", json!({"tasks": "fft"}), "tasks", "task"),
        ("/step", json!({"action": {"codee": code}}), "codee", "code"),
    ]
}

#[test]
fn a_typo_is_an_error_and_never_another_reward() {
    let service = start();
    for (path, body, wrong, meant) in typos() {
        let (status, told) = service.post(path, &body);
        assert_eq!(status, 400, "{path} {body}: {told}");
        let text = told.to_string();
        assert!(
            text.contains(&format!("unknown key `{wrong}`")),
            "{path}: {told}"
        );
        assert!(text.contains("known keys are `"), "{path}: {told}");
        assert!(
            meant.is_empty() || text.contains(&format!("did you mean `{meant}`?")),
            "{path}: {told}"
        );
    }
    assert_eq!(service.submitted(), 0);
}

#[test]
fn a_reward_has_no_numbers_but_its_own() {
    let service = start();
    let code = candidate("8 GFLOPS", 0);
    let sol = json!({"candidates": [{"source": code}], "reward": {"shape": "sol", "hihg": 6}});
    let (status, told) = service.post("/v1/judge", &sol);
    assert!(
        status == 400 && told.to_string().contains("unknown key `hihg`"),
        "{status}: {told}"
    );
    assert_eq!(service.submitted(), 0);
}

#[test]
fn every_text_has_its_label_or_none_has_one() {
    let service = start();
    let texts = [candidate("8 GFLOPS", 0), candidate("4 GFLOPS", 1)];
    for lists in [
        json!({"query": texts, "labels": ["matmul"]}),
        json!({"query": texts, "labels": []}),
        json!({"query": texts, "labels": ["matmul", "matmul", "matmul"]}),
        json!({"query": texts, "prompts": [""], "labels": ["matmul", "matmul"]}),
    ] {
        let (status, told) = service.post("/get_reward", &lists);
        assert_eq!(status, 409, "{lists}: {told}");
        assert!(
            told["error"].as_str().unwrap().contains("for 2 texts"),
            "{told}"
        );
    }
    assert_eq!(service.submitted(), 0);
    for lists in [
        json!({"query": texts}),
        json!({"query": texts, "labels": ["matmul", ""]}),
        json!({"query": [], "prompts": [], "labels": []}),
    ] {
        assert_eq!(service.post("/get_reward", &lists).0, 200, "{lists}");
    }
}

/// JSON and its schemas make no difference between 4 and 4.0.
#[test]
fn whole_numbers_may_have_a_point_and_other_kinds_are_refused() {
    let service = start();
    let code = candidate("8 GFLOPS", 0);
    let cases = [
        (
            "/rm",
            json!({"response": code, "label": {"stage": 4.0}}),
            200,
        ),
        (
            "/rm",
            json!({"response": code, "label": {"stage": 4.5}}),
            400,
        ),
        (
            "/rm",
            json!({"response": code, "label": {"object": {}}}),
            400,
        ),
        (
            "/v1/prompts",
            json!({"run": "r", "task": "matmul", "n": 2.0}),
            200,
        ),
        ("/v1/prompts", json!({"run": "r", "n": 0.5}), 400),
        ("/v1/judge", json!({"stage": 1.0, "candidates": []}), 200),
        ("/reset", json!({"stage": 6.0, "seed": {}}), 200),
        ("/reset", json!({"stage": 7}), 404),
        (
            "/run_code",
            json!({"code": code, "language": "c", "memory_limit_MB": {}}),
            400,
        ),
        (
            "/v1/judge",
            json!({"reward": {"shape": "ladder-log", "low": 5, "high": 1}, "candidates": []}),
            409,
        ),
    ];
    for (path, body, status) in cases {
        let (got, told) = service.post(path, &body);
        assert_eq!(got, status, "{path} {body}: {told}");
    }
}
