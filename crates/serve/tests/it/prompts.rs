//! The staged search for a trainer that lives elsewhere.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use hotloop_run::RunState;
use hotloop_run::report::Report;
use hotloop_serve::{Notice, Settings};
use serde_json::{Value, json};

use crate::fake::{Service, candidate};

fn settings(settings: &mut Settings) {
    settings.set = ["sampling.group=4", "search.parents=4"]
        .map(str::to_owned)
        .to_vec();
}

fn prompts(service: &Service, count: usize) -> Vec<Value> {
    let asked = json!({"run": "sqd", "task": "matmul", "n": count});
    let (status, answer) = service.post("/v1/prompts", &asked);
    assert_eq!(status, 200, "{answer}");
    answer["prompts"].as_array().unwrap().clone()
}

/// Four answers to a prompt, each another candidate.
fn answer(service: &Service, prompt: &Value, number: usize) -> Value {
    let (status, answer) = service.post("/v1/judge", &answers(prompt, number));
    assert_eq!(status, 200, "{answer}");
    answer
}

fn answers(prompt: &Value, number: usize) -> Value {
    let said = ["9 GFLOPS", "5 GFLOPS", "wrong", "machine failure"];
    let candidates: Vec<Value> = said
        .iter()
        .enumerate()
        .map(|(member, said)| {
            let speed = said.replace("9 ", &format!("{} ", 9 + number));
            json!({"prompt_id": prompt["prompt_id"], "id": format!("{number}-{member}"),
                "completion": format!("```c\n{}```", candidate(&speed, number * 10 + member))})
        })
        .collect();
    json!({"candidates": candidates})
}

fn state(service: &Service) -> RunState {
    RunState::read(&service.folder.path().join("runs/sqd")).unwrap()
}

#[test]
fn answers_feed_the_pool_and_the_next_prompts_come_from_it() {
    let service = Service::start(settings);
    let first = prompts(&service, 1);
    assert_eq!(
        (
            &first[0]["stage"],
            &first[0]["role"],
            &first[0]["iteration"]
        ),
        (&json!(1), &json!("explore"), &json!(0))
    );
    assert!(
        first[0]["messages"][1]["content"]
            .as_str()
            .unwrap()
            .contains("2.0 GFLOPS"),
        "the seed was judged"
    );
    let judged = answer(&service, &first[0], 1);
    assert_eq!(judged["judged"][3]["reward"], Value::Null);
    assert_eq!(
        judged["judged"][0]["stage"], 1,
        "the prompt brings its stage"
    );
    let second = prompts(&service, 4);
    let roles: BTreeSet<&str> = second
        .iter()
        .map(|prompt| prompt["role"].as_str().unwrap())
        .collect();
    assert!(
        second.iter().all(|prompt| prompt["iteration"] == 1),
        "{second:?}"
    );
    assert_eq!(
        roles,
        BTreeSet::from(["deepen", "explore", "improve", "repair"])
    );
    let deepened = second
        .iter()
        .find(|prompt| prompt["role"] == "deepen")
        .unwrap();
    assert_eq!(deepened["stage"], 2);
    assert!(
        deepened["messages"][1]["content"]
            .as_str()
            .unwrap()
            .contains("10.0 GFLOPS"),
        "{deepened}"
    );
    let repaired = second
        .iter()
        .find(|prompt| prompt["role"] == "repair")
        .unwrap();
    assert!(
        repaired["messages"][1]["content"]
            .as_str()
            .unwrap()
            .contains("element 3 is wrong")
    );
    let state = state(&service);
    assert_eq!((state.finished(), state.iterations.len()), (1, 2));
    assert_eq!(state.best.unwrap().speed.to_bits(), 10.0f64.to_bits());
}

#[test]
fn an_answer_that_is_sent_again_is_taken_in_once() {
    let service = Service::start(settings);
    let first = prompts(&service, 1);
    let (once, twice) = (
        answer(&service, &first[0], 1),
        answer(&service, &first[0], 1),
    );
    assert_eq!(once["judged"][0]["reward"], twice["judged"][0]["reward"]);
    assert_eq!(state(&service).finished(), 1);
}

#[test]
fn answers_that_are_sent_again_in_another_order_are_taken_in_once() {
    let service = Service::start(settings);
    let first = prompts(&service, 1);
    let mut asked = answers(&first[0], 1);
    assert_eq!(service.post("/v1/judge", &asked).0, 200);
    let candidates = asked["candidates"].as_array_mut().unwrap();
    candidates.reverse();
    // Others came into the batch meanwhile; copies of one answer are two answers.
    let mut new = candidates[0].clone();
    new["id"] = "new".into();
    candidates.splice(0..0, [new.clone(), new]);
    assert_eq!(service.post("/v1/judge", &asked).0, 200);
    assert_eq!(service.post("/v1/judge", &asked).0, 200);
    let steps = state(&service).steps;
    let members: Vec<usize> = steps
        .iter()
        .map(|step| step.groups[0].members.len())
        .collect();
    assert_eq!(members, [4, 2]);
}

/// Its run file names a pipe, and whoever opens the run waits for somebody to write into it.
#[test]
fn a_run_that_takes_long_to_open_keeps_no_other_one_waiting() {
    let service = Service::start(settings);
    prompts(&service, 1);
    let (runs, pipe) = (
        service.folder.path().join("runs"),
        service.folder.path().join("pipe"),
    );
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let text = std::fs::read_to_string(runs.join("sqd/run.toml")).unwrap();
    let wording = format!("wording = \"{}\"", pipe.display());
    std::fs::create_dir_all(runs.join("slow")).unwrap();
    std::fs::write(
        runs.join("slow/run.toml"),
        text.replace("wording = \"\"", &wording),
    )
    .unwrap();
    let slow = || service.post("/v1/prompts", &json!({"run": "slow"})).0;
    std::thread::scope(|scope| {
        let slow = [scope.spawn(slow), scope.spawn(slow)];
        // Opening the pipe for writing waits for its reader.
        let mut writer = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
        assert_eq!(prompts(&service, 1)[0]["iteration"], 0);
        let other = json!({"run": "other", "task": "matmul"});
        assert_eq!(service.post("/v1/prompts", &other).0, 200);
        assert!(slow.iter().all(|slow| !slow.is_finished()));
        // The second tries again, and finds a file.
        std::fs::remove_file(&pipe).unwrap();
        std::fs::write(&pipe, "no wording").unwrap();
        std::io::Write::write_all(&mut writer, b"no wording").unwrap();
        drop(writer);
        assert_eq!(slow.map(|slow| slow.join().unwrap()), [409, 409]);
    });
    assert_eq!(prompts(&service, 1)[0]["iteration"], 0);
}

#[test]
fn answers_that_could_not_be_kept_are_taken_in_when_they_are_sent_again() {
    let service = Service::start(settings);
    let first = prompts(&service, 1);
    let kept = service.folder.path().join("runs/sqd/candidates");
    let aside = kept.with_extension("aside");
    std::fs::rename(&kept, &aside).unwrap();
    let (status, told) = service.post("/v1/judge", &answers(&first[0], 1));
    assert_eq!(status, 503, "{told}");
    std::fs::rename(&aside, &kept).unwrap();
    // Two at once, as from a client that was too impatient: one of them is taken in.
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| answer(&service, &first[0], 1));
        }
    });
    assert_eq!(state(&service).finished(), 1);
}

#[test]
fn the_search_survives_a_restart_and_a_report_reads_it() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let handed = {
        let service = Service::start_in(Arc::clone(&folder), settings);
        let first = prompts(&service, 1);
        answer(&service, &first[0], 1);
        prompts(&service, 4)
    };
    let service = Service::start_in(Arc::clone(&folder), settings);
    // A prompt that was handed out before the restart is still known.
    answer(&service, &handed[1], 2);
    assert_eq!(prompts(&service, 4), handed, "the same iteration goes on");
    for (number, prompt) in handed.iter().enumerate() {
        answer(&service, prompt, number + 3);
    }
    assert!(
        prompts(&service, 1)
            .iter()
            .all(|prompt| prompt["iteration"] == 2)
    );
    let state = state(&service);
    assert_eq!((state.finished(), state.resumed), (6, 1));
    let report = Report::read(&[folder.path().join("runs/sqd")]).unwrap();
    assert_eq!(
        (report.runs[0].points.len(), report.runs[0].task.as_str()),
        (6, "matmul")
    );
    let (status, told) = service.get("/v1/runs/sqd");
    assert_eq!((status, &told["model"]), (200, &json!("foreign-trainer")));
    let steps = |told: &Value| told["points"].as_array().unwrap().len();
    assert_eq!((steps(&told), &told["next"]), (6, &Value::Null));
    assert_eq!(steps(&service.get("/v1/runs/sqd?from=4").1), 2);
    assert_eq!(service.get("/v1/runs/sqd?from=x").0, 400);
    // What was read before is not read again, and what came since is.
    answer(&service, &handed[0], 9);
    assert_eq!(steps(&service.get("/v1/runs/sqd").1), 7);
    let (_, listed) = service.get("/v1/runs");
    assert_eq!(
        (&listed[0]["name"], &listed[0]["steps"]),
        (&json!("sqd"), &json!(7))
    );
}

#[test]
fn a_trainer_that_loses_answers_does_not_hold_up_the_search() {
    let service = Service::start(settings);
    let first = prompts(&service, 1);
    answer(&service, &first[0], 1);
    // Of the four prompts of the next iteration only one is ever answered.
    let second = prompts(&service, 4);
    answer(&service, &second[1], 2);
    let later = prompts(&service, 40);
    assert!(
        later
            .iter()
            .any(|prompt| prompt["iteration"].as_u64() > Some(1)),
        "{later:?}"
    );
}

#[test]
fn a_run_that_nobody_asks_for_makes_room_and_goes_on_when_it_is_asked_for() {
    let service = Service::start(|all| {
        settings(all);
        (all.limits.runs, all.limits.idle) = (2, Duration::ZERO);
    });
    let first = prompts(&service, 1);
    answer(&service, &first[0], 1);
    let handed = prompts(&service, 4);
    for run in ["second", "third", "fourth"] {
        assert_eq!(
            service
                .post("/v1/prompts", &json!({"run": run, "task": "matmul"}))
                .0,
            200,
            "{run}"
        );
    }
    assert!(service.heard(|notice| *notice
        == Notice::RunClosed {
            run: "sqd".to_owned()
        }));
    assert_eq!(prompts(&service, 4), handed, "the same iteration goes on");
    answer(&service, &handed[0], 2);
    assert_eq!(state(&service).finished(), 2);
}

#[test]
fn runs_that_are_in_use_are_not_closed_and_the_remedy_is_told() {
    let service = Service::start(|all| {
        settings(all);
        all.limits.runs = 1;
    });
    prompts(&service, 1);
    let second = json!({"run": "second", "task": "matmul"}).to_string();
    let (status, head, told) = service.send("POST", "/v1/prompts", &[], Some(second.as_bytes()));
    let told = String::from_utf8_lossy(&told);
    assert!(status == 503 && head.contains("retry-after: 60"), "{head}");
    assert!(
        told.contains("nobody asks for during 600 s makes room"),
        "{told}"
    );
    assert_eq!(prompts(&service, 1)[0]["iteration"], 0);
}

#[test]
fn a_run_keeps_its_task_and_needs_one_to_begin() {
    let service = Service::start(settings);
    let ask = |asked: Value| service.post("/v1/prompts", &asked);
    let (status, answer) = ask(json!({"run": "sqd"}));
    assert_eq!(status, 404);
    assert!(
        answer["hint"]
            .as_str()
            .unwrap()
            .contains("\"task\": \"matmul\""),
        "{answer}"
    );
    prompts(&service, 1);
    assert_eq!(ask(json!({"run": "sqd", "n": 2})).0, 200);
    assert_eq!(ask(json!({"run": "sqd", "task": "fft"})).0, 409);
    assert_eq!(ask(json!({"run": "sqd", "n": 0})).0, 400);
    assert_eq!(ask(json!({"run": "sqd", "n": "x"})).0, 400);
    assert_eq!(ask(json!({"run": "other", "task": "none"})).0, 404);
    let unknown = json!({"candidates": [{"prompt_id": "sqd/7/0", "completion": "x"}]});
    assert_eq!(service.post("/v1/judge", &unknown).0, 404);
}

#[test]
fn get_changes_nothing() {
    let service = Service::start(settings);
    let (status, head, _) = service.send("GET", "/v1/prompts?run=sqd&task=matmul", &[], None);
    assert!(status == 405 && head.contains("allow: post"), "{head}");
    let (_, described) = service.get("/openapi.json");
    for path in described["paths"].as_object().unwrap().keys() {
        let path = path.replace("{task}", "matmul").replace("{run}", "sqd");
        service.get(&path);
    }
    assert!(
        !service.folder.path().join("runs").exists(),
        "no run was begun"
    );
    assert_eq!(service.submitted(), 0);
}
