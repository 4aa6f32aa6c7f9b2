//! Bad answers to a task, and what is expected of them.

use std::fmt::Write;

use hotloop_flow::Task;
use hotloop_flow::formula::{self, Sizes};
use hotloop_flow::interface::{Arg, Kind, Role};

/// The expected verdict of a probe for a sound task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect {
    /// Anything but correct.
    Failure,
    /// Correct.
    Success,
}

/// A candidate that tests its task.
pub(crate) struct Probe {
    /// What it does.
    pub(crate) about: String,
    pub(crate) expect: Expect,
    /// What it means if the expectation holds.
    pub(crate) then: &'static str,
    /// What it means if it does not.
    pub(crate) otherwise: &'static str,
    /// In the language of the task.
    pub(crate) source: String,
}

/// A candidate that must not pass.
pub(super) fn bad(about: &str, otherwise: &'static str, source: String) -> Probe {
    Probe {
        about: about.to_owned(),
        expect: Expect::Failure,
        then: "",
        otherwise,
        source,
    }
}

/// The arguments that a candidate writes.
pub(super) fn outputs(task: &Task) -> impl Iterator<Item = &Arg> {
    task.function().args.iter().filter(|arg| arg.is_output())
}

/// The number of elements of `arg`, derived from the whole numbers that a candidate sees. If
/// several problems match, it is the smallest, because reading less is always safe.
pub(super) fn elements(task: &Task, arg: &Arg) -> String {
    let sets =
        || std::iter::once(&task.function().sizes.timed).chain(&task.function().sizes.hidden);
    let number = |sizes: &Sizes| arg.elements(sizes).unwrap_or(0);
    let scalars: Vec<&Arg> = task
        .function()
        .args
        .iter()
        .filter(|arg| arg.role == Role::Scalar && arg.value.is_some())
        .filter(|arg| matches!(arg.kind, Kind::I32 | Kind::I64))
        .collect();
    let key = |sizes: &Sizes| -> Vec<String> {
        let value = |arg: &&Arg| {
            formula::evaluate(arg.value.as_deref().unwrap_or("0"), sizes).unwrap_or(0.0)
        };
        scalars
            .iter()
            .map(|arg| format!("{} == {}", arg.name, value(arg)))
            .collect()
    };
    let mut code = String::new();
    for sizes in sets() {
        let condition = key(sizes);
        let least = sets()
            .filter(|other| key(other) == condition)
            .map(number)
            .min()
            .unwrap_or(0);
        if condition.is_empty() {
            return format!("{least}L");
        }
        let _ = write!(code, "({}) ? {least}L : ", condition.join(" && "));
    }
    code.push_str("1L");
    code
}
