//! A configuration that was checked: what the loop reads.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hotloop_flow::Task;
use hotloop_flow::prompt::Wording;
use hotloop_flow::search::Settings;

use crate::config::{self, Config, Layered, Mistake};
use crate::interrupt::Interrupt;
use crate::store;

/// Everything that a run needs, checked.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What was configured.
    pub config: Config,
    /// The task.
    pub task: Arc<Task>,
    /// Tasks that are practised beside it, so that the policy does not forget them.
    pub practised: Vec<Arc<Task>>,
    /// What prompts say.
    pub wording: Wording,
    /// The run directory.
    pub directory: PathBuf,
    /// Whether somebody asked for `loop.max-kl`.
    guarded: bool,
}

/// The keys in which a plan differs from the run that its directory holds.
#[derive(Debug)]
pub struct Changes {
    /// They would make it another run.
    pub of_the_run: Vec<String>,
    /// They only say when it ends, and may change between two sittings.
    pub of_the_budget: Vec<String>,
}

impl Plan {
    /// Checks a configuration. `load` finds a task by its name or folder; `name` is the
    /// run file's, for the directory of runs that name none.
    pub fn new(
        layered: &Layered,
        name: &str,
        load: &dyn Fn(&str) -> Result<Task, String>,
    ) -> Result<Self, Vec<Mistake>> {
        let config = layered.config.clone();
        let mut mistakes = Vec::new();
        let mut note = |key: &str, what: String| mistakes.push(layered.mistake(key, what));
        check_numbers(&config, &mut note);
        check_model(&config, &mut note);
        check_adapter(&config, &mut note);
        let wording = wording(&config.prompts.wording)
            .map_err(|what| note("prompts.wording", what))
            .ok();
        let directory = directory(&config.directory, name);
        check_directory(&directory).unwrap_or_else(|what| note("directory", what));
        let tasks = tasks(&config, load, &mut note);
        if let Some(wording) = &wording {
            check_wording(&config, &tasks, wording, &mut note);
        }
        let mut tasks = tasks.into_iter();
        match (tasks.next(), wording) {
            (Some(task), Some(wording)) if mistakes.is_empty() => {
                let guarded = asks_for_guard(layered);
                Ok(Self {
                    config,
                    task,
                    practised: tasks.collect(),
                    wording,
                    directory,
                    guarded,
                })
            }
            _ => Err(mistakes),
        }
    }

    /// The mistakes that can be told before it is known what runs: those of numbers.
    pub fn mistaken_numbers(layered: &Layered) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        check_numbers(&layered.config, &mut |key, what| {
            mistakes.push(layered.mistake(key, what));
        });
        mistakes
    }

    /// The plan of a run that is already in `directory`, which may have moved. `overrides`
    /// may only change what does not change the run, such as its budget.
    pub fn resume(
        directory: &Path,
        overrides: &[String],
        load: &dyn Fn(&str) -> Result<Task, String>,
    ) -> Result<Self, Vec<Mistake>> {
        let file = directory.join("run.toml").display().to_string();
        let text = store::config(directory).map_err(|error| {
            vec![Mistake {
                file: file.clone(),
                key: String::new(),
                what: error.to_string(),
            }]
        })?;
        let mut sets = overrides.to_vec();
        sets.push(format!("directory={}", directory.display()));
        Self::new(&Layered::read(Some((&file, &text)), &sets)?, "", load)
    }

    /// What is asked of the run in its directory that it did not begin with, but for where it lies
    /// and is computed.
    pub fn changes(&self) -> Result<Changes, Interrupt> {
        let text = store::config(&self.directory)?;
        let stored = Layered::read(Some(("run.toml", &text)), &[]).map_err(|mistakes| {
            Interrupt::Unreadable(mistakes.iter().map(ToString::to_string).collect())
        })?;
        let differ = config::differences(&stored.config, &self.config).into_iter();
        let (of_the_budget, of_the_run) = differ.partition(|key| key.starts_with("budget."));
        Ok(Changes {
            of_the_run,
            of_the_budget,
        })
    }

    /// All tasks with what the journal calls them: the run's own needs no name.
    pub fn tasks(&self) -> impl Iterator<Item = (Option<&str>, &Arc<Task>)> {
        let practised = self
            .practised
            .iter()
            .map(|task| (Some(task.spec.name.as_str()), task));
        std::iter::once((None, &self.task)).chain(practised)
    }

    /// The task that the journal calls so.
    pub(crate) fn task_of(&self, name: Option<&str>) -> &Arc<Task> {
        let found = self.tasks().find(|(known, _)| *known == name);
        found
            .expect("a run goes on with the tasks that it began with")
            .1
    }

    /// Whether answers change the policy.
    pub fn learns(&self) -> bool {
        self.config.learning.rate > 0.0
    }

    /// What a person should know of the configuration before the run begins.
    pub fn notes(&self) -> Vec<String> {
        let guarded = self.guarded && self.config.stepping.max_kl > 0.0;
        let unseen = self.learns() && self.config.learning.beta <= 0.0;
        let note = "loop.max-kl guards nothing: with learning.beta = 0 the divergence from the reference is not \
                    measured; set learning.beta above 0, or loop.max-kl to 0";
        (guarded && unseen)
            .then(|| note.to_owned())
            .into_iter()
            .collect()
    }

    /// The search's rules.
    pub fn search(&self) -> Settings {
        let search = self.config.search;
        Settings {
            parents: search.parents,
            stages: search.stages,
            repair: search.repair,
            deepening: search.deepening,
            elites: search.elites,
            last: self.task.spec.stages.last(),
        }
    }
}

/// Whether a layer asks for `loop.max-kl`. One that lists all keys, as `hotloop train --defaults`
/// prints them and a run keeps them, asks for nothing by those that are as they were.
fn asks_for_guard(layered: &Layered) -> bool {
    let named = |key: &str| !layered.is_default(key);
    named("loop.max-kl") && (!named("learning.beta") || layered.changes("loop.max-kl"))
}

fn directory(configured: &str, name: &str) -> PathBuf {
    if configured.is_empty() {
        Path::new("runs").join(name)
    } else {
        PathBuf::from(configured)
    }
}

/// The tasks that were found. The journal tells them apart by their names.
fn tasks(
    config: &Config,
    load: &dyn Fn(&str) -> Result<Task, String>,
    note: &mut impl FnMut(&str, String),
) -> Vec<Arc<Task>> {
    if let Some(what) = config.task.taken_apart() {
        note("task", what);
        return Vec::new();
    }
    if config.tasks().next().is_none() {
        note(
            "task",
            "the list is empty; name the run's task in it".to_owned(),
        );
    }
    let mut tasks: Vec<Arc<Task>> = Vec::new();
    for name in config.tasks() {
        if name.is_empty() {
            note("task", format!("a name is missing in `{}`", config.task));
            continue;
        }
        match load(name) {
            Err(what) => note("task", what),
            Ok(task) if tasks.iter().any(|known| known.spec.name == task.spec.name) => {
                note("task", format!("`{}` is named twice", task.spec.name));
            }
            Ok(task) => tasks.push(Arc::new(task)),
        }
    }
    tasks
}

fn check_numbers(config: &Config, note: &mut impl FnMut(&str, String)) {
    check_sampling(config, note);
    check_learning(config, note);
    check_limits(config, note);
    if let Some(mistake) = config.reward.mistake() {
        note(&format!("reward.{}", mistake.key), mistake.what);
    }
}

fn check_sampling(config: &Config, note: &mut impl FnMut(&str, String)) {
    let sampling = &config.sampling;
    let mut check = |holds: bool, key: &str, what: &str| {
        if !holds {
            note(key, what.to_owned());
        }
    };
    check(
        sampling.group >= 2,
        "sampling.group",
        "a group needs at least 2 answers to compare",
    );
    check(
        sampling.prompts_per_step >= 1,
        "sampling.prompts-per-step",
        "at least 1 is wanted",
    );
    check(
        sampling.max_tokens >= 1,
        "sampling.max-tokens",
        "at least 1 is wanted",
    );
    check(
        sampling.temperature > 0.0,
        "sampling.temperature",
        "must be above 0: a group of equal answers tells nothing",
    );
    let (top, least) = (sampling.top_p, sampling.min_p);
    check(
        top > 0.0 && top <= 1.0,
        "sampling.top-p",
        "above 0 and at most 1 is wanted; 1 keeps all tokens",
    );
    check(
        (0.0..=1.0).contains(&least),
        "sampling.min-p",
        "from 0 to 1 is wanted; 0 keeps all tokens",
    );
}

fn check_learning(config: &Config, note: &mut impl FnMut(&str, String)) {
    let sampling = &config.sampling;
    let learning = &config.learning;
    let mut check = |holds: bool, key: &str, what: &str| {
        if !holds {
            note(key, what.to_owned());
        }
    };
    let trains = learning.rate > 0.0;
    let cut = "training needs all tokens: logprobs of cut tails bias the gradient";
    check(
        !trains || sampling.top_p >= 1.0,
        "sampling.top-p",
        &format!("{cut}; set it to 1, or learning.rate to 0"),
    );
    check(
        !trains || sampling.top_k == 0,
        "sampling.top-k",
        &format!("{cut}; set it to 0, or learning.rate to 0"),
    );
    check(
        !trains || sampling.min_p <= 0.0,
        "sampling.min-p",
        &format!("{cut}; set it to 0, or learning.rate to 0"),
    );
    check(
        learning.rate >= 0.0 && learning.rate < 1.0,
        "learning.rate",
        "0 or more, and below 1, is wanted",
    );
    check(
        learning.beta >= 0.0,
        "learning.beta",
        "must not be negative",
    );
    check(
        learning.std_floor >= 0.0,
        "learning.std-floor",
        "must not be negative",
    );
    check(
        learning.clip_low > 0.0 && learning.clip_low < 1.0,
        "learning.clip-low",
        "between 0 and 1 is wanted",
    );
    check(
        learning.clip_high > 0.0,
        "learning.clip-high",
        "must be above 0",
    );
}

fn check_limits(config: &Config, note: &mut impl FnMut(&str, String)) {
    let mut check = |holds: bool, key: &str, what: &str| {
        if !holds {
            note(key, what.to_owned());
        }
    };
    check(
        config.search.parents >= 1,
        "search.parents",
        "at least 1 is wanted: the seed",
    );
    check(
        config.bench.how.threads >= 1,
        "bench.threads",
        "at least 1 is wanted",
    );
    check(
        config.bench.slots >= 1,
        "bench.slots",
        "at least 1 is wanted",
    );
    check(
        config.stepping.checkpoint_every >= 1,
        "loop.checkpoint-every",
        "at least 1 is wanted",
    );
    check(
        config.stepping.max_kl >= 0.0,
        "loop.max-kl",
        "must not be negative",
    );
    let budget = &config.budget;
    check(
        budget.seconds >= 0.0,
        "budget.seconds",
        "must not be negative",
    );
    check(
        budget.steps > 0 || budget.seconds > 0.0 || budget.iterations > 0,
        "budget.steps",
        "no limit is set: the run would not end",
    );
    check(
        budget.iterations == 0 || config.prompts.source.searches(),
        "budget.iterations",
        "only a search has iterations; set prompts.source to \"sqd\", or this to 0",
    );
}

/// Hub names are looked up by the one who loads; a path must exist now.
fn check_model(config: &Config, note: &mut impl FnMut(&str, String)) {
    let model = config.model.as_str();
    if model.is_empty() {
        let remedy =
            "write `model = \"nano\"`, or a folder, a GGUF file or a hub name instead of nano";
        note("model", format!("no model is named; {remedy}"));
    } else if (model.starts_with(['.', '/'])
        || Path::new(model)
            .extension()
            .is_some_and(|end| end == "gguf"))
        && !Path::new(model).exists()
    {
        note("model", format!("there is no `{model}`"));
    }
}

fn check_adapter(config: &Config, note: &mut impl FnMut(&str, String)) {
    let adapter = config.adapter.as_str();
    if !adapter.is_empty() && !Path::new(adapter).join("adapter_config.json").exists() {
        note(
            "adapter",
            format!("there is no adapter_config.json in `{adapter}`"),
        );
    }
}

/// What prompts say: the embedded words, or those of a file.
pub fn wording(path: &str) -> Result<Wording, String> {
    if path.is_empty() {
        return Ok(Wording::default());
    }
    let text = fs_err::read_to_string(path).map_err(|error| error.to_string())?;
    Wording::parse(&text)
        .map_err(|error| format!("{path}: {}", error.to_string().replace('\n', " ")))
}

fn check_wording(
    config: &Config,
    tasks: &[Arc<Task>],
    wording: &Wording,
    note: &mut impl FnMut(&str, String),
) {
    let file = if config.prompts.wording.is_empty() {
        "the embedded wording"
    } else {
        &config.prompts.wording
    };
    if config.prompts.source.asks_fixed() && wording.fixed_count() == 0 {
        note("prompts.wording", format!("{file} has no fixed prompts"));
    }
    let unknown = |key: &&str| {
        let has = |task: &Arc<Task>| task.spec.stages.find(key).is_ok();
        !tasks.is_empty() && !tasks.iter().any(has)
    };
    for key in wording.stages().filter(unknown) {
        note(
            "prompts.wording",
            format!("{file}: stages: no task of this run has a stage `{key}`"),
        );
    }
}

/// Makes the directory and writes to it, which is the only way to know.
fn check_directory(directory: &Path) -> Result<(), String> {
    let cannot = |error: std::io::Error| {
        format!(
            "`{}` cannot be written: {}",
            directory.display(),
            plain(&error)
        )
    };
    std::fs::create_dir_all(directory).map_err(cannot)?;
    let probe = directory.join(".writable");
    std::fs::write(&probe, b"").map_err(cannot)?;
    std::fs::remove_file(&probe).map_err(cannot)
}

/// An error without its number.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error")
        .next()
        .unwrap_or(&text)
        .to_lowercase()
}
