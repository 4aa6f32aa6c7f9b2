//! A bench that comes back on another class of machine: timings compare within one class, so
//! nothing is carried over.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::fake::{Service, candidate};

fn ask(service: &Service, reward: &str) -> (u16, Value) {
    let candidates = json!([{"source": candidate("8 GFLOPS", 0)}]);
    service.post(
        "/v1/judge",
        &json!({"task": "matmul", "reward": reward, "candidates": candidates}),
    )
}

/// The bench falls over, and is about to come back elsewhere.
fn fall_over(service: &Service) {
    service.control.moved.store(true, Ordering::SeqCst);
    service.control.slow.store(true, Ordering::SeqCst);
    service.control.broken.store(true, Ordering::SeqCst);
    let candidates = json!([{"source": candidate("1 GFLOPS", 1)}]);
    let (_, told) = service.post(
        "/v1/judge",
        &json!({"task": "matmul", "reward": "ladder", "candidates": candidates}),
    );
    assert_eq!(told["judged"][0]["status"], "machine-failure", "{told}");
    service.control.broken.store(false, Ordering::SeqCst);
}

fn come_back(service: &Service) {
    service.control.slow.store(false, Ordering::SeqCst);
    service.wait(|service| service.get("/health").0 == 200);
}

#[test]
fn verdicts_and_seeds_of_another_class_are_not_kept() {
    let service = Service::start(|_| {});
    let (_, before) = ask(&service, "ladder-log");
    assert_eq!(
        (
            &before["judged"][0]["gflops"],
            &before["judged"][0]["reward"]
        ),
        (&json!(8.0), &json!(3.0))
    );
    fall_over(&service);
    come_back(&service);
    let (status, after) = ask(&service, "ladder-log");
    assert_eq!(
        (status, &after["machine"]["class"]),
        (200, &json!("another fake"))
    );
    // The candidate and the seed are both twice as fast there.
    assert_eq!(
        (&after["judged"][0]["gflops"], &after["judged"][0]["reward"]),
        (&json!(16.0), &json!(3.0))
    );
}

#[test]
fn a_run_does_not_go_on_on_another_class() {
    let service = Service::start(|_| {});
    let (_, begun) = service.post("/v1/prompts", &json!({"run": "here", "task": "matmul"}));
    let answer = json!({"candidates": [{"completion": candidate("8 GFLOPS", 0), "id": "a",
        "prompt_id": begun["prompts"][0]["prompt_id"]}]});
    fall_over(&service);
    come_back(&service);
    for (status, told) in [
        service.post("/v1/prompts", &json!({"run": "here"})),
        service.post("/v1/judge", &answer),
    ] {
        assert_eq!(status, 409, "{told}");
        assert!(
            told["error"]
                .as_str()
                .unwrap()
                .contains("machine class another fake"),
            "{told}"
        );
        assert_eq!(told["hint"], "start a new run");
    }
    let there = json!({"run": "there", "task": "matmul"});
    assert_eq!(service.post("/v1/prompts", &there).0, 200);
}

#[test]
fn a_request_that_met_two_classes_is_to_be_sent_again() {
    let service = Service::start(|_| {});
    // A verdict is kept, and the seed not judged yet.
    assert_eq!(ask(&service, "ladder").0, 200);
    fall_over(&service);
    service.wait(|service| service.control.started.load(Ordering::SeqCst) == 2);
    let (status, told) = std::thread::scope(|scope| {
        let asking = scope.spawn(|| ask(&service, "ladder-log"));
        service.wait(|service| {
            service
                .get("/metrics")
                .1
                .as_str()
                .unwrap()
                .contains("hotloop_jobs_waiting 1\n")
        });
        come_back(&service);
        asking.join().unwrap()
    });
    assert_eq!(status, 503, "{told}");
    assert!(
        told["error"]
            .as_str()
            .unwrap()
            .contains("another class of machine"),
        "{told}"
    );
    assert_eq!(ask(&service, "ladder-log").1["judged"][0]["reward"], 3.0);
}
