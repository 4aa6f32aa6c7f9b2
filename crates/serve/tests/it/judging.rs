//! `POST /v1/judge`: batches, three values, identical ones once, asking again.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hotloop_serve::Notice;
use serde_json::{Value, json};

use crate::fake::{Service, candidate};

fn ask(said: &[&str]) -> Value {
    let candidates: Vec<Value> = said
        .iter()
        .enumerate()
        .map(|(number, said)| json!({"id": said, "source": candidate(said, number)}))
        .collect();
    json!({"task": "matmul", "candidates": candidates})
}

#[test]
fn a_batch_has_verdicts_rewards_and_machine_failures_in_its_order() {
    let service = Service::start(|_| {});
    let mut asked = ask(&[
        "8 GFLOPS",
        "wrong",
        "machine failure",
        "suspect",
        "not compiled",
        "NaN",
    ]);
    asked["candidates"]
        .as_array_mut()
        .unwrap()
        .push(json!({"completion": "I cannot."}));
    let (status, answer) = service.post("/v1/judge", &asked);
    assert_eq!(status, 200, "{answer}");
    let column = |key: &str| -> Vec<Value> {
        answer["judged"]
            .as_array()
            .unwrap()
            .iter()
            .map(|judged| judged[key].clone())
            .collect()
    };
    // 1 + log2(8 / 2): the seed has 2 GFLOPS.
    let rewards = [
        json!(3.0),
        json!(-1.0),
        Value::Null,
        Value::Null,
        json!(-3.0),
        Value::Null,
        json!(-4.0),
    ];
    assert_eq!(column("reward"), rewards);
    let statuses = [
        "judged",
        "judged",
        "machine-failure",
        "masked",
        "judged",
        "machine-failure",
        "judged",
    ];
    assert_eq!(column("status"), statuses.map(Value::from));
    let verdicts = [
        json!("correct"),
        json!("wrong"),
        Value::Null,
        json!("suspect"),
        json!("not-compiled"),
        Value::Null,
    ];
    assert_eq!(column("verdict")[..6], verdicts);
    for key in [
        "seconds_per_call",
        "gflops",
        "gflops_paper",
        "peak_fraction",
        "timing",
    ] {
        let told = column(key);
        assert!(!told[0].is_null(), "{key}");
        assert!(told[3].is_null(), "a suspect candidate has no {key}");
    }
    assert_eq!(answer["judged"][2]["error"], "the machine tripped");
    assert_eq!(answer["judged"][0]["id"], "8 GFLOPS");
    assert_eq!(
        answer["reward"],
        json!({"shape": "ladder-log", "low": 0.0, "high": 8.0})
    );
    assert_eq!(answer["machine"]["class"], "fake");
    // Each machine failure was tried three times, and the seed judged for the reward.
    assert_eq!(service.submitted(), 4 + 3 + 3 + 1);
}

#[test]
fn a_bug_of_the_bench_fails_its_jobs_and_no_others() {
    let service = Service::start(|_| {});
    let mut asked = ask(&["bug"]);
    // This reward needs no seed.
    asked["reward"] = "ladder".into();
    let (status, answer) = service.post("/v1/judge", &asked);
    assert_eq!(
        (status, &answer["judged"][0]["status"]),
        (200, &json!("machine-failure")),
        "{answer}"
    );
    let why = answer["judged"][0]["error"].as_str().unwrap();
    assert!(why.contains("a bug of the bench"), "{why}");
    service.wait(|service| service.get("/health").0 == 200);
    let (_, answer) = service.post("/v1/judge", &ask(&["8 GFLOPS"]));
    assert_eq!(answer["judged"][0]["reward"], 3.0, "{answer}");
    assert_eq!(service.control.started.load(Ordering::SeqCst), 2);
}

#[test]
fn a_seed_that_is_suspect_once_is_judged_again() {
    let service = Service::start(|_| {});
    service.control.doubtful.store(true, Ordering::SeqCst);
    let (status, answer) = service.post("/v1/judge", &ask(&["8 GFLOPS"]));
    assert_eq!(status, 503, "{answer}");
    let why = answer["error"].as_str().unwrap();
    assert!(why.contains("the seed of matmul is suspect"), "{why}");
    service.control.doubtful.store(false, Ordering::SeqCst);
    let (status, answer) = service.post("/v1/judge", &ask(&["8 GFLOPS"]));
    assert_eq!((status, &answer["judged"][0]["reward"]), (200, &json!(3.0)));
}

#[test]
fn the_shape_of_the_reward_is_the_callers_choice_and_told() {
    let service = Service::start(|_| {});
    let reward = |shape: Value| {
        let mut asked = ask(&["8 GFLOPS", "4 GFLOPS"]);
        asked["reward"] = shape;
        let (status, answer) = service.post("/v1/judge", &asked);
        assert_eq!(status, 200, "{answer}");
        let rewards: Vec<f64> = answer["judged"]
            .as_array()
            .unwrap()
            .iter()
            .map(|judged| judged["reward"].as_f64().unwrap())
            .collect();
        (rewards, answer["judged"][0]["reward_shape"].clone())
    };
    assert_eq!(reward(json!("ladder")), (vec![8.0, 4.0], json!("ladder")));
    assert_eq!(
        reward(json!("ladder-group")),
        (vec![100.0, 50.0], json!("ladder-group"))
    );
    assert_eq!(
        reward(json!({"shape": "ladder-log", "high": 2.5})).0,
        [2.5, 2.0]
    );
    let (status, answer) = service.post("/v1/judge", &json!({"reward": "great", "candidates": []}));
    assert_eq!(status, 400, "{answer}");
    assert!(
        answer["error"].as_str().unwrap().contains("ladder-log"),
        "{answer}"
    );
}

#[test]
fn what_is_compared_reaches_the_bench_together() {
    let service = Service::start(|_| {});
    let asked = |names: &[Option<&str>], from: usize| {
        let of = |(at, name)| json!({"source": candidate("3 GFLOPS", from + at), "group": name});
        let candidates: Vec<Value> = names.iter().copied().enumerate().map(of).collect();
        let body = json!({"task": "matmul", "reward": "ladder-group", "candidates": candidates});
        assert_eq!(service.post("/v1/judge", &body).0, 200);
        std::mem::take(&mut *service.control.groups.lock().unwrap())
    };
    assert_eq!(
        asked(&[Some("a"), Some("b"), Some("a"), Some("b"), Some("a")], 0),
        [3, 2]
    );
    assert_eq!(
        asked(&[None; 4], 10),
        [4],
        "who names no group is compared with the rest"
    );
    assert_eq!(
        asked(&[None; 6], 10),
        [2],
        "what was judged before is not judged again"
    );
    let prompts = ["P", "Q", "P", "Q"];
    let query: Vec<String> = (0..4)
        .map(|at| format!("{}{}", prompts[at], candidate("3 GFLOPS", 20 + at)))
        .collect();
    let body = json!({"query": query, "prompts": prompts, "labels": vec!["matmul"; 4]});
    assert_eq!(service.post("/get_reward", &body).0, 200);
    // The seed came last.
    assert_eq!(*service.control.groups.lock().unwrap(), [2, 2, 1]);
}

#[test]
fn identical_candidates_are_judged_once_whoever_asks() {
    let service = Arc::new(Service::start(|_| {}));
    service.control.held.store(true, Ordering::SeqCst);
    let asking: Vec<_> = (0..8)
        .map(|_| {
            let service = Arc::clone(&service);
            std::thread::spawn(move || {
                service.post(
                    "/v1/judge",
                    &json!({"task": "matmul", "reward": "ladder",
                "candidates": [{"source": candidate("3 GFLOPS", 0)}, {"source": candidate("3 GFLOPS", 0)}]}),
                )
            })
        })
        .collect();
    service.wait(|service| {
        let metrics = service.get("/metrics").1;
        metrics
            .as_str()
            .unwrap()
            .contains("hotloop_jobs_shared_total 15\n")
    });
    service.control.held.store(false, Ordering::SeqCst);
    for asked in asking {
        let (status, answer) = asked.join().unwrap();
        assert_eq!((status, &answer["judged"][1]["reward"]), (200, &json!(3.0)));
    }
    assert_eq!(service.submitted(), 1);
}

#[test]
fn a_fresh_judgement_is_a_new_one_and_sending_it_again_is_not() {
    let service = Service::start(|_| {});
    let asked = |id: &str, fresh: bool| {
        let body = json!({"task": "matmul", "reward": "ladder", "fresh": fresh,
            "candidates": [{"id": id, "source": candidate("3 GFLOPS", 0)}]});
        assert_eq!(service.post("/v1/judge", &body).0, 200);
        service.submitted()
    };
    assert_eq!(asked("a", false), 1);
    assert_eq!(asked("b", false), 1);
    assert_eq!(asked("b", true), 2);
    assert_eq!(asked("b", true), 2);
    assert_eq!(asked("c", true), 3);
    // Copies in one request are told apart by their names too.
    let copies: Vec<Value> = ["d", "e", "d"]
        .map(|id| json!({"id": id, "source": candidate("3 GFLOPS", 0)}))
        .to_vec();
    let body = json!({"task": "matmul", "fresh": true, "reward": "ladder", "candidates": copies});
    assert_eq!(service.post("/v1/judge", &body).0, 200);
    assert_eq!(service.submitted(), 5);
    let unnamed = json!({"task": "matmul", "fresh": true, "candidates": [{"source": "x"}]});
    assert_eq!(service.post("/v1/judge", &unnamed).0, 400);
}

#[test]
fn what_takes_too_long_is_503_and_goes_on() {
    let service = Service::start(|settings| settings.limits.wait = Duration::from_millis(300));
    service.control.held.store(true, Ordering::SeqCst);
    let mut asked = ask(&["5 GFLOPS", "6 GFLOPS"]);
    asked["reward"] = json!("ladder");
    let body = asked.to_string();
    let (status, head, answer) = service.send("POST", "/v1/judge", &[], Some(body.as_bytes()));
    assert_eq!(status, 503, "{}", String::from_utf8_lossy(&answer));
    assert!(head.contains("retry-after: "), "{head}");
    service.control.held.store(false, Ordering::SeqCst);
    service.wait(|service| {
        service
            .get("/metrics")
            .1
            .as_str()
            .unwrap()
            .contains("hotloop_jobs_waiting 0\n")
    });
    let (status, answer) = service.post("/v1/judge", &asked);
    assert_eq!((status, &answer["judged"][1]["reward"]), (200, &json!(6.0)));
    assert_eq!(
        service.submitted(),
        2,
        "the same request joined what was under way"
    );
}

#[test]
fn a_bench_that_falls_over_is_started_again_and_nobody_is_punished() {
    let service = Service::start(|_| {});
    service.control.broken.store(true, Ordering::SeqCst);
    let mut asked = ask(&["5 GFLOPS"]);
    asked["reward"] = json!("ladder");
    let (status, answer) = service.post("/v1/judge", &asked);
    assert_eq!(
        (status, &answer["judged"][0]["reward"]),
        (200, &Value::Null)
    );
    assert_eq!(answer["judged"][0]["status"], "machine-failure");
    assert!(service.heard(|notice| matches!(notice, Notice::BenchFailed { .. })));
    assert_eq!(service.get("/health").0, 503);
    service.control.broken.store(false, Ordering::SeqCst);
    service.wait(|service| service.get("/health").0 == 200);
    assert!(service.control.started.load(Ordering::SeqCst) >= 2);
    let (status, answer) = service.post("/v1/judge", &asked);
    assert_eq!((status, &answer["judged"][0]["reward"]), (200, &json!(5.0)));
}

/// A program that starts a service reads one line for its address, however fast the bench starts.
#[test]
fn the_first_notice_is_the_address() {
    let service = Service::start(|_| {});
    let address = format!("http://{}", service.address);
    assert_eq!(service.first(), Notice::Listening { address });
}

#[test]
fn mistakes_are_named() {
    let service = Service::start(|_| {});
    let check = |body: Value, status: u16, said: &str| {
        let (got, answer) = service.post("/v1/judge", &body);
        assert_eq!(got, status, "{answer}");
        assert!(answer["error"].as_str().unwrap().contains(said), "{answer}");
    };
    check(
        json!({"candidates": [{"source": "x"}]}),
        404,
        "the request names no task",
    );
    check(
        json!({"task": "matmul", "candidates": [{}]}),
        400,
        "either `completion` or `source`",
    );
    check(
        json!({"task": "matmul", "candidates": [{"source": "", "completion": ""}]}),
        400,
        "either",
    );
    check(json!({"task": "matmul"}), 400, "candidates");
    check(
        json!({"task": "matmul", "candidates": [], "colour": 1}),
        400,
        "colour",
    );
    check(
        json!({"task": "matmul", "stage": 7, "candidates": []}),
        404,
        "stage 7",
    );
    check(
        json!({"task": "matmul", "candidates": [{"source": "x", "prompt_id": "none/0/0"}]}),
        404,
        "no run",
    );
    assert_eq!(
        service.post("/v1/judge", &json!({"candidates": []})).0,
        200,
        "an empty batch is none"
    );
    assert_eq!(service.submitted(), 0);
}

#[test]
fn tasks_and_description_are_told() {
    let service = Service::start(|_| {});
    let (_, tasks) = service.get("/v1/tasks");
    let names: Vec<&str> = tasks
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["fft", "matmul"]);
    let (_, matmul) = service.get("/v1/tasks/matmul");
    assert!(
        matmul["prompt"]
            .as_str()
            .unwrap()
            .contains("matmul_optimized"),
        "{matmul}"
    );
    let (_, described) = service.get("/openapi.json");
    let sources = [
        include_str!("../../src/router.rs"),
        include_str!("../../src/api/runs.rs"),
        include_str!("../../src/adapters/kernelgym.rs"),
        include_str!("../../src/adapters/openenv.rs"),
    ];
    let routes: Vec<&str> = sources
        .iter()
        .flat_map(|source| source.split(".route(\"").skip(1))
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(routes.len() > 15, "{routes:?}");
    // A socket has no description.
    for route in routes.iter().filter(|route| **route != "/ws") {
        assert!(
            described["paths"][route].is_object(),
            "{route} is not described"
        );
    }
    assert_eq!(
        described["paths"].as_object().unwrap().len(),
        routes.len() - 1
    );
}
