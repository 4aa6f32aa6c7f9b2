//! A checked configuration: what the loop reads.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hotloop_flow::Task;
use hotloop_flow::prompt::Wording;
use hotloop_flow::search::Settings;

use crate::config::{self, Config, Layered, Mistake, Reviewer};
use crate::event::{Practised, RunStarted};
use crate::interrupt::Interrupt;
use crate::store;

/// Everything that a run needs, checked.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What was configured.
    pub config: Config,
    pub task: Arc<Task>,
    /// Tasks that the run also practises, so that the policy does not forget them.
    pub practised: Vec<Arc<Task>>,
    /// The wording of prompts.
    pub wording: Wording,
    /// The run directory.
    pub directory: PathBuf,
    /// Whether the user set `loop.max-kl`.
    guarded: bool,
}

/// The keys in which a plan differs from the run in its directory.
#[derive(Debug)]
pub struct Changes {
    /// Changing these would make it a different run.
    pub of_the_run: Vec<String>,
    /// These only say when the run ends, and may change when it is resumed.
    pub of_the_budget: Vec<String>,
}

impl Plan {
    /// Checks a configuration. `load` finds a task by its name or folder. `name` is the run file's
    /// name; it becomes the directory of a run that names none.
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

    /// Mistakes in numbers, which can be found before tasks and model are known.
    pub fn mistaken_numbers(layered: &Layered) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        check_numbers(&layered.config, &mut |key, what| {
            mistakes.push(layered.mistake(key, what));
        });
        mistakes
    }

    /// The plan of the run in `directory`, which may have moved. `overrides` may only change keys
    /// that keep it the same run, such as its budget.
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

    /// The keys that differ from those the run in the directory started with. Keys that only say
    /// where it is stored or computed do not count.
    pub fn changes(&self) -> Result<Changes, Interrupt> {
        let text = store::config(&self.directory)?;
        let stored = Layered::read(Some(("run.toml", &text)), &[]).map_err(|mistakes| {
            Interrupt::Unreadable(mistakes.iter().map(ToString::to_string).collect())
        })?;
        let differ = config::differences(&stored.config, &self.config).into_iter();
        let (of_the_budget, of_the_run) = differ.partition(|key| is_budget(key));
        Ok(Changes {
            of_the_run,
            of_the_budget,
        })
    }

    /// All tasks with their names in the journal. The run's own task has none.
    pub fn tasks(&self) -> impl Iterator<Item = (Option<&str>, &Arc<Task>)> {
        let practised = self
            .practised
            .iter()
            .map(|task| (Some(task.spec.name.as_str()), task));
        std::iter::once((None, &self.task)).chain(practised)
    }

    /// The task with this name in the journal.
    pub(crate) fn task_of(&self, name: Option<&str>) -> &Arc<Task> {
        let found = self.tasks().find(|(known, _)| *known == name);
        found
            .expect("a resumed run has the tasks that it started with")
            .1
    }

    /// The configuration as the journal keeps it: without where the run is stored and judged, which
    /// may change.
    pub(crate) fn journaled(&self) -> String {
        let config = Config {
            directory: String::new(),
            fleet: String::new(),
            ..self.config.clone()
        };
        config.to_toml()
    }

    /// Refuses to continue a run that began otherwise. Its `run.toml` may have been edited since,
    /// so the journal's copy counts, too.
    pub(crate) fn continues(&self, began: &RunStarted) -> Result<(), Interrupt> {
        let mut differ = self.changes()?.of_the_run;
        if let Some(config) = &began.config
            && let Ok(config) = Layered::read(Some(("run.toml", config)), &[])
        {
            differ.extend(config::differences(&config.config, &self.config));
            differ.retain(|key| !is_budget(key));
            differ.sort_unstable();
            differ.dedup();
        }
        if !differ.is_empty() {
            return Err(Interrupt::Reconfigured(differ.join(", ")));
        }
        self.practises(&began.practised)
    }

    /// Refuses practised tasks other than those that the run began with. The run file may name a
    /// folder of tasks, which may have changed.
    pub fn practises(&self, began: &[Practised]) -> Result<(), Interrupt> {
        let told = |task: Option<(&String, &String)>| match task {
            Some((name, hash)) => format!("practised task {name} {hash}"),
            None => "no practised task in its place".to_owned(),
        };
        let was = began.iter().map(|was| (&was.task, &was.task_hash));
        let is = self.practised.iter().map(|is| (&is.spec.name, &is.hash));
        let (mut was, mut is) = (was.fuse(), is.fuse());
        loop {
            match (was.next(), is.next()) {
                (None, None) => return Ok(()),
                (was, is) if was == is => {}
                (was, is) => {
                    return Err(Interrupt::Foreign {
                        was: told(was),
                        is: told(is),
                    });
                }
            }
        }
    }

    /// Whether answers change the policy.
    pub fn learns(&self) -> bool {
        self.config.learning.rate > 0.0
    }

    /// What the user should know about the configuration before the run starts.
    pub fn notes(&self) -> Vec<String> {
        let guarded = self.guarded && self.config.stepping.max_kl > 0.0;
        let unseen = self.learns() && self.config.learning.beta <= 0.0;
        let note = "loop.max-kl has no effect: with learning.beta = 0 the KL divergence from the reference is not measured; set learning.beta above 0, or loop.max-kl to 0";
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

/// Whether a key only says when a run ends.
fn is_budget(key: &str) -> bool {
    key.starts_with("budget.")
}

/// Whether the user set `loop.max-kl`. A file that lists all keys, as printed by `hotloop train
/// --defaults` or kept by a run, does not count if the value is the default.
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

/// Loads the tasks and checks that their names differ, because the journal identifies tasks by
/// name.
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
    let mut names = Vec::new();
    for name in config.tasks() {
        match name.strip_suffix("/*") {
            Some(folder) => match in_folder(Path::new(folder)) {
                Ok(found) => names.extend(found),
                Err(what) => note("task", what),
            },
            None => names.push(name.to_owned()),
        }
    }
    for name in &names {
        if name.is_empty() {
            note("task", format!("`{}` has an empty name", config.task));
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

/// The task folders in a folder, by name.
fn in_folder(folder: &Path) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(folder).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.join("task.toml").exists() {
            // A path with a slash is a folder and no shipped task.
            found.push(Path::new(".").join(path).display().to_string());
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(format!("there is no task in `{}`", folder.display()));
    }
    Ok(found)
}

fn check_numbers(config: &Config, note: &mut impl FnMut(&str, String)) {
    check_sampling(config, note);
    check_learning(config, note);
    check_limits(config, note);
    if let Some(mistake) = config.reward.shape.mistake() {
        note(&format!("reward.{}", mistake.key), mistake.what);
    }
    if let Some(reviewer) = &config.reward.reviewer {
        check_reviewer(reviewer, note);
    }
}

fn check_reviewer(reviewer: &Reviewer, note: &mut impl FnMut(&str, String)) {
    if reviewer.model.is_empty() {
        let what = "no model is named; name a folder, a GGUF file, a hub name or URL#NAME";
        note("reward.reviewer.model", what.to_owned());
    }
    let lambda = reviewer.lambda;
    if !lambda.is_finite() || lambda < 0.0 {
        let what = format!("{lambda} would reward code with a bad opinion; set it to 0 or more");
        note("reward.reviewer.lambda", what);
    }
    if reviewer.max_tokens < 64 {
        let what = "an opinion does not fit; set it to at least 64";
        note("reward.reviewer.max-tokens", what.to_owned());
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
        "must be at least 1",
    );
    check(
        sampling.max_tokens >= 1,
        "sampling.max-tokens",
        "must be at least 1",
    );
    check(
        sampling.temperature > 0.0,
        "sampling.temperature",
        "must be above 0: a group of equal answers teaches nothing",
    );
    let (top, least) = (sampling.top_p, sampling.min_p);
    check(
        top > 0.0 && top <= 1.0,
        "sampling.top-p",
        "must be above 0 and at most 1; 1 keeps all tokens",
    );
    check(
        (0.0..=1.0).contains(&least),
        "sampling.min-p",
        "must be from 0 to 1; 0 keeps all tokens",
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
    let cut = "training needs all tokens: truncated tails bias the gradient";
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
        "must be at least 0 and below 1",
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
    check(learning.k >= 1, "learning.k", "must be at least 1");
    check(
        learning.k_last >= 1,
        "learning.k-last",
        "must be at least 1",
    );
    check(
        learning.kl_budget > 0.0,
        "learning.kl-budget",
        "must be above 0: without a difference from the plain answers there is nothing to learn; ln 2 is 0.69",
    );
    check(
        learning.clip_low > 0.0 && learning.clip_low < 1.0,
        "learning.clip-low",
        "must be between 0 and 1",
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
        config.copy_penalty >= 0.0 && config.copy_penalty.is_finite(),
        "copy-penalty",
        "must be at least 0; 0 lets copies earn as much as originals",
    );
    check(
        config.prompts.practised >= 1,
        "prompts.practised",
        "must be at least 1; to practise nothing, name one task",
    );
    check(
        matches!(config.prompts.contrast, 0 | 2..=4),
        "prompts.contrast",
        "must be 0, or from 2 to 4: one program shows no difference, and more do not fit into a prompt",
    );
    check(
        config.search.parents >= 1,
        "search.parents",
        "must be at least 1, for the seed",
    );
    check(
        config.bench.how.threads >= 1,
        "bench.threads",
        "must be at least 1",
    );
    check(config.bench.slots >= 1, "bench.slots", "must be at least 1");
    check(
        config.stepping.checkpoint_every >= 1,
        "loop.checkpoint-every",
        "must be at least 1",
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
        budget.steps > 0 || budget.seconds > 0.0 || budget.iterations > 0 || budget.answers > 0,
        "budget.steps",
        "no limit is set: the run would not end",
    );
    check(
        budget.iterations == 0 || config.prompts.source.searches(),
        "budget.iterations",
        "only a search has iterations; set prompts.source to \"sqd\", or this to 0",
    );
}

/// A path must exist now. Loading the model checks hub names.
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

/// The wording of prompts: the embedded one, or that of a file.
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
    let silent = |task: &Arc<Task>| wording.fixed_count(task.spec.language) == 0;
    if config.prompts.source.asks_fixed() && tasks.iter().any(silent) {
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

/// Creates the directory and writes to it. Nothing else shows that this works. Leaves nothing
/// behind, since the run file may still be refused.
fn check_directory(directory: &Path) -> Result<(), String> {
    let missing: Vec<&Path> = directory
        .ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .collect();
    let probe = directory.join(".writable");
    let written = std::fs::create_dir_all(directory)
        .and_then(|()| std::fs::write(&probe, b""))
        .and_then(|()| std::fs::remove_file(&probe));
    for folder in missing {
        drop(std::fs::remove_dir(folder));
    }
    written.map_err(|error| format!("`{}` cannot be written: {error}", directory.display()))
}
