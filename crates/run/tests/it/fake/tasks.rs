//! The tasks of runs with a fake bench.

use std::path::Path;

use hotloop_flow::Task;
use hotloop_flow::task::TaskFiles;

pub(crate) fn matmul() -> Task {
    task("matmul").unwrap()
}

/// A shipped task's name with this prefix stands for a copy that counts no operations.
pub(crate) const UNCOUNTED: &str = "uncounted-";

/// A shipped task, or its copy that counts no operations.
pub(crate) fn task(name: &str) -> Result<Task, String> {
    task_with(name, "")
}

/// A shipped task with `more` at the end of its `task.toml`.
pub(crate) fn task_with(name: &str, more: &str) -> Result<Task, String> {
    let (name, is_counted) = match name.strip_prefix(UNCOUNTED) {
        Some(name) => (name, false),
        None => (name, true),
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tasks")
        .join(name);
    let read = |file: &str| fs_err::read_to_string(folder.join(file));
    let mut toml = read("task.toml").map_err(|_| format!("there is no task `{name}`"))?;
    if !is_counted {
        let lines: Vec<&str> = toml
            .lines()
            .filter(|line| !line.starts_with("flops = "))
            .collect();
        toml = lines.join("\n") + "\n";
    }
    Ok(Task::parse(TaskFiles {
        toml: toml + more,
        prompt: read("prompt.md").unwrap(),
        seed: read("seed.c").unwrap(),
        reference: read("reference.c").unwrap(),
        baseline: read("baseline.c").ok(),
    })
    .unwrap())
}
