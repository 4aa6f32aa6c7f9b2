//! `KernelGYM`'s evaluations: what its client sends, and what it reads.

use std::sync::atomic::Ordering;
use std::time::Duration;

use hotloop_serve::{Problems, Settings};
use serde_json::{Value, json};

use crate::fake::Service;

const PROBLEM: &str = "import torch\n\n\nclass Model(torch.nn.Module):\n    pass\n";

fn with_problem(settings: &mut Settings) {
    settings.problems = Some(Problems {
        texts: vec![PROBLEM.to_owned()],
        any: false,
    });
}

fn start() -> Service {
    Service::start(|settings| {
        settings.limits.wait = Duration::from_secs(20);
        with_problem(settings);
    })
}

/// A module that the bench will say this of, under a name, as the client sends it.
fn module(name: &str, said: &str) -> Value {
    json!({
        "task_id": name, "reference_code": PROBLEM, "kernel_code": format!("class ModelNew: /* {said} */"),
        "backend": "triton", "num_correct_trials": 5, "num_perf_trials": 100, "timeout": 600,
        "priority": "normal", "entry_point": "Model", "is_valid": false, "verbose_errors": true,
        "enable_profiling": true, "detect_decoy_kernel": true, "reference_backend": null,
    })
}

fn with(mut body: Value, key: &str, value: Value) -> Value {
    body[key] = value;
    body
}

/// The status, the reason in the first line, and the answer.
fn evaluate(service: &Service, body: &Value) -> (u16, String, Value) {
    let bytes = body.to_string();
    let (status, head, body) = service.send("POST", "/evaluate", &[], Some(bytes.as_bytes()));
    let reason = head.lines().next().unwrap().splitn(3, ' ').nth(2).unwrap();
    let answer = serde_json::from_slice(&body).unwrap();
    (status, reason.to_owned(), answer)
}

#[test]
fn a_module_is_judged_and_its_results_are_kept() {
    let service = start();
    let (status, _, answer) = evaluate(&service, &module("t-1", "3 times torch"));
    assert_eq!(status, 200, "{answer}");
    assert_eq!(
        (&answer["status"], &answer["task_id"]),
        (&json!("completed"), &json!("t-1"))
    );
    assert_eq!(
        (&answer["compiled"], &answer["correctness"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(answer["decoy_kernel"], false);
    assert_eq!(answer["kernel_runtime"], 2.0, "in milliseconds");
    assert_eq!(answer["reference_runtime"], 6.0);
    assert_eq!(answer["speedup"], 3.0);
    assert_eq!(service.get("/status/t-1").1["status"], "completed");
    assert_eq!(service.get("/results/t-1"), (200, answer));

    let wrong = evaluate(&service, &module("t-2", "wrong")).2;
    assert_eq!(
        (&wrong["status"], &wrong["compiled"]),
        (&json!("completed"), &json!(true))
    );
    assert_eq!(
        (&wrong["correctness"], &wrong["speedup"]),
        (&json!(false), &json!(0.0))
    );
    let message = wrong["error_message"].as_str().unwrap();
    assert_eq!(message, "wrong: element 3 is wrong");

    let suspect = evaluate(&service, &module("t-3", "suspect")).2;
    assert_eq!(
        (&suspect["correctness"], &suspect["speedup"]),
        (&json!(true), &json!(0.0))
    );
    assert_eq!(
        suspect["kernel_runtime"],
        Value::Null,
        "a speed that nobody believes is not told"
    );
    assert_eq!(service.submitted(), 3);
    let again = evaluate(&service, &module("t-4", "3 times torch")).2;
    assert_eq!(
        (&again["task_id"], &again["speedup"]),
        (&json!("t-4"), &json!(3.0))
    );
    assert_eq!(service.submitted(), 3, "the same module is judged once");
    assert_eq!(service.get("/status/none").0, 404);
    assert_eq!(service.get("/results/none").0, 404);
}

#[test]
fn a_machine_failure_is_never_completed() {
    let service = start();
    let (status, _, answer) = evaluate(&service, &module("t", "machine failure"));
    assert_eq!(status, 503, "its client tries again: {answer}");
    let (_, stands) = service.get("/status/t");
    assert_eq!(stands["status"], "failed");
    assert_eq!(stands["error_message"], "the machine tripped");
    assert_eq!(service.get("/results/t").1["compiled"], Value::Null);
    let before = service.submitted();
    assert_eq!(evaluate(&service, &module("t", "machine failure")).0, 503);
    assert!(service.submitted() > before, "it is a new attempt");
}

#[test]
fn what_takes_longer_is_asked_for_later() {
    let service = Service::start(|settings| {
        settings.limits.wait = Duration::from_millis(50);
        with_problem(settings);
    });
    service.control.held.store(true, Ordering::SeqCst);
    let body = module("t", "3 times torch");
    let (status, _, answer) = evaluate(&service, &body);
    assert_eq!((status, &answer["status"]), (200, &json!("processing")));
    assert_eq!(answer["compiled"], Value::Null);
    assert_eq!(service.get("/status/t").1["status"], "processing");
    assert_eq!(service.get("/results/t").0, 404);
    let (status, reason, _) = evaluate(&service, &module("t", "wrong"));
    assert_eq!(status, 409, "{reason}");
    assert_eq!(evaluate(&service, &body).0, 200, "the same joins it");
    service.control.held.store(false, Ordering::SeqCst);
    service.wait(|service| service.get("/status/t").1["status"] == "completed");
    assert_eq!(service.get("/results/t").1["speedup"], 3.0);
    assert_eq!(service.submitted(), 1);
    assert_eq!(
        evaluate(&service, &module("t", "wrong")).0,
        200,
        "it has ended"
    );
}

#[test]
fn an_evaluation_that_nobody_asks_for_is_cancelled() {
    let service = Service::start(|settings| {
        settings.limits.wait = Duration::from_millis(20);
        settings.limits.abandon = Duration::from_millis(200);
        with_problem(settings);
    });
    service.control.held.store(true, Ordering::SeqCst);
    assert_eq!(evaluate(&service, &module("t", "3 times torch")).0, 200);
    assert_eq!(service.get("/health").1["waiting"], 1);
    service.wait(|service| service.get("/health").1["waiting"] == 0);
    assert_eq!(service.get("/status/t").0, 404);
}

#[test]
fn only_the_problems_that_the_operator_named_run() {
    let service = Service::start(|_| {});
    let (status, reason, _) = evaluate(&service, &module("t", "3 times torch"));
    let wanted = "kernelgym evaluates pytorch modules, and this service judges none";
    assert_eq!(status, 404);
    assert!(
        reason.starts_with(wanted),
        "the client shows only this: {reason}"
    );

    let service = start();
    let spaced = PROBLEM.replace("torch\n", "torch  \r\n");
    let spaced = with(
        module("t", "3 times torch"),
        "reference_code",
        json!(spaced.trim_end()),
    );
    assert_eq!(
        evaluate(&service, &spaced).0,
        200,
        "blanks at ends do not matter"
    );
    let own = json!("import os\nos.system('true')\nclass Model: pass");
    let own = with(module("u", "3 times torch"), "reference_code", own);
    let (status, reason, _) = evaluate(&service, &own);
    assert_eq!(status, 404);
    assert!(
        reason.contains("is not a problem that this service judges"),
        "{reason}"
    );
    assert_eq!(service.submitted(), 1);

    let service = Service::start(|settings| {
        settings.problems = Some(Problems {
            texts: Vec::new(),
            any: true,
        });
        settings.tokens = vec!["0123456789abcdef".to_owned()];
    });
    let asked = own.to_string();
    let token = [("authorization", "Bearer 0123456789abcdef")];
    let (status, _, _) = service.send("POST", "/evaluate", &token, Some(asked.as_bytes()));
    assert_eq!(status, 200);
    assert_eq!(
        service
            .send("POST", "/evaluate", &[], Some(asked.as_bytes()))
            .0,
        401
    );
}

#[test]
fn requests_that_nothing_here_can_do_are_refused() {
    let service = start();
    let fine = || module("t", "3 times torch");
    let cases = [
        (
            with(fine(), "task_id", json!("")),
            400,
            "task_id has 1 to 100 letters",
        ),
        (
            with(fine(), "task_id", json!("t".repeat(101))),
            400,
            "task_id has 1 to 100 letters",
        ),
        (
            with(fine(), "timeout", json!(5)),
            400,
            "timeout is from 10 to 3600",
        ),
        (
            with(fine(), "num_perf_trials", json!(1001)),
            400,
            "num_perf_trials is from 1 to 1000",
        ),
        (
            with(fine(), "num_correct_trials", json!(0)),
            400,
            "num_correct_trials is from 1 to 20",
        ),
        (
            with(fine(), "num_perf_trials", json!(1.5)),
            400,
            "1.5 is not a whole number in range",
        ),
        (
            with(fine(), "entry_point", json!("Net")),
            409,
            "entry_point can only be model",
        ),
        (
            with(fine(), "reference_backend", json!("torch_compile")),
            409,
            "can only be pytorch",
        ),
        (
            with(fine(), "workflow", json!("kernel_simple")),
            409,
            "can only be kernelbench",
        ),
        (
            with(fine(), "reference_code", json!("#".repeat(100_001))),
            400,
            "at most 100000 bytes",
        ),
        (
            with(fine(), "num_perf_trial", json!(1)),
            400,
            "did you mean `num_perf_trials`?",
        ),
        (
            json!({"task_id": "t", "reference_code": PROBLEM}),
            400,
            "kernel_code",
        ),
    ];
    for (body, wanted, words) in cases {
        let (status, reason, _) = evaluate(&service, &body);
        assert_eq!(status, wanted, "{reason}");
        assert!(reason.contains(words), "{words}: {reason}");
    }
    assert_eq!(service.submitted(), 0);
    let least = json!({"task_id": "t", "reference_code": PROBLEM, "kernel_code": "/* wrong */"});
    assert_eq!(evaluate(&service, &least).0, 200);
}
