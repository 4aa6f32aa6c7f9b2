//! The tasks that come with hotloop, and tasks in folders.

use std::path::Path;

use hotloop_flow::task::{Task, TaskFiles};
use hotloop_flow::{BenchError, Language};

use crate::gpu;

macro_rules! shipped {
    ($extension:literal: $($name:literal $(+ $baseline:literal)?),* $(,)?) => {
        &[$(Shipped {
            name: $name,
            toml: include_str!(concat!("../../../tasks/", $name, "/task.toml")),
            reference: include_str!(concat!("../../../tasks/", $name, "/reference.", $extension)),
            prompt: include_str!(concat!("../../../tasks/", $name, "/prompt.md")),
            seed: include_str!(concat!("../../../tasks/", $name, "/seed.", $extension)),
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
    /// Empty if no library does the task.
    baseline: &'static str,
}

const C: &[Shipped] = shipped!["c":
    "matmul" + "baseline.c",
    "matmul-any" + "baseline.c",
    "matvec" + "baseline.c",
    "stencil2d",
    "spmv",
    "fft",
    "softmax",
    "transpose",
];

const CUDA: &[Shipped] = shipped!["cu":
    "cuda/relu",
    "cuda/saxpy",
    "cuda/sum",
    "cuda/scan",
    "cuda/histogram",
    "cuda/transpose",
    "cuda/matmul",
    "cuda/softmax",
    "cuda/layernorm",
    "cuda/conv2d",
    "cuda/stencil2d",
    "cuda/spmv",
    "cuda/attention",
];

fn all() -> impl Iterator<Item = &'static Shipped> {
    C.iter().chain(CUDA)
}

/// The names of the shipped tasks.
pub fn shipped() -> impl Iterator<Item = &'static str> {
    all().map(|task| task.name)
}

/// The names of the shipped tasks in a language.
pub fn shipped_in(language: Language) -> impl Iterator<Item = &'static str> {
    let tasks = match language {
        Language::C => C,
        Language::Cuda => CUDA,
        Language::Torch => &[],
    };
    tasks.iter().map(|task| task.name)
}

/// The shipped tasks in all languages whose candidates can run on this machine.
pub fn here() -> impl Iterator<Item = &'static str> {
    let runs = |language: &Language| match language {
        Language::C => true,
        Language::Cuda => gpu::is_here(),
        Language::Torch => false,
    };
    Language::ALL.into_iter().filter(runs).flat_map(shipped_in)
}

/// A task by its name, or from its folder if `name` contains a slash or is a dot.
pub fn load(name: &str) -> Result<Task, BenchError> {
    if let Some(task) = all().find(|task| task.name == name) {
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
    let name = folder.display().to_string();
    let read = |file: &str| {
        fs_err::read_to_string(folder.join(file))
            .map_err(|error| BenchError::user(error.to_string()))
    };
    let toml = read("task.toml").map_err(|error| error.hint(holds(Language::C)))?;
    let language = TaskFiles::language(&toml).map_err(|error| faulty(&name, &error))?;
    let read = |file: &str| read(file).map_err(|error| error.hint(holds(language)));
    let baseline = language.file("baseline");
    let baseline = folder.join(&baseline).exists().then(|| read(&baseline));
    let files = TaskFiles {
        toml,
        reference: read(&language.file("reference"))?,
        prompt: read("prompt.md")?,
        seed: read(&language.file("seed"))?,
        baseline: baseline.transpose()?,
    };
    parse(files, &name)
}

fn holds(language: Language) -> String {
    let (reference, seed) = (language.file("reference"), language.file("seed"));
    format!("a task folder holds task.toml, {reference}, prompt.md and {seed}")
}

fn parse(files: TaskFiles, name: &str) -> Result<Task, BenchError> {
    let task = Task::parse(files).map_err(|error| faulty(name, &error))?;
    let supported = task.spec.language.supported();
    supported.map_err(|error| faulty(name, &error))?;
    Ok(task)
}

fn faulty(name: &str, error: &dyn std::error::Error) -> BenchError {
    BenchError::user(format!("task {name}: {error}"))
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
                task.prompt.contains(&task.function().entry),
                "{name}: the prompt names the entry point"
            );
        }
    }

    #[test]
    fn a_task_in_another_language_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let toml = "name = \"m\"\nsummary = \"s\"\nlanguage = \"torch\"\nclass = \"Model\"\ncost = { bytes = \"0\" }\nverify = { method = \"full\", bound = \"1\", why = \"w\" }\n";
        let load = || load_folder(folder.path()).unwrap_err();
        for (file, text) in [
            ("task.toml", toml),
            ("prompt.md", ""),
            ("reference.py", ""),
            ("seed.c", ""),
        ] {
            std::fs::write(folder.path().join(file), text).unwrap();
        }
        assert!(load().hint.unwrap().contains("seed.py"));
        std::fs::write(folder.path().join("seed.py"), "").unwrap();
        let refused = "tasks in torch cannot be judged by this version";
        assert!(load().what.ends_with(refused));
    }

    #[test]
    fn an_unknown_task_is_named_with_the_known_ones() {
        let error = load("matmull").unwrap_err();
        assert!(error.what.contains("matmull") && error.hint.unwrap().contains("matmul-any"));
    }
}
