//! Checks that hidden sizes expose candidates that are correct only for the timed problem.

use hotloop_flow::Task;

use crate::lint::finding::{Finding, Mark, finding};

/// Words in a prompt that promise more sizes than the timed one.
const PROMISES: [&str; 9] = [
    "any size",
    "all sizes",
    "any positive",
    "arbitrary",
    "every size",
    "right for any",
    "right for all",
    "correct for any",
    "correct for all",
];

/// Findings about the hidden sizes of a task.
pub(super) fn hidden(task: &Task) -> Vec<Finding> {
    let words = task.prompt.to_lowercase();
    let promised = PROMISES.iter().any(|promise| words.contains(promise));
    let (timed, hidden) = (&task.function().sizes.timed, &task.function().sizes.hidden);
    let about = "hidden sizes";
    if hidden.is_empty() {
        return vec![if promised {
            finding(
                Mark::Error,
                about,
                "none, though the prompt promises any size: add some beyond the timed one",
            )
        } else {
            finding(
                Mark::Ok,
                about,
                "none: candidates may rely on the timed size",
            )
        }];
    }
    let mut findings = vec![finding(
        Mark::Ok,
        about,
        format!("{} are verified in a second process", hidden.len()),
    )];
    // Otherwise loops and scratch memory that end at the timed size would pass.
    let is_beyond = |name: &str, size: i64| {
        hidden
            .iter()
            .any(|sizes| sizes.get(name).is_some_and(|it| *it > size))
    };
    for (name, size) in timed.iter().filter(|(name, size)| !is_beyond(name, **size)) {
        let (mark, else_) = if promised {
            (
                Mark::Error,
                "or write the number in its place if it never changes",
            )
        } else {
            (Mark::Warn, "unless the prompt says that it is never larger")
        };
        let why =
            format!("none has {name} above {size}, the timed one: code that fails above it passes");
        findings.push(finding(mark, about, format!("{why}; add one, {else_}")));
    }
    findings
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn found(prompt: &str, sizes: Value) -> Vec<(Mark, String)> {
        let mut task = crate::tasks::load("matvec").unwrap();
        task.prompt = prompt.to_owned();
        task.spec.function_mut().sizes = serde_json::from_value(sizes).unwrap();
        hidden(&task)
            .into_iter()
            .map(|finding| (finding.mark, finding.says))
            .collect()
    }

    #[test]
    fn each_size_needs_a_hidden_one_beyond_the_timed() {
        let any = "It must be right for any M and N.";
        let good = json!({ "timed": { "M": 5, "N": 7 }, "hidden": [{ "M": 6, "N": 1 }, { "M": 1, "N": 8 }] });
        assert_eq!(
            found(any, good),
            [(Mark::Ok, "2 are verified in a second process".to_owned())]
        );
        let short = json!({ "timed": { "M": 5, "N": 7 }, "hidden": [{ "M": 6, "N": 1 }, { "M": 1, "N": 7 }] });
        let says = "none has N above 7, the timed one: code that fails above it passes; add \
            one, or write the number in its place if it never changes";
        assert_eq!(found(any, short)[1..], [(Mark::Error, says.to_owned())]);
        let both = json!({ "timed": { "M": 5, "N": 7 }, "hidden": [{ "M": 1, "N": 1 }] });
        assert_eq!(found(any, both.clone()).len(), 3);
        let unpromised = found("At most 5 rows and 7 columns.", both);
        assert!(
            unpromised[1..].iter().all(|(mark, _)| *mark == Mark::Warn),
            "{unpromised:?}"
        );
    }

    #[test]
    fn a_task_of_one_size_needs_none() {
        let fixed = json!({ "timed": { "M": 5, "N": 7 } });
        assert_eq!(found("Five rows.", fixed.clone())[0].0, Mark::Ok);
        assert_eq!(found("Arbitrary sizes.", fixed)[0].0, Mark::Error);
    }

    #[test]
    fn shipped_tasks_have_them() {
        for name in crate::tasks::shipped() {
            let findings = hidden(&crate::tasks::load(name).unwrap());
            assert!(
                findings.iter().all(|finding| finding.mark == Mark::Ok),
                "{name}: {findings:?}"
            );
        }
    }
}
