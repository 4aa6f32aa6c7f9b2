//! A checked configuration: what the loop reads.

mod checks;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hotloop_flow::Task;
use hotloop_flow::prompt::Wording;
use hotloop_flow::search::Settings;

use crate::config::{self, Config, Layered, Mistake};
use crate::event::{Practised, RunStarted};
use crate::interrupt::Interrupt;
use crate::store;
use checks::{check_adapter, check_directory, check_model, check_numbers, check_wording};

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

/// The wording of prompts: the embedded one, or that of a file.
pub fn wording(path: &str) -> Result<Wording, String> {
    if path.is_empty() {
        return Ok(Wording::default());
    }
    let text = fs_err::read_to_string(path).map_err(|error| error.to_string())?;
    Wording::parse(&text)
        .map_err(|error| format!("{path}: {}", error.to_string().replace('\n', " ")))
}
