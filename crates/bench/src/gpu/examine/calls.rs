//! What each argument of a call is, as the examiner prepares it.

use hotloop_flow::formula::{self, Sizes};
use hotloop_flow::interface::{Arg, Fill, Function, Role};

use crate::gpu::call::Call;

/// What the examiner does with an argument before a run.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    Uniform(f64, f64),
    /// Row pointers: rows and entries.
    RowPointers(u64, u64),
    /// Columns: the argument with the row pointers, rows and columns.
    Columns(usize, u64, u64),
    /// It is poisoned, and compared afterwards.
    Output,
    Scalar,
}

/// The content of each argument, in their order.
pub(super) fn contents(function: &Function, sizes: &Sizes) -> Vec<Content> {
    let count = |text: &str| formula::count(text, sizes).expect("checked by Task::parse") as u64;
    let rows_of = |arg: &Arg| elements(arg, sizes).saturating_sub(1);
    let content = |arg: &Arg| match (&arg.fill, arg.role) {
        (_, Role::Scalar) => Content::Scalar,
        (_, Role::Out | Role::Inout | Role::Return) | (None, _) => Content::Output,
        (Some(Fill::Uniform(low, high)), _) => Content::Uniform(*low, *high),
        (Some(Fill::RowPointers { entries }), _) => {
            Content::RowPointers(rows_of(arg), count(entries))
        }
        (Some(Fill::Columns { rows, columns }), _) => {
            let at = function.args.iter().position(|other| other.name == *rows);
            let at = at.expect("checked by Task::parse");
            Content::Columns(at, rows_of(&function.args[at]), count(columns))
        }
    };
    function.args.iter().map(content).collect()
}

pub(super) fn elements(arg: &Arg, sizes: &Sizes) -> u64 {
    arg.elements(sizes).expect("checked by Task::parse") as u64
}

/// The lengths of an argument's dimensions.
pub(super) fn lengths(arg: &Arg, sizes: &Sizes) -> Vec<u64> {
    let length =
        |text: &String| formula::count(text, sizes).expect("checked by Task::parse") as u64;
    arg.shape.iter().map(length).collect()
}

/// What an argument of `reference` or `check` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// The argument of the task with this index: an input, or for `check` an output.
    Task(usize),
    /// Right values of the output with this index, as doubles.
    Want(usize),
    /// Their scale.
    Scale(usize),
    /// The random vector of a projection.
    Signs,
    /// The sums that the output gives, those that it should give, and their scale.
    Got,
}

/// The arguments of `reference`: after each output comes its scale.
pub(super) fn of_reference(function: &Function) -> Vec<Given> {
    let each = |(at, arg): (usize, &Arg)| {
        if arg.is_output() {
            vec![Given::Want(at), Given::Scale(at)]
        } else {
            vec![Given::Task(at)]
        }
    };
    function.args.iter().enumerate().flat_map(each).collect()
}

/// The arguments of `check`: those of the task, then the vector and the three sums.
pub(super) fn of_check(function: &Function) -> Vec<Given> {
    let own = (0..function.args.len()).map(Given::Task);
    let more = [Given::Signs, Given::Got, Given::Want(0), Given::Scale(0)];
    own.chain(more).collect()
}

/// The sizes of a call, for messages.
pub(super) fn named(call: &Call) -> String {
    let sizes = call
        .sizes
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    sizes.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(name: &str) -> hotloop_flow::task::TaskSpec {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tasks/cuda/");
        crate::tasks::load(&format!("{folder}{name}")).unwrap().spec
    }

    #[test]
    fn references_take_scales_and_checks_take_sums() {
        let task = load("saxpy");
        let expect = [
            Given::Task(0),
            Given::Task(1),
            Given::Task(2),
            Given::Want(3),
            Given::Scale(3),
            Given::Task(4),
        ];
        assert_eq!(of_reference(task.function()), expect);
        let task = load("matmul");
        let check = of_check(task.function());
        assert_eq!(check[3..5], [Given::Task(3), Given::Signs]);
        assert_eq!(check.len(), 8);
    }

    #[test]
    fn sparse_arguments_know_their_rows() {
        let task = load("spmv");
        let sizes: Sizes = [("M", 5), ("N", 9), ("NNZ", 20)]
            .map(|(name, value)| (name.to_owned(), value))
            .into();
        let contents = contents(task.function(), &sizes);
        let expect = [
            Content::RowPointers(5, 20),
            Content::Columns(0, 5, 9),
            Content::Uniform(-1.0, 1.0),
            Content::Uniform(-1.0, 1.0),
            Content::Output,
            Content::Scalar,
        ];
        assert_eq!(contents, expect);
    }
}
