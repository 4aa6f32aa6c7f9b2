//! The bench measures itself: the commands run and their numbers make sense.

use crate::lines;

#[test]
fn throughput_compares_with_the_plain_pipeline() {
    let lines = lines(&["bench", "throughput", "--count", "3", "--json"]);
    let number = |key: &str| lines[0][key].as_f64().unwrap();
    let phases = number("bench_compile_s") + number("bench_verify_s") + number("bench_time_s");
    assert!(
        (phases / number("bench_s") - 1.0).abs() < 0.05,
        "{}",
        lines[0]
    );
    assert!(
        number("plain_gcc_s") > 0.0 && number("ratio") > 0.0,
        "{}",
        lines[0]
    );
}

#[test]
fn the_same_candidate_is_judged_many_times() {
    let lines = lines(&["bench", "aa", "--count", "3", "--json"]);
    assert_eq!(lines[0]["correct"], 3, "{}", lines[0]);
    assert_eq!(lines[0]["gflops"].as_array().unwrap().len(), 3);
}

#[test]
fn both_measure_the_seed_of_any_task() {
    let steady = lines(&[
        "bench",
        "aa",
        "--task",
        "transpose",
        "--count",
        "2",
        "--json",
    ]);
    assert_eq!(steady[0]["correct"], 2, "{}", steady[0]);
    assert!(steady[0]["seconds"].as_f64().unwrap() > 0.0);
    let crowd = lines(&[
        "bench",
        "throughput",
        "--task",
        "transpose",
        "--count",
        "2",
        "--json",
    ]);
    assert_eq!(crowd[0]["correct"], 2, "{}", crowd[0]);
    assert!(crowd[0]["per_s"].as_f64().unwrap() > 0.0);
}
