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
fn the_same_candidate_is_judged_again_and_again() {
    let lines = lines(&["bench", "aa", "--count", "3", "--json"]);
    assert_eq!(lines[0]["correct"], 3, "{}", lines[0]);
    assert_eq!(lines[0]["gflops"].as_array().unwrap().len(), 3);
}

#[test]
fn threads_are_compared_with_an_in_process_timing() {
    let lines = lines(&[
        "bench",
        "threads",
        "--threads",
        "1",
        "--count",
        "1",
        "--json",
    ]);
    let one = &lines[0][0];
    assert!(
        one["in_process_s"].as_f64().unwrap() > 0.0 && one["bench_s"].as_f64().unwrap() > 0.0,
        "{one}"
    );
}

#[test]
fn care_can_be_left_out_to_see_what_it_costs() {
    let lines = lines(&[
        "bench",
        "threads",
        "--threads",
        "1",
        "--count",
        "1",
        "--omit",
        "warm,check",
        "--run-ms",
        "9",
        "--json",
    ]);
    let rows = lines[0].as_array().unwrap();
    let ways: Vec<Option<&str>> = rows.iter().map(|row| row["way"].as_str()).collect();
    assert_eq!(
        ways,
        [None, Some("without warm,check"), Some("runs of 9 ms")]
    );
    assert!(
        rows.iter()
            .all(|row| row["bench_s"].as_f64().unwrap() > 0.0),
        "{}",
        lines[0]
    );
    let (status, _, said) = crate::ended(&mut crate::hotloop(&[
        "bench",
        "threads",
        "--omit",
        "warm,care",
    ]));
    assert!(status != 0 && said.contains("care is none of"), "{said}");
}
