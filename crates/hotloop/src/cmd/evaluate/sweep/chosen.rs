//! The problems that a sweep names.

use hotloop_corpus::kernelbench::{self, Problem, Problems};

use crate::cmd::bench::problems::Named;
use crate::failure::Failure;

/// The problems with these names, each once: problems, levels, and parts of a level's split.
pub(super) fn chosen(names: &[String], all: &Problems) -> Result<Vec<Named>, Failure> {
    let mut found: Vec<&Problem> = Vec::new();
    for name in names {
        let some = named(name, all);
        if some.is_empty() {
            return Err(
                Failure::user(format!("problems: the checkout has no problem `{name}`")).hint(
                    "name a problem such as kernelbench/1/19, a level such as kernelbench/1, or a \
                     part such as kernelbench/1/held-out; hotloop task list --kernelbench DIR \
                     lists them",
                ),
            );
        }
        for problem in some {
            if !found.contains(&problem) {
                found.push(problem);
            }
        }
    }
    let with_text = |problem: &Problem| Named {
        name: problem.name(),
        source: problem.source.clone(),
    };
    Ok(found.into_iter().map(with_text).collect())
}

fn named<'a>(name: &str, all: &'a Problems) -> Vec<&'a Problem> {
    if let Some(problem) = all.find(name) {
        return vec![problem];
    }
    let mut parts = name.strip_prefix("kernelbench/").unwrap_or("").split('/');
    let level = parts.next().and_then(|level| level.parse::<u8>().ok());
    let part = parts.next();
    let (Some(level), None) = (level, parts.next()) else {
        return Vec::new();
    };
    let split = kernelbench::split(all.level(level), kernelbench::SEED);
    match part {
        None => all.level(level).collect(),
        Some("held-out") => split.held_out,
        Some("training") => split.train,
        Some(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems() -> Problems {
        let problem = |number| Problem {
            level: 1,
            number,
            title: String::new(),
            source: format!("# {number}"),
        };
        Problems {
            all: (1..=10).map(problem).collect(),
            unusable: Vec::new(),
        }
    }

    fn names(asked: &[&str]) -> Result<Vec<String>, Failure> {
        let asked: Vec<String> = asked.iter().map(|name| (*name).to_owned()).collect();
        let found = chosen(&asked, &problems())?;
        Ok(found.into_iter().map(|problem| problem.name).collect())
    }

    #[test]
    fn problems_levels_and_parts_have_names() {
        let some = names(&["kernelbench/1/9", "kernelbench/1/2", "kernelbench/1/9"]).unwrap();
        assert_eq!(some, ["kernelbench/1/9", "kernelbench/1/2"]);
        assert_eq!(names(&["kernelbench/1"]).unwrap().len(), 10);
        let held_out = names(&["kernelbench/1/held-out"]).unwrap();
        let training = names(&["kernelbench/1/training"]).unwrap();
        assert_eq!((held_out.len(), training.len()), (2, 8));
        assert!(held_out.iter().all(|name| !training.contains(name)));
    }

    #[test]
    fn what_names_no_problem_is_refused() {
        for name in [
            "kernelbench/1/11",
            "kernelbench/2",
            "kernelbench/1/2/3",
            "kernelbench/1/validation",
            "1/2",
            "",
        ] {
            let why = names(&[name]).unwrap_err().what().to_owned();
            assert!(why.contains(&format!("`{name}`")), "{why}");
        }
    }
}
