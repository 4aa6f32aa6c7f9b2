//! Completions as models write them, arbitrary text, and the work that tasks count.

mod costs;
mod fates;
mod fuzz;

use std::sync::LazyLock;

use hotloop_flow::task::{Task, TaskFiles};

/// `void matmul_optimized(double *A, double *B, double *C, int M, int N, int K)`
static MATMUL: LazyLock<Task> = LazyLock::new(|| {
    let toml = include_str!("../data/matmul.toml").to_owned();
    Task::parse(TaskFiles {
        toml,
        ..TaskFiles::default()
    })
    .expect("the fixture is a task")
});
