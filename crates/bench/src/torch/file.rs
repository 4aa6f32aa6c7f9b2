//! Files as answers: one `.cu` that defines `solve`, and what the bench calls it with.
//!
//! `solve` gets what the text of a problem tells: the inputs of `forward` in their order, the
//! parameters and buffers of `Model` in the order of its state, and memory for what `Model` returns.
//! Tensors are pointers, and numbers among the inputs are values. Sizes and the arguments of the
//! constructor are constants of the problem, so they are not passed.

use std::collections::BTreeMap;

use hotloop_flow::interface::{Arg, Function, Kind, Role, SizeSets};
use hotloop_flow::language::cuda;

use super::element;
use super::message::{Facts, Input, Shape};
use crate::gpu::call::{Call, Passed};

/// The function of a file.
const ENTRY: &str = "solve";

/// What `solve` is called with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Signature {
    pub(super) function: Function,
    pub(super) call: Call,
    /// What each of its arguments is.
    pub(super) arguments: Vec<Argument>,
    pub(super) outputs: Vec<Shape>,
}

/// What an argument is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Argument {
    Input,
    Number,
    Parameter,
    Output,
}

/// The declaration of `solve` for a problem; or why no file can answer it.
pub fn prototype(facts: &Facts) -> Result<String, String> {
    Signature::of(facts).map(|signature| cuda::prototype(&signature.function))
}

impl Signature {
    pub(super) fn of(facts: &Facts) -> Result<Self, String> {
        let outputs = facts.outputs.clone().ok_or_else(|| {
            let why = facts.unknown.as_deref().unwrap_or("nothing says");
            format!(
                "the shapes of what `Model` returns are not known, and `solve` needs them: {why}"
            )
        })?;
        let mut signature = Self {
            function: Function {
                entry: ENTRY.to_owned(),
                args: Vec::new(),
                sizes: SizeSets {
                    timed: BTreeMap::new(),
                    hidden: Vec::new(),
                    drawn: BTreeMap::new(),
                },
            },
            call: Call {
                sizes: BTreeMap::new(),
                arguments: Vec::new(),
            },
            arguments: Vec::new(),
            outputs: Vec::new(),
        };
        for (at, input) in facts.inputs.iter().enumerate() {
            let name = format!("input{at}");
            match input {
                Input::Tensor(shape) => signature.tensor(Argument::Input, name, shape)?,
                Input::Value(text) => signature.number(name, text),
            }
        }
        for (name, dtype, shape) in &facts.parameters {
            let shape = (dtype.clone(), shape.clone());
            signature.tensor(Argument::Parameter, word(name), &shape)?;
        }
        for (at, shape) in outputs.iter().enumerate() {
            signature.tensor(Argument::Output, format!("output{at}"), shape)?;
        }
        signature.outputs = outputs;
        Ok(signature)
    }

    fn tensor(
        &mut self,
        what: Argument,
        name: String,
        (dtype, shape): &Shape,
    ) -> Result<(), String> {
        let (kind, bytes) = kind(dtype).zip(element::bytes_of(dtype)).ok_or_else(|| {
            format!("`{name}` has the type {dtype}, which a file cannot take; answer in Python")
        })?;
        let bytes = shape
            .iter()
            .try_fold(bytes, |product, length| product.checked_mul(*length))
            .ok_or("a tensor larger than any memory")?;
        let role = match what {
            Argument::Output => Role::Out,
            Argument::Input | Argument::Number | Argument::Parameter => Role::In,
        };
        self.add(what, (name, kind, role), Passed::Buffer(bytes));
        Ok(())
    }

    /// What is no number is a constant, as sizes are.
    fn number(&mut self, name: String, text: &str) {
        let passed = match text {
            "True" | "False" => (Kind::I32, i32::from(text == "True").to_ne_bytes().to_vec()),
            _ => {
                if let Ok(whole) = text.parse::<i64>() {
                    (Kind::I64, whole.to_ne_bytes().to_vec())
                } else if let Ok(number) = text.parse::<f64>() {
                    (Kind::F64, number.to_ne_bytes().to_vec())
                } else {
                    return;
                }
            }
        };
        let (kind, bytes) = passed;
        self.add(
            Argument::Number,
            (name, kind, Role::Scalar),
            Passed::Scalar(bytes),
        );
    }

    fn add(&mut self, what: Argument, (name, kind, role): (String, Kind, Role), passed: Passed) {
        self.function.args.push(Arg {
            name,
            kind,
            role,
            shape: Vec::new(),
            value: None,
            fill: None,
        });
        self.call.arguments.push(passed);
        self.arguments.push(what);
    }
}

/// The type that CUDA has for an element type of torch.
fn kind(dtype: &str) -> Option<Kind> {
    Some(match dtype {
        "float64" => Kind::F64,
        "float32" => Kind::F32,
        "float16" => Kind::F16,
        "bfloat16" => Kind::Bf16,
        "int32" => Kind::I32,
        "int64" => Kind::I64,
        _ => return None,
    })
}

/// A parameter's name as C++ can spell it.
fn word(name: &str) -> String {
    let spelled = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    name.chars().map(spelled).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        let tensor = |dtype: &str, shape: &[u64]| (dtype.to_owned(), shape.to_vec());
        Facts {
            inputs: vec![
                Input::Tensor(tensor("float32", &[4, 2])),
                Input::Value("3.5".to_owned()),
                Input::Value("None".to_owned()),
                Input::Value("7".to_owned()),
                Input::Value("True".to_owned()),
            ],
            parameters: vec![
                ("bn.weight".to_owned(), "float16".to_owned(), vec![2]),
                ("bn.seen".to_owned(), "int64".to_owned(), Vec::new()),
            ],
            outputs: Some(vec![tensor("bfloat16", &[4])]),
            unknown: None,
        }
    }

    #[test]
    fn a_problem_tells_what_solve_gets() {
        assert_eq!(
            prototype(&facts()).unwrap(),
            "extern \"C\" void solve(const float* input0, double input1, long long input3, int input4, \
             const __half* bn_weight, const long long* bn_seen, __nv_bfloat16* output0)"
        );
        let signature = Signature::of(&facts()).unwrap();
        let number = Passed::Scalar(3.5f64.to_ne_bytes().to_vec());
        let passed = &signature.call.arguments;
        assert_eq!(passed[..2], [Passed::Buffer(32), number]);
        assert_eq!(passed[4..], [4, 8, 8].map(Passed::Buffer));
        let of = |what| signature.arguments.iter().filter(|it| **it == what).count();
        let counts = [
            Argument::Input,
            Argument::Number,
            Argument::Parameter,
            Argument::Output,
        ];
        assert_eq!(counts.map(of), [1, 3, 2, 1]);
    }

    #[test]
    fn what_a_file_cannot_take_is_told() {
        let mut masked = facts();
        masked.inputs[0] = Input::Tensor(("bool".to_owned(), vec![4]));
        assert!(prototype(&masked).unwrap_err().contains("type bool"));
        let mut unknown = facts();
        unknown.outputs = None;
        unknown.unknown = Some("line 3: fft".to_owned());
        assert!(prototype(&unknown).unwrap_err().contains("line 3: fft"));
    }
}
