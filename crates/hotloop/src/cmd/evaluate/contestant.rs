//! Who is evaluated: models, and adapters on top of one.

use std::path::{Path, PathBuf};

use flow::Task;
use run::{Config, Layered};

use crate::cli::evaluate::{EvaluateArgs, names};
use crate::cmd::train;
use crate::failure::Failure;
use crate::{nano, runs};

/// What stands for a model as it is, in the place of an adapter.
const NONE: &str = "none";

/// A policy by its name, and the run's configuration that leads to it.
pub(super) struct Contestant {
    pub(super) name: String,
    pub(super) config: Config,
}

/// All that the flags name, in their order.
pub(super) fn all(arguments: &EvaluateArgs) -> Result<Vec<Contestant>, Failure> {
    if arguments.adapter.is_empty() {
        return arguments.model.iter().map(|model| contestant(arguments, model, None)).collect();
    }
    let [model] = &arguments.model[..] else {
        return Err(Failure::user("--adapter goes with one --model: which of them is it for?")
            .hint("evaluate each model with its adapters in a call of its own"));
    };
    let adapter = |path: &str| contestant(arguments, model, Some(Path::new(path)).filter(|_| path != NONE));
    names(&arguments.adapter).into_iter().map(adapter).collect()
}

fn contestant(arguments: &EvaluateArgs, model: &str, adapter: Option<&Path>) -> Result<Contestant, Failure> {
    let mut name = short(Path::new(model));
    let trained = checkpoint(Path::new(model));
    let mut sets = vec![
        format!("model={}", trained.as_deref().map_or(model.to_owned(), |path| path.display().to_string())),
        format!("seed={}", arguments.seed),
        format!("sampling.temperature={:?}", arguments.temperature),
        format!("bench.opt={:?}", arguments.opt),
        format!("bench.threads={}", arguments.threads),
        format!("bench.slots={}", arguments.slots),
        // Nothing is learned here.
        "learning.rate=0".to_owned(),
    ];
    sets.extend(arguments.max_tokens.map(|tokens| format!("sampling.max-tokens={tokens}")));
    if let Some(path) = adapter {
        let folder = checkpoint(path).unwrap_or_else(|| path.to_owned());
        if !folder.join("adapter_config.json").exists() {
            return Err(Failure::user(format!("{}: there is no adapter_config.json in it", folder.display())).hint(
                "--adapter names a folder that `hotloop tune` or a run with LoRA wrote, a run's directory, or `none`",
            ));
        }
        sets.push(format!("adapter={}", folder.display()));
        name = format!("{name} + {}", short(path));
    }
    sets.extend_from_slice(&arguments.set);
    let read = |sets: &[String]| Layered::read(None, sets).map_err(|all| train::mistakes(&all));
    let mut fitted = runs::fitted(&read(&sets)?);
    fitted.append(&mut sets);
    let config = read(&fitted)?.config;
    runs::missing_model(&config).map_or(Ok(()), Err)?;
    Ok(Contestant { name, config })
}

impl Contestant {
    /// Whether it can be asked for a task at all.
    pub(super) fn check(&self, task: &Task) -> Result<(), Failure> {
        if nano::speaks(&self.config.model) { nano::check(&task.spec.name) } else { Ok(()) }
    }
}

/// The last checkpoint of a run's directory, if that is what it is.
fn checkpoint(run: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(run.join("checkpoints")).ok()?;
    let steps = entries.filter_map(|entry| Some(entry.ok()?.path()));
    // Others are being written or were left half written.
    let whole = |path: &PathBuf| {
        let number = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix("step-"));
        number.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    steps.filter(whole).max()
}

/// The last part of a path, without what says its kind.
fn short(path: &Path) -> String {
    let is_gguf = path.extension().is_some_and(|extension| extension == "gguf");
    let name = if is_gguf { path.file_stem() } else { path.file_name() };
    name.map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runs_directory_stands_for_its_last_checkpoint() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(checkpoint(folder.path()), None);
        for name in ["step-00000002", "step-00000010", "step-00000012.part"] {
            std::fs::create_dir_all(folder.path().join("checkpoints").join(name)).expect("a checkpoint");
        }
        assert_eq!(checkpoint(folder.path()), Some(folder.path().join("checkpoints/step-00000010")));
    }

    #[test]
    fn names_are_short() {
        assert_eq!(short(Path::new("/a/qwen2.5-0.5b.gguf")), "qwen2.5-0.5b");
        assert_eq!(short(Path::new("runs/o3-1")), "o3-1");
        assert_eq!(short(Path::new("Qwen/Qwen2.5-Coder")), "Qwen2.5-Coder");
    }
}
