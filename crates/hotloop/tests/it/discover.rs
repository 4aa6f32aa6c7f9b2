//! `hotloop discover` runs its arms within their budgets, continues, and gives one verdict.

use serde_json::Value;

use crate::{ended, hotloop};

fn lines(said: &str) -> Vec<Value> {
    said.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_discovery_gives_a_verdict_and_is_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("found");
    let discover = |more: &[&str]| {
        let words = [
            "discover",
            "matmul",
            "--model",
            "nano",
            "--answers",
            "4",
            "--seeds",
            "2",
            "--arms",
            "search,entropic",
            "--set",
            "sampling.group=2",
            "--set",
            "bench.timing=paper",
            "--json",
            "--out",
        ];
        ended(hotloop(&words).arg(&out).args(more))
    };
    let (status, said, error) = discover(&["--dry-run"]);
    assert_eq!(status, 0, "{error}");
    assert!(said.contains("search-1") && !out.exists(), "{said}");
    let (status, said, error) = discover(&[]);
    assert_eq!(status, 0, "{error}");
    let all = lines(&said);
    let last = all.last().unwrap();
    let outcomes = last["outcomes"].as_array().unwrap();
    assert_eq!(outcomes.len(), 4);
    for outcome in outcomes {
        assert_eq!(outcome["answers"], 4, "equal budgets: {outcome}");
        assert!(outcome["best"].as_f64().unwrap() > 0.0 && outcome["ended"].is_string());
    }
    let verdict = &last["verdict"];
    assert_eq!(verdict["control"], "search");
    assert_eq!(
        verdict["comparisons"][0]["seeds"],
        serde_json::json!([1, 2])
    );
    assert!(verdict["comparisons"][0]["interval"].is_array());
    // Nothing is left to do, and the verdict stands.
    let (status, again, error) = discover(&[]);
    assert_eq!(status, 0, "{error}");
    assert!(
        lines(&again)[..4]
            .iter()
            .all(|line| line["said"] == "done before"),
        "{again}"
    );
    let (status, said, error) = ended(hotloop(&["discover", "--verdict"]).arg(&out));
    assert_eq!(status, 0, "{error}");
    assert!(
        said.contains("entropic: the best code is") && said.contains("verdict: "),
        "{said}"
    );
}

#[test]
fn a_discovery_refuses_what_cannot_be_compared() {
    let folder = tempfile::tempdir().unwrap();
    let (status, _, error) = ended(hotloop(&["discover", "--verdict"]).arg(folder.path()));
    assert_eq!(status, 1);
    assert!(error.contains("no run there has begun"), "{error}");
    let (status, _, error) = ended(&mut hotloop(&["discover", "matmul", "--arms", "grpq"]));
    assert_eq!(status, 1);
    assert!(error.contains("there is no arm `grpq`"), "{error}");
}
