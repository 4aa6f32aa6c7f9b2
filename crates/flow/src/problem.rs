//! Problems for torch as tasks: what a bench of modules is asked.

use crate::task::{Task, TaskFiles};

const SPEC: &str = include_str!("problem/task.toml");

/// The task of a problem, which `source` is the Python of: the trusted reference.
pub fn task(source: &str) -> Task {
    let files = TaskFiles {
        toml: SPEC.to_owned(),
        reference: source.to_owned(),
        ..TaskFiles::default()
    };
    Task::parse(files).expect("a test parses it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;

    #[test]
    fn each_problem_is_a_task_of_its_own() {
        let (one, other) = (task("class Model: pass"), task("class Model: ..."));
        assert_eq!(one.spec.language, Language::Torch);
        assert_eq!(one.reference, "class Model: pass");
        assert_ne!(one.hash, other.hash);
        assert!(!one.counts_operations());
    }
}
