//! The tasks that come with hotloop, and tasks in folders.

use std::path::Path;

use hotloop_flow::BenchError;
use hotloop_flow::task::{Task, TaskFiles};

macro_rules! shipped {
    ($($name:literal $(+ $baseline:literal)?),* $(,)?) => {
        &[$(Shipped {
            name: $name,
            toml: include_str!(concat!("../../../tasks/", $name, "/task.toml")),
            reference: include_str!(concat!("../../../tasks/", $name, "/reference.c")),
            prompt: include_str!(concat!("../../../tasks/", $name, "/prompt.md")),
            seed: include_str!(concat!("../../../tasks/", $name, "/seed.c")),
            baseline: [$(include_str!(concat!("../../../tasks/", $name, "/", $baseline)),)? ""][0],
        }),*]
    };
}

struct Shipped {
    name: &'static str,
    toml: &'static str,
    reference: &'static str,
    prompt: &'static str,
    seed: &'static str,
    /// Empty where no library does the task.
    baseline: &'static str,
}

const SHIPPED: &[Shipped] = shipped![
    "matmul" + "baseline.c",
    "matmul-any" + "baseline.c",
    "matvec" + "baseline.c",
    "stencil2d",
    "spmv",
    "fft",
    "softmax",
    "transpose",
];

/// The names of the shipped tasks.
pub fn shipped() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|task| task.name)
}

/// A task by its name, or from its folder when `name` holds a slash or is a dot.
pub fn load(name: &str) -> Result<Task, BenchError> {
    if let Some(task) = SHIPPED.iter().find(|task| task.name == name) {
        let files = TaskFiles {
            toml: task.toml.into(),
            reference: task.reference.into(),
            prompt: task.prompt.into(),
            seed: task.seed.into(),
            baseline: (!task.baseline.is_empty()).then(|| task.baseline.into()),
        };
        return parse(files, name);
    }
    if name.contains('/') || name.starts_with('.') {
        return load_folder(Path::new(name));
    }
    let names: Vec<&str> = shipped().collect();
    Err(
        BenchError::user(format!("there is no task `{name}`")).hint(format!(
            "the shipped tasks are {}; a folder of your own is named by its path, as in ./{name}",
            names.join(", ")
        )),
    )
}

fn load_folder(folder: &Path) -> Result<Task, BenchError> {
    let read = |file: &str| {
        fs_err::read_to_string(folder.join(file)).map_err(|error| {
            BenchError::user(error.to_string())
                .hint("a task folder holds task.toml, reference.c, prompt.md and seed.c")
        })
    };
    let baseline = folder
        .join("baseline.c")
        .exists()
        .then(|| read("baseline.c"))
        .transpose()?;
    let files = TaskFiles {
        toml: read("task.toml")?,
        reference: read("reference.c")?,
        prompt: read("prompt.md")?,
        seed: read("seed.c")?,
        baseline,
    };
    parse(files, &folder.display().to_string())
}

fn parse(files: TaskFiles, name: &str) -> Result<Task, BenchError> {
    Task::parse(files).map_err(|error| BenchError::user(format!("task {name}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_task_can_be_read_and_has_its_name() {
        for name in shipped() {
            let task = load(name).unwrap();
            assert_eq!(task.spec.name, name);
            assert!(
                task.prompt.contains(&task.spec.entry),
                "{name}: the prompt names the entry point"
            );
        }
    }

    #[test]
    fn an_unknown_task_is_named_with_the_known_ones() {
        let error = load("matmull").unwrap_err();
        assert!(error.what.contains("matmull") && error.hint.unwrap().contains("matmul-any"));
    }
}
