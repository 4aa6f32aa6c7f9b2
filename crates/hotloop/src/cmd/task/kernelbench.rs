//! `hotloop task list --kernelbench`: the problems of a checkout, and their split.

use std::path::Path;

use hotloop_corpus::kernelbench::{self, Problem, Problems, TreeError};
use serde_json::json;

use crate::cli::{SplitPart, TaskListArgs};
use crate::failure::{Failure, Status};
use crate::output::table::Table;
use crate::output::{complain, count, say};

/// One listed problem.
struct Listed<'a> {
    problem: &'a Problem,
    part: SplitPart,
}

/// The problems of the checkout in `folder`. Files that cannot be used are complained about.
pub(crate) fn checkout(folder: &Path) -> Result<Problems, Failure> {
    let problems = kernelbench::read(folder).map_err(|error| failure(&error))?;
    for (path, why) in &problems.unusable {
        complain(&format!("{}: left out, because {why}", path.display()));
    }
    Ok(problems)
}

/// Lists the problems of the checkout in `folder`.
pub(super) fn list(folder: &Path, arguments: &TaskListArgs) -> Result<Status, Failure> {
    let problems = checkout(folder)?;
    let listed = listed(&problems, arguments);
    if arguments.json {
        for listed in &listed {
            say(&facts(listed).to_string());
        }
        return Ok(Status::Fine);
    }
    let mut table = Table::new().left("task").left("problem").left("part");
    for Listed { problem, part } in &listed {
        table.row([&problem.name(), &problem.title, word(*part)]);
    }
    let held_out = listed
        .iter()
        .filter(|listed| listed.part == SplitPart::HeldOut)
        .count();
    say(&format!(
        "{}\n\n{}, {held_out} of them held out by seed {}; version {} of the checkout",
        table.render(),
        count(listed.len(), "problem"),
        arguments.split_seed,
        problems.hash()
    ));
    Ok(Status::Fine)
}

/// The problems that the flags select, in order.
fn listed<'a>(problems: &'a Problems, arguments: &TaskListArgs) -> Vec<Listed<'a>> {
    let mut listed = Vec::new();
    for level in 1..=4 {
        if arguments.level.is_some_and(|only| only != level) {
            continue;
        }
        let split = kernelbench::split(problems.level(level), arguments.split_seed);
        listed.extend(problems.level(level).map(|problem| Listed {
            problem,
            part: if split.held_out.contains(&problem) {
                SplitPart::HeldOut
            } else {
                SplitPart::Training
            },
        }));
    }
    if let Some(only) = arguments.part {
        listed.retain(|listed| listed.part == only);
    }
    listed
}

fn word(part: SplitPart) -> &'static str {
    match part {
        SplitPart::Training => "training",
        SplitPart::HeldOut => "held-out",
    }
}

fn facts(Listed { problem, part }: &Listed<'_>) -> serde_json::Value {
    json!({
        "task": problem.name(),
        "level": problem.level,
        "number": problem.number,
        "title": problem.title,
        "language": "torch",
        "part": word(*part),
        "hash": problem.hash(),
        "judged": false,
    })
}

fn failure(error: &TreeError) -> Failure {
    let failure = Failure::user(error.to_string());
    match error {
        TreeError::Unreadable(..) | TreeError::NoProblems(_) => {
            failure.hint("--kernelbench names a checkout that you have cloned")
        }
        TreeError::SameNumber(..) => failure.hint("a checkout of KernelBench has no such files"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems() -> Problems {
        let problem = |level, number| Problem {
            level,
            number,
            title: format!("number {number}"),
            source: String::new(),
        };
        let all = (1..=2).flat_map(|level| (1..=10).map(move |number| problem(level, number)));
        Problems {
            all: all.collect(),
            unusable: Vec::new(),
        }
    }

    fn arguments(level: Option<u8>, part: Option<SplitPart>) -> TaskListArgs {
        TaskListArgs {
            kernelbench: None,
            level,
            part,
            split_seed: kernelbench::SEED,
            json: false,
        }
    }

    #[test]
    fn every_level_has_its_own_split() {
        let problems = problems();
        let held_out = Some(SplitPart::HeldOut);
        assert_eq!(listed(&problems, &arguments(None, None)).len(), 20);
        assert_eq!(listed(&problems, &arguments(None, held_out)).len(), 4);
        let second = listed(&problems, &arguments(Some(2), held_out));
        assert_eq!(second.len(), 2);
        assert!(second.iter().all(|listed| listed.problem.level == 2));
        assert_eq!(facts(&second[0])["part"], "held-out");
    }
}
