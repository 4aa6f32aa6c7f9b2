//! The policies to evaluate: models, and adapters on top of one.

use std::path::{Path, PathBuf};

use hotloop_flow::Task;
use hotloop_run::{Config, Layered};

use crate::cli::evaluate::{EvaluateArgs, names};
use crate::cmd::train;
use crate::failure::Failure;
use crate::{nano, runs};

/// The adapter name that stands for the plain model.
const NONE: &str = "none";

/// A policy's name, and the run configuration that creates it.
pub(super) struct Contestant {
    pub(super) name: String,
    pub(super) config: Config,
    /// As the user named it.
    given: Given,
}

/// A model, and an adapter on top of it.
#[derive(PartialEq)]
struct Given {
    model: PathBuf,
    adapter: Option<PathBuf>,
}

impl Given {
    /// A name from the last `parts` parts of the adapter's path, or of the model's if there is no
    /// adapter.
    fn name(&self, parts: usize) -> String {
        match &self.adapter {
            Some(adapter) => format!("{} + {}", short(&self.model, 1), short(adapter, parts)),
            None => short(&self.model, parts),
        }
    }
}

/// The folder of a policy's answers, by its name.
pub(super) fn folder(name: &str) -> String {
    let name = name.replace(' ', "").replace('/', "-");
    match name.strip_prefix('.') {
        // Hidden, or another folder.
        Some(rest) => format!("-{rest}"),
        None => name,
    }
}

/// One policy under a name of its own.
pub(super) fn called(arguments: &EvaluateArgs, name: &str) -> Result<Contestant, Failure> {
    let mut named = named(arguments)?;
    let mut contestant = named.swap_remove(0);
    name.clone_into(&mut contestant.name);
    Ok(contestant)
}

/// All policies that the flags name, in order, with distinct names.
pub(super) fn all(arguments: &EvaluateArgs) -> Result<Vec<Contestant>, Failure> {
    let mut contestants = named(arguments)?;
    let (mut names, given): (Vec<String>, Vec<&Given>) = contestants
        .iter()
        .map(|contestant| (contestant.name.clone(), &contestant.given))
        .unzip();
    lengthen(&mut names, &given);
    for (contestant, name) in contestants.iter_mut().zip(names) {
        contestant.name = name;
    }
    Ok(contestants)
}

/// Lengthens names that would share a folder until they differ or cannot grow. A policy that was
/// named twice is one policy.
fn lengthen(names: &mut [String], given: &[&Given]) {
    let length = |given: &&Given| {
        given
            .adapter
            .as_ref()
            .unwrap_or(&given.model)
            .components()
            .count()
    };
    let longest = given.iter().map(length).max().unwrap_or(0);
    for parts in 2..=longest {
        let folders: Vec<String> = names.iter().map(|name| folder(name)).collect();
        for (at, given) in given.iter().enumerate() {
            if folders
                .iter()
                .filter(|folder| **folder == folders[at])
                .count()
                > 1
            {
                names[at] = given.name(parts);
            }
        }
    }
    // A slash in one name may be a dash in another.
    for at in 1..names.len() {
        let others: Vec<String> = (0..at)
            .filter(|other| given[*other] != given[at])
            .map(|other| folder(&names[other]))
            .collect();
        let numbered = (2..).map(|number| format!("{} ({number})", names[at]));
        let mut free = std::iter::once(names[at].clone())
            .chain(numbered)
            .filter(|name| !others.contains(&folder(name)));
        names[at] = free.next().expect("there are more numbers than policies");
    }
}

fn named(arguments: &EvaluateArgs) -> Result<Vec<Contestant>, Failure> {
    if arguments.adapter.is_empty() {
        return arguments
            .model
            .iter()
            .map(|model| contestant(arguments, model, None))
            .collect();
    }
    let [model] = &arguments.model[..] else {
        return Err(
            Failure::user("--adapter goes with one --model: which model is it for?")
                .hint("evaluate each model with its adapters in a separate call"),
        );
    };
    let adapter = |path: &str| {
        contestant(
            arguments,
            model,
            Some(Path::new(path)).filter(|_| path != NONE),
        )
    };
    names(&arguments.adapter).into_iter().map(adapter).collect()
}

fn contestant(
    arguments: &EvaluateArgs,
    model: &str,
    adapter: Option<&Path>,
) -> Result<Contestant, Failure> {
    let given = Given {
        model: PathBuf::from(model),
        adapter: adapter.map(Path::to_owned),
    };
    let trained = checkpoint(Path::new(model));
    let mut sets = vec![
        format!(
            "model={}",
            trained
                .as_deref()
                .map_or(model.to_owned(), |path| path.display().to_string())
        ),
        format!("seed={}", arguments.seed),
        format!("sampling.temperature={:?}", arguments.temperature),
        format!("bench.opt={}", arguments.opt),
        format!("bench.threads={}", arguments.threads),
        format!("bench.slots={}", arguments.slots),
        // Nothing is learned here.
        "learning.rate=0".to_owned(),
    ];
    sets.extend(
        arguments
            .max_tokens
            .map(|tokens| format!("sampling.max-tokens={tokens}")),
    );
    if let Some(path) = adapter {
        let folder = checkpoint(path).unwrap_or_else(|| path.to_owned());
        if !folder.join("adapter_config.json").exists() {
            return Err(Failure::user(format!(
                "{}: there is no adapter_config.json in it",
                folder.display()
            ))
            .hint(
                "--adapter names a folder that `hotloop tune` or a run with LoRA wrote, a run's \
                 directory, or `none`",
            ));
        }
        sets.push(format!("adapter={}", folder.display()));
    }
    sets.extend_from_slice(&arguments.set);
    let read = |sets: &[String]| Layered::read(None, sets).map_err(|all| train::mistakes(&all));
    let mut fitted = runs::fitted(&read(&sets)?);
    fitted.append(&mut sets);
    let config = read(&fitted)?.config;
    runs::missing_model(&config).map_or(Ok(()), Err)?;
    Ok(Contestant {
        name: given.name(1),
        config,
        given,
    })
}

impl Contestant {
    /// Checks that the policy can be asked for a task.
    pub(super) fn check(&self, task: &Task) -> Result<(), Failure> {
        if nano::speaks(&self.config.model) {
            nano::check(task)
        } else {
            Ok(())
        }
    }
}

/// The last checkpoint, if this is a run directory.
fn checkpoint(run: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(run.join("checkpoints")).ok()?;
    let steps = entries.filter_map(|entry| Some(entry.ok()?.path()));
    // Other checkpoints are incomplete.
    let whole = |path: &PathBuf| {
        let number = path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.strip_prefix("step-"));
        number.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    steps.filter(whole).max()
}

/// The last parts of a path, without the extension.
fn short(path: &Path, parts: usize) -> String {
    let is_gguf = path
        .extension()
        .is_some_and(|extension| extension == "gguf");
    let path = if is_gguf {
        path.with_extension("")
    } else {
        path.to_owned()
    };
    let left_out = path.components().count().saturating_sub(parts);
    path.components()
        .skip(left_out)
        .collect::<PathBuf>()
        .display()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runs_directory_stands_for_its_last_checkpoint() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(checkpoint(folder.path()), None);
        for name in ["step-00000002", "step-00000010", "step-00000012.part"] {
            std::fs::create_dir_all(folder.path().join("checkpoints").join(name))
                .expect("a checkpoint");
        }
        assert_eq!(
            checkpoint(folder.path()),
            Some(folder.path().join("checkpoints/step-00000010"))
        );
    }

    #[test]
    fn names_are_short() {
        assert_eq!(short(Path::new("/a/qwen2.5-0.5b.gguf"), 1), "qwen2.5-0.5b");
        assert_eq!(short(Path::new("runs/o3-1"), 1), "o3-1");
        assert_eq!(short(Path::new("Qwen/Qwen2.5-Coder"), 1), "Qwen2.5-Coder");
        assert_eq!(
            short(Path::new("/a/qwen2.5-0.5b.gguf"), 2),
            "a/qwen2.5-0.5b"
        );
    }

    #[test]
    fn names_are_as_long_as_needed_to_differ() {
        let lengthened = |adapters: &[&str]| {
            let given: Vec<Given> = adapters
                .iter()
                .map(|path| Given {
                    model: "/m/qwen.gguf".into(),
                    adapter: Some(path.into()).filter(|_| *path != NONE),
                })
                .collect();
            let mut names: Vec<String> = given.iter().map(|given| given.name(1)).collect();
            lengthen(&mut names, &given.iter().collect::<Vec<_>>());
            names
        };
        assert_eq!(
            lengthened(&["none", "seed1/warm", "seed2/warm", "cold"]),
            [
                "qwen",
                "qwen + seed1/warm",
                "qwen + seed2/warm",
                "qwen + cold"
            ]
        );
        assert_eq!(
            lengthened(&["a/1/warm", "b/1/warm"]),
            ["qwen + a/1/warm", "qwen + b/1/warm"]
        );
        // File names contain no slashes.
        let names = lengthened(&["x/a/warm", "y/a/warm", "z/x-a-warm"]);
        let folders: std::collections::BTreeSet<String> =
            names.iter().map(|name| folder(name)).collect();
        assert_eq!(folders.len(), 3, "{names:?}");
        assert_eq!(
            lengthened(&["a/warm", "a/warm"]),
            ["qwen + a/warm", "qwen + a/warm"],
            "it is one policy"
        );
    }
}
