//! Services over a fleet of the real program.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::cluster::free_port;
use super::{Fleet, LONG, REHEARSE, local, ready};
use crate::serve::Service;

fn service(fleet: &Fleet) -> Service {
    let runs = fleet.folder.path().join("runs");
    let (fleet, runs) = (fleet.file(), runs.to_str().unwrap());
    let service = Service::start(&[
        "--fleet",
        &fleet,
        "--task",
        "transpose",
        "--reward",
        "ladder",
        "--run-folder",
        runs,
    ]);
    let begin = Instant::now();
    while service.ask("GET", "/health", "").0 != 200 {
        assert!(begin.elapsed() < LONG, "the service has no bench");
        std::thread::sleep(Duration::from_millis(100));
    }
    service
}

#[test]
fn two_services_of_one_host_share_a_fleet_and_a_group_is_judged_by_one_worker() {
    let Some(fleet) = Fleet::new(&local(free_port(), 2, REHEARSE)) else {
        return;
    };
    fleet.up();
    fleet.wait_until("both work", |status| ready(status) == 2);
    let services = [service(&fleet), service(&fleet)];
    let seed = std::fs::read_to_string(crate::root().join("tasks/transpose/seed.c")).unwrap();
    for round in 0..3 {
        for (number, service) in services.iter().enumerate() {
            let source = |at: u32| json!({"source": format!("// rehearse: 0.1 \n// {round} {number} {at}\n{seed}")});
            let body = json!({"candidates": (0..4).map(source).collect::<Vec<Value>>()});
            let (status, answer) = service.ask("POST", "/v1/judge", &body.to_string());
            assert_eq!(status, 200, "{answer}");
            let rewards: Vec<&Value> = answer["judged"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| &one["reward"])
                .collect();
            assert_eq!(rewards, [1.0; 4], "{answer}");
        }
    }
    let counts = |status: &Value| -> Vec<u64> {
        status["workers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|worker| worker["judged"].as_u64().unwrap())
            .collect()
    };
    let status = fleet.wait_until("they have told", |status| {
        counts(status).iter().sum::<u64>() == 24
    });
    assert!(
        counts(&status).iter().all(|count| count % 4 == 0),
        "whole groups: {:?}",
        counts(&status)
    );
}
