//! A run's claims are judged anew, whatever its journal says.

use serde_json::Value;

use crate::watch::made::{self, Shape};
use crate::{ended, hotloop};

const HONEST: &str = include_str!("../../../../tasks/matmul/seed.c");

/// The journal calls both candidates correct; today's rules do not.
#[test]
fn claims_that_do_not_hold_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let source = |number: usize| {
        if number == 0 {
            HONEST.to_owned()
        } else {
            HONEST.replace("double sum = 0.0;", "double sum = rand() % 2;")
        }
    };
    let shape = Shape {
        steps: 1,
        groups: 1,
        members: 2,
        tokens: 1,
        source: &source,
        why: "",
    };
    made::run(&run, &shape);
    let (status, told, error) = ended(hotloop(&["replay", "--times", "2", "--json"]).arg(&run));
    assert_eq!(status, 0, "{error}");
    assert!(error.contains("another class of machine"), "{error}");
    let outcomes: Vec<Value> = told
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(outcomes.len(), 2, "{told}");
    for one in &outcomes {
        let source = std::fs::read_to_string(one["file"].as_str().unwrap()).unwrap();
        assert!(one["seen"].as_f64().unwrap() >= 1.0, "{one}");
        assert!(one["confirmed"].is_null(), "nothing was confirmed: {one}");
        if source == HONEST {
            assert_eq!(one["verdicts"], serde_json::json!({"correct": 2}), "{one}");
            let replayed = &one["replayed"];
            assert!(replayed["low"].as_f64().unwrap() > 0.0, "{one}");
        } else {
            assert!(one["replayed"].is_null(), "{one}");
            assert!(one["verdicts"].get("correct").is_none(), "{one}");
            assert!(one["why"].is_string(), "{one}");
        }
    }
    let (status, told, error) = ended(hotloop(&["replay", "--times", "1"]).arg(&run));
    assert_eq!(status, 0, "{error}");
    assert!(
        told.contains("1 of 2 candidates correct every time"),
        "{told}"
    );
}

#[test]
fn a_run_without_claims_is_the_users_error() {
    let folder = tempfile::tempdir().unwrap();
    let (status, _, error) = ended(hotloop(&["replay"]).arg(folder.path().join("nowhere")));
    assert_eq!(status, 1);
    assert!(error.contains("nowhere"), "{error}");
}
