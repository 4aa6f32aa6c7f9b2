//! The problems of `KernelBench` that a command names, and answers to them.

use std::path::{Path, PathBuf};

use crate::cmd::task::kernelbench;
use crate::failure::Failure;

/// Bytes of the longest answer that is read.
const LONGEST: u64 = 1 << 20;

/// Folders of which a checkout has one at least.
const PARTS: [&str; 5] = ["KernelBench", "level1", "level2", "level3", "level4"];

/// A problem with its text.
pub(in crate::cmd) struct Named {
    pub(in crate::cmd) name: String,
    pub(in crate::cmd) source: String,
}

/// The problem of a file or of a checkout, or all problems of a level.
pub(in crate::cmd) fn named(task: &str, checkout: Option<&Path>) -> Result<Vec<Named>, Failure> {
    if Path::new(task).extension().is_some_and(|end| end == "py") {
        return Ok(vec![read(Path::new(task))?]);
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

/// The problems of a file, of a checkout, or in the Python files of a folder.
pub(in crate::cmd) fn within(path: &Path) -> Result<Vec<Named>, Failure> {
    if !path.is_dir() {
        return Ok(vec![read(path)?]);
    }
    if PARTS.iter().any(|part| path.join(part).is_dir()) {
        let all = kernelbench::checkout(path)?.all.into_iter();
        let named = all.map(|problem| Named {
            name: problem.name(),
            source: problem.source,
        });
        return Ok(named.collect());
    }
    let failed = |error: std::io::Error| Failure::user(error.to_string());
    let mut files = Vec::new();
    for entry in fs_err::read_dir(path).map_err(failed)? {
        files.push(entry.map_err(failed)?.path());
    }
    files.retain(|file| file.extension().is_some_and(|end| end == "py"));
    files.sort();
    if files.is_empty() {
        return Err(Failure::user(format!(
            "{}: it holds no Python files and is no checkout of KernelBench",
            path.display()
        )));
    }
    files.iter().map(|file| read(file)).collect()
}

fn read(path: &Path) -> Result<Named, Failure> {
    let source = fs_err::read_to_string(path).map_err(|error| Failure::user(error.to_string()))?;
    let name = path.display().to_string();
    Ok(Named { name, source })
}

/// The answers with their problems, in the order of the problems. Where there are several, an
/// answer's name holds its problem's number: `19_relu.py`, or `level_1_problem_19_sample_0.py`.
pub(in crate::cmd) fn matched<'a>(
    problems: &'a [Named],
    answers: &'a [PathBuf],
) -> Result<Vec<(&'a Named, &'a Path)>, Failure> {
    if let [problem] = problems {
        return Ok(answers
            .iter()
            .map(|path| (problem, path.as_path()))
            .collect());
    }
    let mut found = Vec::new();
    for path in answers {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_of = |problem: &Named| {
            let number = problem.name.rsplit_once('/').map(|(_, number)| number);
            number.and_then(|number| number.parse().ok()) == number_of(&name)
        };
        let Some(at) = problems.iter().position(is_of) else {
            return Err(Failure::user(format!(
                "{}: its name contains no number of a problem",
                path.display()
            ))
            .hint("name it like 19_relu.py, or give one problem, as in kernelbench/1/19"));
        };
        found.push((at, path.as_path()));
    }
    found.sort_by_key(|(at, _)| *at);
    Ok(found
        .into_iter()
        .map(|(at, path)| (&problems[at], path))
        .collect())
}

/// The number of a problem in an answer's name.
fn number_of(name: &str) -> Option<u32> {
    let rest = name.split_once("problem_").map_or(name, |(_, rest)| rest);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..digits].parse().ok()
}

/// The text of an answer.
pub(in crate::cmd) fn answer(path: &Path) -> Result<String, Failure> {
    let failed = |why: String| Failure::user(format!("{}: {why}", path.display()));
    let length = path.metadata().map_err(|error| failed(error.to_string()))?;
    if length.len() > LONGEST {
        return Err(failed(format!("an answer has at most {LONGEST} bytes")));
    }
    let bytes = fs_err::read(path).map_err(|error| Failure::user(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_find_their_problems_by_number() {
        let problem = |number: u32| Named {
            name: format!("kernelbench/1/{number}"),
            source: String::new(),
        };
        let problems = [problem(1), problem(19)];
        let answers = ["a/level_1_problem_19_sample_0_kernel.py", "001-matmul.py"];
        let answers = answers.map(PathBuf::from);
        let found = matched(&problems, &answers).ok().unwrap();
        let found: Vec<_> = found.iter().map(|(problem, _)| &*problem.name).collect();
        assert_eq!(found, ["kernelbench/1/1", "kernelbench/1/19"]);
        assert!(matched(&problems, &[PathBuf::from("relu.py")]).is_err());
        assert!(matched(&problems, &[PathBuf::from("2.py")]).is_err());
        let unnumbered = [PathBuf::from("relu.py")];
        let single = matched(&problems[..1], &unnumbered);
        assert_eq!(single.ok().unwrap().len(), 1, "one problem needs no number");
    }
}
