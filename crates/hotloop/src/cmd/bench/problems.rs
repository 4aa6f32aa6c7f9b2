//! The problems of `KernelBench` that a command names, and answers to them.

use std::path::Path;

use crate::cmd::task::kernelbench;
use crate::failure::Failure;

/// Bytes of the longest answer that is read.
const LONGEST: u64 = 1 << 20;

/// A problem with its text.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) source: String,
}

/// The problem of a file or of a checkout, or all problems of a level.
pub(super) fn named(task: &str, checkout: Option<&Path>) -> Result<Vec<Named>, Failure> {
    if Path::new(task).extension().is_some_and(|end| end == "py") {
        let source =
            fs_err::read_to_string(task).map_err(|error| Failure::user(error.to_string()))?;
        let name = task.to_owned();
        return Ok(vec![Named { name, source }]);
    }
    let Some(folder) = checkout else {
        return Err(Failure::user(format!("{task} is a problem of KernelBench"))
            .hint("--kernelbench names a checkout that you have cloned"));
    };
    let problems = kernelbench::checkout(folder)?;
    let is_of_level = |name: &str| {
        name.rsplit_once('/')
            .is_some_and(|(level, _)| level == task)
    };
    let found: Vec<Named> = problems
        .all
        .iter()
        .filter(|problem| problem.name() == task || is_of_level(&problem.name()))
        .map(|problem| Named {
            name: problem.name(),
            source: problem.source.clone(),
        })
        .collect();
    if found.is_empty() {
        return Err(
            Failure::user(format!("{task}: the checkout has no such problem"))
                .hint("hotloop task list --kernelbench DIR lists them"),
        );
    }
    Ok(found)
}

/// The text of an answer.
pub(super) fn answer(path: &Path) -> Result<String, Failure> {
    let failed = |why: String| Failure::user(format!("{}: {why}", path.display()));
    let length = path.metadata().map_err(|error| failed(error.to_string()))?;
    if length.len() > LONGEST {
        return Err(failed(format!("an answer has at most {LONGEST} bytes")));
    }
    let bytes = fs_err::read(path).map_err(|error| Failure::user(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
