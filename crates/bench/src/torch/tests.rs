//! The stand-in and the planner, from inside.

use super::*;
use crate::cache::Cache;
use crate::settings::Settings;

#[test]
fn a_simple_answer_is_planned() {
    let cache = std::env::temp_dir().join(format!("hotloop-planner-{}", std::process::id()));
    let settings = Settings::new(std::env::current_exe().unwrap());
    let planner = Planner::within(&settings, Cache::at(&cache)).unwrap();
    let problem = include_str!("../../tests/torch/problems/relu.py");
    let facts = planner.problem(problem).unwrap().unwrap();
    let answer = include_str!("../../tests/torch/honest/relu-elementwise.py");
    let outcome = planner.plan(problem, &facts, answer).unwrap();
    let Outcome::Planned(plan) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(plan.launches(), 1);
    drop(std::fs::remove_dir_all(cache));
}
