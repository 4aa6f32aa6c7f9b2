//! The items to judge: files, a model's output, or a task's own seed.

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use hotloop_flow::{Candidate, Malformed, Stage, Task};
use serde_json::{Map, Value};

use crate::cli::JudgeArgs;
use crate::failure::Failure;

/// Maximum number of bytes read from one file. A longer one is malformed anyway.
const FILE_BYTES: u64 = 8 << 20;

/// One thing to judge.
pub(crate) struct Item {
    /// Its name for people: a path, `FILE.jsonl:LINE`, or `seed.c`.
    pub(crate) file: String,
    pub(crate) task: Arc<Task>,
    pub(crate) candidate: Result<Candidate, Malformed>,
    /// The other keys of a completion's object.
    pub(crate) carried: Map<String, Value>,
}

impl Item {
    /// What was repaired.
    pub(crate) fn notes(&self) -> &[String] {
        self.candidate
            .as_ref()
            .map_or(&[], |candidate| candidate.notes())
    }

    /// The stage of the item's task with this number or name.
    pub(crate) fn stage(&self, asked: Option<&str>) -> Result<Option<Stage>, Failure> {
        asked.map(|asked| stage(&self.task, asked)).transpose()
    }

    fn seed(task: Task) -> Self {
        let task = Arc::new(task);
        let candidate = Candidate::from_source(task.seed.as_bytes(), &task);
        Self {
            file: task.spec.language.file("seed"),
            task,
            candidate,
            carried: Map::new(),
        }
    }
}

/// A stage of a task by its number or its name.
pub(crate) fn stage(task: &Task, asked: &str) -> Result<Stage, Failure> {
    let name = &task.spec.name;
    let unknown = |error| Failure::user(format!("--stage {asked}: task {name}: {error}"));
    task.spec.stages.find(asked).map_err(unknown)
}

/// How many of the candidates differ.
pub(crate) fn distinct(items: &[Item]) -> usize {
    let hashes = items
        .iter()
        .filter_map(|item| Some((&item.task.hash, item.candidate.as_ref().ok()?.hash())));
    hashes.collect::<HashSet<_>>().len()
}

/// Reads everything that the command line names and turns it into candidates.
pub(crate) fn gather(arguments: &JudgeArgs) -> Result<Vec<Item>, Failure> {
    if arguments.task == "all" {
        if !arguments.file.is_empty() || arguments.completions.is_some() {
            return Err(Failure::user(
                "`all` judges the seeds of all shipped tasks and takes no files",
            )
            .hint("name the task that the files belong to, as in `hotloop judge matmul FILE`"));
        }
        return hotloop_bench::tasks::here()
            .map(|name| Ok(Item::seed(load(name)?)))
            .collect();
    }
    let task = load(&arguments.task)?;
    if let Some(path) = &arguments.completions {
        return completions(path, &Arc::new(task));
    }
    if arguments.file.is_empty() {
        return Ok(vec![Item::seed(task)]);
    }
    let task = Arc::new(task);
    arguments
        .file
        .iter()
        .map(|path| file(path, &task))
        .collect()
}

/// Loads a task by name. If it cannot be read, that is the user's error.
pub(crate) fn load(name: &str) -> Result<Task, Failure> {
    hotloop_bench::tasks::load(name).map_err(|error| {
        let is_folder = !name.contains('/') && Path::new(name).join("task.toml").exists();
        let failure = Failure::from(error);
        if is_folder {
            failure.hint(format!("the folder of that name is ./{name}"))
        } else {
            failure
        }
    })
}

fn file(path: &Path, task: &Arc<Task>) -> Result<Item, Failure> {
    let bytes = read(path)?;
    let is_completion = path
        .extension()
        .is_some_and(|extension| extension == "md" || extension == "txt");
    let candidate = if is_completion {
        Candidate::extract(&String::from_utf8_lossy(&bytes), task)
    } else {
        Candidate::from_source(&bytes, task)
    };
    Ok(Item {
        file: path.display().to_string(),
        task: Arc::clone(task),
        candidate,
        carried: Map::new(),
    })
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        let read = std::io::stdin()
            .lock()
            .take(FILE_BYTES)
            .read_to_end(&mut bytes);
        return read
            .map(|_| bytes)
            .map_err(|error| Failure::user(format!("standard input: {error}")));
    }
    // The operating system's message, because fs-err would name the system call and not the file.
    let bad = |why: String| {
        Failure::user(format!("{}: {why}", path.display()))
            .hint("name a file with source code, or `-`")
    };
    if path.is_dir() {
        return Err(bad("is a folder, not a file".to_owned()));
    }
    let file = std::fs::File::open(path).map_err(|error| bad(error.to_string()))?;
    file.take(FILE_BYTES)
        .read_to_end(&mut bytes)
        .map_err(|error| bad(error.to_string()))?;
    Ok(bytes)
}

/// Why a line is not JSON, without the parser's line number, which is always 1.
fn not_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let why = text.split(" at line ").next().unwrap_or_default();
    format!("not JSON: {why} (column {})", error.column())
}

/// One candidate for each line of a file of completions.
fn completions(path: &Path, task: &Arc<Task>) -> Result<Vec<Item>, Failure> {
    let is_input = path == Path::new("-");
    let name = if is_input {
        "stdin".to_owned()
    } else {
        path.display().to_string()
    };
    let bytes = if is_input {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(|error| Failure::user(format!("{name}: {error}")))?;
        bytes
    } else {
        fs_err::read(path).map_err(|error| {
            Failure::user(error.to_string())
                .hint("name a file with one JSON object per line, or `-`")
        })?
    };
    let mut items = Vec::new();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let at = format!("{name}:{}", index + 1);
        let bad = |why: String| {
            Failure::user(format!("{at}: {why}"))
                .hint("every line is an object like {\"completion\": \"what the model printed\"}")
        };
        let value: Value = serde_json::from_str(&String::from_utf8_lossy(line))
            .map_err(|error| bad(not_json(&error)))?;
        let Value::Object(mut carried) = value else {
            return Err(bad("not a JSON object".to_owned()));
        };
        let Some(Value::String(completion)) = carried.remove("completion") else {
            return Err(bad(
                "the key `completion` with a string is missing".to_owned()
            ));
        };
        let candidate = Candidate::extract(&completion, task);
        items.push(Item {
            file: at,
            task: Arc::clone(task),
            candidate,
            carried,
        });
    }
    if items.is_empty() {
        return Err(Failure::user(format!(
            "{name}: there are no completions in it"
        )));
    }
    Ok(items)
}
