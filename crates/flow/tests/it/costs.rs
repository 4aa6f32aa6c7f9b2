//! The operations that a task counts.

use hotloop_flow::task::{Task, TaskFiles};

const MATMUL: &str = include_str!("../data/matmul.toml");

fn parse(flops: &str) -> Result<Task, String> {
    let line = "flops = \"2*M*N*K\", ";
    assert!(MATMUL.contains(line));
    let files = TaskFiles {
        toml: MATMUL.replace(line, flops),
        ..TaskFiles::default()
    };
    Task::parse(files).map_err(|error| error.to_string())
}

#[test]
fn no_operations_are_counted_if_the_formula_is_absent_or_0() {
    for flops in ["", "flops = \"0\", ", "flops = \"0*M\", "] {
        let task = parse(flops).expect("the key is optional");
        assert!(!task.counts_operations(), "{flops:?}");
        let work = task.work(&task.function().sizes.timed);
        assert!(work.flops.is_none() && work.bytes.is_some(), "{work:?}");
    }
    let task = parse("flops = \"2*M*N*K\", ").expect("as it is shipped");
    assert!(task.counts_operations());
    let error = parse("flops = \"0-M\", ").expect_err("nobody computes less than nothing");
    assert!(
        error.contains("cost.flops") && error.contains("below 0"),
        "{error}"
    );
}
