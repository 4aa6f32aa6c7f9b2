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
