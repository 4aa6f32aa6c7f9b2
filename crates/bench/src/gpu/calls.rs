//! The calls by which a task's candidates are judged, and those of its reference.
//!
//! A reference is called with the arguments of its task, but for these:
//!
//! - `reference` writes doubles. After each output it takes the scale of its elements.
//! - `check` takes the outputs to check, and at the end the random vector `x` and what it writes:
//!   `got`, `want` and `scale`, one element for each `x.len()` elements of the first output.

use hotloop_flow::formula::{self, Sizes};
use hotloop_flow::interface::{Arg, Function, Role};
use hotloop_flow::task::{Method, TaskSpec};

use crate::gpu::call::{Call, Passed};
use crate::inputs::{self, Fresh};

/// Problems that are drawn for every candidate, where the task draws sizes.
const DRAWN: usize = 4;
/// Bytes of a reference's element.
const DOUBLE: u64 = 8;

/// The calls of a candidate: the hidden problems and those drawn now, each twice, and at the end
/// the timed one.
pub(crate) fn of_candidate(task: &TaskSpec, fresh: &mut Fresh) -> Vec<Call> {
    let function = task.function();
    let sizes = &function.sizes;
    let mut pick = |least: i64, most: i64| least + fresh.index((most - least + 1) as usize) as i64;
    let drawn: Vec<Sizes> = (0..DRAWN).map_while(|_| sizes.draw(&mut pick)).collect();
    // Twice: the examiner draws hostile inputs for the second one, and what a problem leaves behind
    // shows in the next one of its size.
    let once = sizes.hidden.iter().chain(&drawn);
    once.clone()
        .chain(once)
        .chain([&sizes.timed])
        .map(|sizes| call(function, sizes, fresh))
        .collect()
}

/// A call with these sizes. Its scalars are drawn now, where they are drawn.
fn call(function: &Function, sizes: &Sizes, fresh: &mut Fresh) -> Call {
    let pass = |arg: &Arg| {
        if arg.role != Role::Scalar {
            return Passed::Buffer(bytes(arg, sizes));
        }
        let mut number = vec![0; arg.kind.bytes()];
        inputs::fill(fresh, arg, sizes, &mut number, |_| None);
        Passed::Scalar(number)
    };
    Call {
        sizes: sizes.clone(),
        arguments: function.args.iter().map(pass).collect(),
    }
}

/// The call of `reference` for a candidate's call.
pub(crate) fn of_reference(function: &Function, call: &Call) -> Call {
    let arguments = function.args.iter().zip(&call.arguments);
    let pass = |(arg, passed): (&Arg, &Passed)| {
        if arg.is_output() {
            let doubles = Passed::Buffer(elements(arg, &call.sizes) * DOUBLE);
            return vec![doubles.clone(), doubles];
        }
        vec![passed.clone()]
    };
    Call {
        sizes: call.sizes.clone(),
        arguments: arguments.flat_map(pass).collect(),
    }
}

/// The call of `check` for a candidate's call; `None` if the task has no projection.
pub(crate) fn of_check(task: &TaskSpec, call: &Call) -> Option<Call> {
    let Method::Projection(length) = &task.verify.method else {
        return None;
    };
    let length = formula::count(length, &call.sizes).expect("checked by Task::parse") as u64;
    let mut outputs = task.function().args.iter().filter(|arg| arg.is_output());
    let first = outputs.next().map_or(0, |arg| elements(arg, &call.sizes));
    let folded = Passed::Buffer(first / length.max(1) * DOUBLE);
    let mut arguments = call.arguments.clone();
    arguments.push(Passed::Buffer(length * DOUBLE));
    arguments.extend([folded.clone(), folded.clone(), folded]);
    Some(Call {
        sizes: call.sizes.clone(),
        arguments,
    })
}

fn elements(arg: &Arg, sizes: &Sizes) -> u64 {
    arg.elements(sizes).expect("checked by Task::parse") as u64
}

fn bytes(arg: &Arg, sizes: &Sizes) -> u64 {
    elements(arg, sizes) * arg.kind.bytes() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use Passed::{Buffer, Scalar};

    fn calls(name: &str) -> (TaskSpec, Vec<Call>) {
        let task = crate::tasks::load(name).unwrap().spec;
        let calls = of_candidate(&task, &mut Fresh::from_seed(7));
        (task, calls)
    }

    #[test]
    fn the_timed_problem_comes_last_and_the_others_come_twice() {
        let (task, calls) = calls("cuda/matmul");
        let sizes = &task.function().sizes;
        let (hidden, drawn) = (sizes.hidden.len(), 4);
        assert_eq!(calls.len(), 2 * (hidden + drawn) + 1);
        let last = calls.last().unwrap();
        assert_eq!(last.sizes, sizes.timed);
        let matrix = Buffer(4 * 1024 * 1024);
        let number = Scalar(1024i32.to_ne_bytes().to_vec());
        assert_eq!(
            last.arguments,
            [matrix.clone(), matrix.clone(), matrix, number]
        );
        for at in 0..hidden + drawn {
            assert_eq!(calls[at], calls[at + hidden + drawn]);
        }
        for call in &calls[hidden..hidden + drawn] {
            assert!((1..=150).contains(&call.sizes["N"]));
        }
    }

    #[test]
    fn a_scalar_is_a_value_or_drawn_for_each_call() {
        let (_, calls) = calls("cuda/saxpy");
        let drawn: Vec<f32> = calls
            .iter()
            .map(|call| match &call.arguments[0] {
                Scalar(bytes) => f32::from_ne_bytes(bytes[..].try_into().unwrap()),
                Buffer(_) => panic!("a is a scalar"),
            })
            .collect();
        assert!(drawn.iter().all(|a| (-1.0..1.0).contains(a)), "{drawn:?}");
        let first = drawn[0];
        assert!(drawn.iter().any(|a| a.to_bits() != first.to_bits()));
    }

    #[test]
    fn a_reference_writes_doubles_and_their_scale() {
        let (task, calls) = calls("cuda/saxpy");
        let call = calls.last().unwrap();
        let of = of_reference(task.function(), call);
        let (a, n) = (call.arguments[0].clone(), call.arguments[4].clone());
        let Buffer(floats) = call.arguments[3] else {
            panic!("z is a buffer");
        };
        let (floats, doubles) = (Buffer(floats), Buffer(2 * floats));
        let expect = [a, floats.clone(), floats, doubles.clone(), doubles, n];
        assert_eq!(of.arguments, expect);
        assert_eq!(of_check(&task, call), None);
    }

    #[test]
    fn a_check_folds_the_first_output() {
        let (task, calls) = calls("cuda/conv2d");
        let call = &calls[0];
        let size = |name: &str| call.sizes[name] as u64;
        let pixels = size("N") * (size("H") - 2) * (size("W") - 2);
        let check = of_check(&task, call).unwrap();
        let (own, more) = check.arguments.split_at(call.arguments.len());
        assert_eq!(own, call.arguments);
        let folded = Buffer(8 * pixels);
        let vector = Buffer(8 * size("O"));
        assert_eq!(more, [vector, folded.clone(), folded.clone(), folded]);
    }
}
