//! A plan: reads a file into jobs in order, and checks everything before anything runs.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use toml::{Table, Value};

use super::variables::Variables;

/// A plan as the user wrote it.
#[derive(Debug, Clone, Copy)]
pub struct PlanText<'a> {
    pub file: &'a Path,
    /// The file's content.
    pub text: &'a str,
}

/// What the user asks for besides the file.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// The folder that gets one folder for each job.
    pub out: PathBuf,
    /// Values for names of the plan's `[let]`.
    pub values: Vec<(String, String)>,
    /// Jobs that were done elsewhere, and where their folders are.
    pub have: Vec<(String, PathBuf)>,
    /// Only these jobs and the jobs that they need; `*` matches anything. Empty means all jobs.
    pub only: Vec<String>,
}

/// Jobs, and the total time they may take.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The seconds that the file allows for all jobs.
    pub budget_s: Option<f64>,
    /// The jobs that were asked for, in the file's order.
    pub jobs: Vec<Job>,
}

/// One job, with its own folder.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub name: String,
    pub folder: PathBuf,
    /// The job is asked to stop after this many seconds.
    pub seconds: f64,
    /// Command lines of this program, without its name.
    pub commands: Vec<Vec<String>>,
    /// For a training run: the command that continues it, without the program's name.
    pub resume: Option<Vec<String>>,
    /// The jobs that must be done first.
    pub needs: Vec<String>,
    /// The control that the run is compared with.
    pub against: Option<String>,
    /// Whether the job's output is shown below the tables.
    pub show: bool,
    /// The job was done elsewhere.
    pub have: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {what}")]
pub struct PlanMistake {
    pub file: String,
    pub what: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    budget: Option<f64>,
    #[serde(default, rename = "let")]
    values: Table,
    #[serde(default)]
    job: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    seconds: Value,
    run: Option<Value>,
    train: Option<String>,
    #[serde(default)]
    set: Table,
    each: Option<Value>,
    against: Option<String>,
    #[serde(default)]
    show: bool,
}

impl Plan {
    /// Reads a plan and makes its jobs.
    pub fn read(text: PlanText<'_>, asked: &Asked) -> Result<Self, PlanMistake> {
        let file = text.file.display().to_string();
        let mistake = |what: String| PlanMistake {
            file: file.clone(),
            what,
        };
        let parsed: File = toml::from_str(text.text).map_err(|error| mistake(error.to_string()))?;
        if let Some(budget) = parsed.budget.filter(|budget| !is_time(*budget)) {
            return Err(mistake(format!("budget = {budget}: give seconds above 0")));
        }
        let here = text.file.parent().unwrap_or(Path::new("."));
        let jobs = jobs(&parsed, here, asked).map_err(mistake)?;
        Ok(Self {
            budget_s: parsed.budget,
            jobs: chosen(jobs, &asked.only).map_err(mistake)?,
        })
    }
}

fn is_time(seconds: f64) -> bool {
    seconds > 0.0 && seconds.is_finite()
}

fn jobs(file: &File, here: &Path, asked: &Asked) -> Result<Vec<Job>, String> {
    let variables = variables(file, here, asked)?;
    let mut named: Vec<(String, &Entry, Variables)> = Vec::new();
    for entry in &file.job {
        for choice in choices(entry)? {
            let variables = variables.with(choice);
            let name = variables
                .fill(&entry.name, &mut Vec::new())
                .map_err(|what| format!("job `{}`: name: {what}", entry.name))?;
            if !is_folder(&name) {
                return Err(format!(
                    "`{name}` cannot name a job: its folder is called like it; use one folder's \
                     name, which does not begin with a dot"
                ));
            }
            if named.iter().any(|(other, ..)| *other == name) {
                return Err(format!("two jobs are called `{name}`: rename one"));
            }
            named.push((name, entry, variables));
        }
    }
    let known: Vec<&str> = named.iter().map(|(name, ..)| name.as_str()).collect();
    if let Some((unknown, _)) = asked
        .have
        .iter()
        .find(|(name, _)| !known.contains(&name.as_str()))
    {
        return Err(format!(
            "there is no job `{unknown}` whose folder could be given; there are {}",
            known.join(", ")
        ));
    }
    let have: BTreeMap<&str, &PathBuf> = asked
        .have
        .iter()
        .map(|(name, folder)| (name.as_str(), folder))
        .collect();
    // A job may name only earlier jobs, so no two can wait for each other.
    let mut folders = BTreeMap::new();
    let mut jobs: Vec<Job> = Vec::new();
    for (name, entry, variables) in named {
        let folder = have
            .get(name.as_str())
            .map_or_else(|| asked.out.join(&name), |folder| (*folder).clone());
        let mut variables = variables.with([("folder".to_owned(), folder.display().to_string())]);
        variables.folders.clone_from(&folders);
        let mut job =
            job(&name, entry, &variables, here).map_err(|what| format!("job `{name}`: {what}"))?;
        job.folder.clone_from(&folder);
        job.have = have.contains_key(name.as_str());
        folders.insert(name, folder);
        jobs.push(job);
    }
    let runs: Vec<&str> = jobs
        .iter()
        .filter(|job| job.resume.is_some())
        .map(|job| job.name.as_str())
        .collect();
    for job in &jobs {
        if let Some(control) = job.against.as_deref().filter(|name| !runs.contains(name)) {
            return Err(format!(
                "job `{}`: against = \"{control}\": there is no training run of that name",
                job.name
            ));
        }
    }
    Ok(jobs)
}

/// Whether a name leads to one folder within another, and to nothing hidden.
fn is_folder(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    let is_plain = matches!(parts.next(), Some(Component::Normal(part)) if part == name);
    is_plain && parts.next().is_none() && !name.starts_with('.')
}

fn variables(file: &File, here: &Path, asked: &Asked) -> Result<Variables, String> {
    let mut variables = Variables::default();
    for (name, value) in &file.values {
        variables.values.insert(name.clone(), plain(value));
    }
    for (name, value) in &asked.values {
        let Some(known) = variables.values.get_mut(name) else {
            let names: Vec<&str> = file.values.keys().map(String::as_str).collect();
            return Err(format!(
                "there is no `{name}` in the plan's [let]; it has {}",
                names.join(", ")
            ));
        };
        known.clone_from(value);
    }
    let here = here.display().to_string();
    Ok(variables.with([(
        "here".to_owned(),
        if here.is_empty() {
            ".".to_owned()
        } else {
            here
        },
    )]))
}

/// The values that an entry is repeated for: every table of a list, or every combination of a table
/// of lists.
fn choices(entry: &Entry) -> Result<Vec<Vec<(String, String)>>, String> {
    let wrong = || {
        format!(
            "job `{}`: each: give a list of tables, or a table of lists",
            entry.name
        )
    };
    let pairs = |table: &Table| {
        table
            .iter()
            .map(|(name, value)| (name.clone(), plain(value)))
            .collect()
    };
    match &entry.each {
        None => Ok(vec![Vec::new()]),
        Some(Value::Array(tables)) => tables
            .iter()
            .map(|table| table.as_table().map(pairs).ok_or_else(wrong))
            .collect(),
        Some(Value::Table(lists)) => {
            let mut all: Vec<Vec<(String, String)>> = vec![Vec::new()];
            for (name, values) in lists {
                let values = values.as_array().ok_or_else(wrong)?;
                let longer = |one: &Vec<(String, String)>, value: &Value| {
                    let mut one = one.clone();
                    one.push((name.clone(), plain(value)));
                    one
                };
                all = all
                    .iter()
                    .flat_map(|one| values.iter().map(move |value| longer(one, value)))
                    .collect();
            }
            Ok(all)
        }
        Some(_) => Err(wrong()),
    }
}

/// A value in the spelling of the command line.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn job(name: &str, entry: &Entry, variables: &Variables, here: &Path) -> Result<Job, String> {
    let mut needs = Vec::new();
    let mut fill = |key: &str, text: &str| {
        variables
            .fill(text, &mut needs)
            .map_err(|what| format!("{key}: {what}"))
    };
    let mut job = Job {
        name: name.to_owned(),
        folder: PathBuf::new(),
        seconds: seconds(&fill("seconds", &plain(&entry.seconds))?)?,
        commands: Vec::new(),
        resume: None,
        needs: Vec::new(),
        against: match &entry.against {
            Some(control) => Some(fill("against", control)?).filter(|control| control != name),
            None => None,
        },
        show: entry.show,
        have: false,
    };
    match (&entry.run, &entry.train) {
        (Some(run), None) if entry.set.is_empty() => {
            for text in texts(run)? {
                let words = text.split_whitespace().map(|word| fill("run", word));
                job.commands.push(words.collect::<Result<_, _>>()?);
            }
        }
        (None, Some(run_file)) => {
            let run_file = here.join(fill("train", run_file)?).display().to_string();
            let mut sets = Vec::new();
            for (key, value) in &entry.set {
                let key = fill("set", key)?;
                let value = fill(&format!("set.{key}"), &plain(value))?;
                sets.push(format!("{key}={value}"));
            }
            let folder = fill("train", "{folder}")?;
            // Once a run has started, only its end may change.
            let ends: Vec<String> = sets
                .iter()
                .filter(|one| one.starts_with("budget."))
                .cloned()
                .collect();
            job.resume = Some(command(["train", "--resume", &folder], &ends));
            sets.push(format!("directory={folder}"));
            job.commands = vec![command(["train", &run_file], &sets)];
        }
        (Some(_), None) => {
            return Err("`set` belongs to `train`: remove it, or use `train`".to_owned());
        }
        _ => return Err("give either `run` (commands) or `train` (a run file)".to_owned()),
    }
    needs.sort_unstable();
    needs.dedup();
    job.needs = needs;
    Ok(job)
}

fn command<const N: usize>(words: [&str; N], sets: &[String]) -> Vec<String> {
    let words = words.into_iter().map(str::to_owned);
    let sets = sets
        .iter()
        .flat_map(|one| ["--set".to_owned(), one.clone()]);
    words.chain(sets).collect()
}

/// The commands of `run`: one text, or a list of them.
fn texts(run: &Value) -> Result<Vec<&str>, String> {
    let list = run
        .as_array()
        .map_or(std::slice::from_ref(run), Vec::as_slice);
    list.iter()
        .map(|text| {
            text.as_str()
                .ok_or_else(|| "run: give a command, or a list of commands".to_owned())
        })
        .collect()
}

/// A number, or a sum such as `{seconds}+70`, so that a limit can follow the time it limits.
fn seconds(text: &str) -> Result<f64, String> {
    let parts: Option<Vec<f64>> = text
        .split('+')
        .map(|part| part.trim().parse().ok())
        .collect();
    parts
        .map(|parts| parts.iter().sum())
        .filter(|total| is_time(*total))
        .ok_or_else(|| format!("seconds = \"{text}\": give seconds above 0, or a sum of them"))
}

/// The requested jobs and those that they need; all jobs if none are named.
fn chosen(jobs: Vec<Job>, only: &[String]) -> Result<Vec<Job>, String> {
    if only.is_empty() {
        return Ok(jobs);
    }
    if let Some(pattern) = only
        .iter()
        .find(|pattern| !jobs.iter().any(|job| matches(pattern, &job.name)))
    {
        let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
        return Err(format!(
            "there is no job `{pattern}`; there are {}",
            names.join(", ")
        ));
    }
    let mut wanted: Vec<&str> = Vec::new();
    // Jobs need only earlier jobs, so one pass from the end finds all.
    for job in jobs.iter().rev() {
        if wanted.contains(&job.name.as_str())
            || only.iter().any(|pattern| matches(pattern, &job.name))
        {
            wanted.push(&job.name);
            wanted.extend(job.needs.iter().map(String::as_str));
        }
    }
    let wanted: Vec<String> = wanted.into_iter().map(str::to_owned).collect();
    Ok(jobs
        .into_iter()
        .filter(|job| wanted.contains(&job.name))
        .collect())
}

/// Whether a name matches a pattern, in which `*` matches anything.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, rest)) => name.strip_prefix(head).is_some_and(|tail| {
            (0..=tail.len()).any(|at| tail.is_char_boundary(at) && matches(rest, &tail[at..]))
        }),
    }
}

#[cfg(test)]
mod tests;
