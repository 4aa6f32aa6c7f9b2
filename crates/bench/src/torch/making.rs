//! A plan in the making: memory and steps, from what the interpreter asked and what calls recorded.
//! All of it is checked here.

use std::collections::BTreeSet;

use super::counterpart::{self, Numbers};
use super::element::{self, Wire};
use super::flow::Flow;
use super::message::{Facts, Input, Parameter};
use super::plan::{At, Data, Launch, Memory, Origin, Output, Step};
use super::variables::Variables;
use crate::gpu::host::returned;
use crate::gpu::plan as recorded;

/// Steps and buffers that a plan may have, and bytes of memory of its own.
const STEPS: usize = 100_000;
const BUFFERS: usize = 20_000;
const OWN_BYTES: u64 = 150_000_000_000;
/// Bytes of memory that the steps of its calls may take.
const HELD_BYTES: usize = 128 << 20;

/// A plan in the making.
#[derive(Default)]
pub(super) struct Making {
    pub(super) buffers: Vec<Memory>,
    pub(super) steps: Vec<Step>,
    pub(super) failures: Vec<String>,
    variables: Variables,
    own_bytes: u64,
    held_bytes: usize,
    owned: usize,
}

impl Making {
    fn add(&mut self, name: String, origin: Origin, bytes: u64) -> Result<usize, String> {
        if self.buffers.len() == BUFFERS {
            return Err(format!("more than {BUFFERS} buffers"));
        }
        self.buffers.push(Memory {
            name,
            origin,
            bytes,
        });
        Ok(self.buffers.len() - 1)
    }

    /// Memory of the answer's own.
    pub(super) fn allocate(&mut self, bytes: u64) -> Result<usize, String> {
        self.own_bytes = self.own_bytes.saturating_add(bytes);
        if self.own_bytes > OWN_BYTES {
            return Err(format!(
                "{} bytes of memory are more than the {OWN_BYTES} of the GPU",
                self.own_bytes
            ));
        }
        self.owned += 1;
        self.add(format!("own {}", self.owned - 1), Origin::Own, bytes)
    }

    /// The memory of inputs and of a module's parameters, by what the problem says of them.
    pub(super) fn given(
        &mut self,
        facts: &Facts,
        model: &[Parameter],
    ) -> Result<(Vec<usize>, Vec<usize>), String> {
        let bytes = |dtype: &str, shape: &[u64]| -> Result<u64, String> {
            let size = element::bytes_of(dtype).ok_or_else(|| format!("the type {dtype}"))?;
            let count = shape
                .iter()
                .try_fold(size, |product, length| product.checked_mul(*length));
            count.ok_or_else(|| "a tensor larger than any memory".to_owned())
        };
        let mut inputs = Vec::new();
        for (index, input) in facts.inputs.iter().enumerate() {
            if let Input::Tensor((dtype, shape)) = input {
                let bytes = bytes(dtype, shape)?;
                inputs.push(self.add(format!("input {index}"), Origin::Input(index), bytes)?);
            }
        }
        let numbers = counterpart::numbers(facts, model)?;
        let mut parameters = Vec::new();
        for ((_, dtype, shape, _), numbers) in model.iter().zip(numbers) {
            let bytes = bytes(dtype, shape)?;
            parameters.push(match numbers {
                Numbers::Of(name) => self.add(name.clone(), Origin::Parameter(name), bytes)?,
                // It is set anew in every call.
                Numbers::Own(pattern) => {
                    let storage = self.allocate(bytes)?;
                    self.fill(storage, &pattern)?;
                    storage
                }
            });
        }
        Ok((inputs, parameters))
    }

    /// Whether memory is the answer's own.
    pub(super) fn is_own(&self, memory: usize) -> bool {
        let memory = self.buffers.get(memory);
        memory.is_some_and(|memory| matches!(memory.origin, Origin::Own))
    }

    /// The bytes of a tensor's memory, if the tensor lies in it.
    pub(super) fn check(&self, wire: &Wire) -> Result<u64, String> {
        let memory = self.buffers.get(wire.storage);
        let memory = memory.ok_or("a tensor over memory that does not exist")?;
        if matches!(memory.origin, Origin::Variable { .. }) {
            return Err("a tensor over a variable of an extension".into());
        }
        wire.check(memory.bytes).map(|_| memory.bytes)
    }

    /// Sets a tensor's elements to a pattern.
    pub(super) fn set(&mut self, wire: &Wire, pattern: &str) -> Result<(), String> {
        self.check(wire)?;
        self.check_own(wire.storage)?;
        let size = wire.check(u64::MAX)?.1;
        let pattern = read_pattern(pattern)?;
        if !wire.is_contiguous() {
            return Err("a memset of a tensor whose elements do not lie together".into());
        }
        let bytes = wire.elements().saturating_mul(size);
        self.repeat(at(wire), pattern, bytes)
    }

    /// Sets fresh memory to a pattern.
    pub(super) fn fill(&mut self, storage: usize, pattern: &str) -> Result<(), String> {
        let pattern = read_pattern(pattern)?;
        let to = At {
            memory: storage,
            offset: 0,
        };
        self.repeat(to, pattern, self.buffers[storage].bytes)
    }

    /// A memset, which a GPU has for whole elements at their places.
    fn repeat(&mut self, to: At, pattern: Vec<u8>, bytes: u64) -> Result<(), String> {
        let size = pattern.len() as u64;
        if !to.offset.is_multiple_of(size) || !bytes.is_multiple_of(size) {
            return Err("a memset of a part of an element".into());
        }
        self.step(Step::Set { to, pattern, bytes })
    }

    /// Copies one tensor to another.
    pub(super) fn copy(&mut self, to: &Wire, from: &Wire) -> Result<(), String> {
        self.check(to)?;
        self.check(from)?;
        self.check_own(to.storage)?;
        let is_plain = to.dtype == from.dtype
            && to.shape == from.shape
            && to.is_contiguous()
            && from.is_contiguous();
        if !is_plain {
            return Err("a copy between tensors that do not lie alike".into());
        }
        let size = to.check(u64::MAX)?.1;
        self.step(Step::Copy {
            to: at(to),
            from: at(from),
            bytes: to.elements().saturating_mul(size),
        })
    }

    /// Adds what a call recorded; `storages` are its buffers. Returns the memory of each of its
    /// buffers.
    pub(super) fn append(
        &mut self,
        extension: usize,
        plan: recorded::Plan,
        storages: &[usize],
    ) -> Result<Vec<usize>, String> {
        let mut memory = Vec::new();
        for buffer in &plan.buffers {
            memory.push(match &buffer.origin {
                recorded::Origin::Argument(index) => {
                    *storages.get(*index).ok_or("a buffer that was not passed")?
                }
                recorded::Origin::Own => self.allocate(buffer.bytes)?,
                recorded::Origin::Variable { name, .. } => {
                    self.variable(extension, name, buffer.bytes)?
                }
            });
        }
        self.hold(plan.weight())?;
        for step in plan.steps {
            let step = self.renumbered(extension, step, &memory)?;
            self.step(step)?;
        }
        self.failures.extend(plan.failures);
        Ok(memory)
    }

    /// A step of a call as a step of the module: its places are in the module's memory.
    fn renumbered(
        &mut self,
        extension: usize,
        step: recorded::Step,
        memory: &[usize],
    ) -> Result<Step, String> {
        let at = |place: recorded::Place| At {
            memory: memory[place.buffer],
            offset: place.offset,
        };
        let data = |bytes: Vec<u8>, pointers: Vec<(usize, recorded::Place)>| Data {
            bytes,
            pointers: pointers.into_iter().map(|(of, to)| (of, at(to))).collect(),
        };
        Ok(match step {
            recorded::Step::Launch(launch) => {
                let arguments = launch.arguments.into_iter();
                Step::Launch(Launch {
                    extension,
                    kernel: launch.kernel,
                    grid: launch.grid,
                    block: launch.block,
                    shared: launch.shared,
                    cooperative: launch.cooperative,
                    cluster: launch.cluster,
                    arguments: arguments.map(|one| data(one.bytes, one.pointers)).collect(),
                })
            }
            recorded::Step::Set { to, pattern, bytes } => {
                self.check_own(memory[to.buffer])?;
                Step::Set {
                    to: at(to),
                    pattern,
                    bytes,
                }
            }
            recorded::Step::Copy { to, from, bytes } => {
                self.check_own(memory[to.buffer])?;
                Step::Copy {
                    to: at(to),
                    from: at(from),
                    bytes,
                }
            }
            recorded::Step::Write {
                to,
                bytes,
                pointers,
            } => {
                self.check_own(memory[to.buffer])?;
                Step::Write {
                    to: at(to),
                    data: data(bytes, pointers),
                }
            }
        })
    }

    fn hold(&mut self, bytes: usize) -> Result<(), String> {
        self.held_bytes = self.held_bytes.saturating_add(bytes);
        if self.held_bytes > HELD_BYTES {
            return Err(format!(
                "its calls pass and write more than {} MiB",
                HELD_BYTES >> 20
            ));
        }
        Ok(())
    }

    /// The kernels and variables that the plan uses of an extension.
    pub(super) fn names(&self, extension: usize) -> Vec<String> {
        let kernels = self.steps.iter().filter_map(|step| match step {
            Step::Launch(launch) if launch.extension == extension => Some(launch.kernel.clone()),
            Step::Launch(_) | Step::Set { .. } | Step::Copy { .. } | Step::Write { .. } => None,
        });
        let variables = self
            .buffers
            .iter()
            .filter_map(|memory| match &memory.origin {
                Origin::Variable {
                    extension: of,
                    name,
                } if *of == extension => Some(name.clone()),
                Origin::Variable { .. } | Origin::Input(_) | Origin::Parameter(_) | Origin::Own => {
                    None
                }
            });
        let names: BTreeSet<String> = kernels.chain(variables).collect();
        names.into_iter().collect()
    }

    /// A value that a call returned, as the interpreter takes it.
    pub(super) fn returned(
        &self,
        value: &returned::Value,
        memory: &[usize],
    ) -> Result<serde_json::Value, String> {
        use serde_json::json;
        Ok(match value {
            returned::Value::None => json!({"none": true}),
            returned::Value::Int(number) => json!({"int": number}),
            returned::Value::Float(bits) => json!({"float": bits}),
            returned::Value::Bool(is) => json!({"bool": is}),
            returned::Value::List(list) => {
                let list = list.iter().map(|one| self.returned(one, memory));
                json!({"list": list.collect::<Result<Vec<_>, _>>()?})
            }
            returned::Value::Tensor(tensor) => {
                let storage = memory.get(tensor.place.buffer).copied();
                let wire = Wire {
                    storage: storage.ok_or("a tensor over memory that does not exist")?,
                    offset: tensor.place.offset,
                    dtype: tensor.dtype,
                    shape: tensor.shape.clone(),
                    strides: tensor.strides.clone(),
                };
                let bytes = self.check(&wire)?;
                json!({"tensor": {
                    "storage": wire.storage, "offset": wire.offset, "dtype": wire.dtype,
                    "shape": wire.shape, "strides": wire.strides, "bytes": bytes,
                }})
            }
        })
    }

    /// The tensors that `forward` returned, if a plan may return them.
    pub(super) fn outputs(&self, wires: &[Wire]) -> Result<Vec<Output>, String> {
        if !self
            .steps
            .iter()
            .any(|step| matches!(step, Step::Launch(_)))
        {
            return Err("`forward` launches no kernel".into());
        }
        let has_input = self
            .buffers
            .iter()
            .any(|memory| matches!(memory.origin, Origin::Input(_)));
        let mut flow = Flow::of(&self.buffers, &self.steps);
        let mut outputs = Vec::new();
        for wire in wires {
            let bytes = self.check(wire)?;
            let memory = &self.buffers[wire.storage];
            if !matches!(memory.origin, Origin::Own) {
                return Err(format!(
                    "`forward` returns `{}` itself; inputs and parameters are only read, and the \
                     result needs memory of its own",
                    memory.name
                ));
            }
            if !flow.is_written(wire.storage) {
                return Err("`forward` returns memory that no kernel has written".into());
            }
            if has_input && !flow.depends_on_inputs(wire.storage) {
                return Err(
                    "`forward` returns memory whose kernels received no input, so the result \
                     cannot depend on one"
                        .into(),
                );
            }
            outputs.push(Output {
                memory: wire.storage,
                offset: wire.offset,
                shape: (wire.check(bytes)?.0.to_owned(), wire.shape.clone()),
                strides: wire.strides.clone(),
            });
        }
        Ok(outputs)
    }

    fn variable(&mut self, extension: usize, name: &str, bytes: u64) -> Result<usize, String> {
        let origin = Origin::Variable {
            extension,
            name: name.to_owned(),
        };
        let known = self.buffers.iter().position(|one| one.origin == origin);
        known.map_or_else(|| self.add(format!("variable {name}"), origin, bytes), Ok)
    }

    /// A memset or a copy writes only to memory of the answer's own.
    fn check_own(&self, memory: usize) -> Result<(), String> {
        let memory = &self.buffers[memory];
        match memory.origin {
            Origin::Own | Origin::Variable { .. } => Ok(()),
            Origin::Input(_) | Origin::Parameter(_) => Err(format!(
                "it writes to `{}`; inputs and parameters are only read",
                memory.name
            )),
        }
    }

    fn step(&mut self, step: Step) -> Result<(), String> {
        if self.steps.len() == STEPS {
            return Err(format!("more than {STEPS} launches, sets and copies"));
        }
        self.variables.meet(&step, &self.buffers)?;
        self.steps.push(step);
        Ok(())
    }
}

fn at(wire: &Wire) -> At {
    At {
        memory: wire.storage,
        offset: wire.offset,
    }
}

/// A pattern that a memset can repeat: one, two or four bytes, or more that are zero.
fn read_pattern(pattern: &str) -> Result<Vec<u8>, String> {
    let digits = pattern.as_bytes().chunks(2);
    let bytes: Option<Vec<u8>> = digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    match bytes.as_deref() {
        Some([first, rest @ ..]) if rest.iter().all(|byte| byte == first) => Ok(vec![*first]),
        Some(bytes @ ([_, _] | [_, _, _, _])) => Ok(bytes.to_vec()),
        _ => Err("a value of eight bytes cannot be set by a plan; write it by a kernel".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts {
            inputs: vec![
                Input::Value("3".to_owned()),
                Input::Tensor(("float32".to_owned(), vec![4, 2])),
            ],
            parameters: Vec::new(),
            outputs: None,
            unknown: None,
        }
    }

    fn wire(storage: usize, shape: &[u64], strides: &[u64]) -> Wire {
        Wire {
            storage,
            offset: 0,
            dtype: 6,
            shape: shape.to_vec(),
            strides: strides.to_vec(),
        }
    }

    #[test]
    fn only_memory_of_its_own_is_written_or_returned() {
        let mut making = Making::default();
        let (inputs, _) = making.given(&facts(), &[]).unwrap();
        assert_eq!(making.buffers[inputs[0]].origin, Origin::Input(1));
        let own = making.allocate(32).unwrap();
        let (input, output) = (wire(inputs[0], &[8], &[1]), wire(own, &[8], &[1]));
        assert!(making.copy(&output, &input).is_ok());
        assert!(making.copy(&input, &output).is_err());
        assert!(making.set(&input, "00").is_err());
        assert!(making.set(&output, "0000803f").is_ok());
        assert!(making.set(&wire(own, &[2, 2], &[1, 2]), "00").is_err());
        let mut moved = wire(own, &[2], &[1]);
        moved.offset = 2;
        assert!(making.set(&moved, "0000803f").is_err(), "within an element");
        let odd = making.allocate(6).unwrap();
        assert!(making.fill(odd, "0000803f").is_err());
        assert!(making.fill(odd, "003c").is_ok());
        assert!(making.copy(&wire(99, &[8], &[1]), &input).is_err());
        assert!(
            making.outputs(std::slice::from_ref(&output)).is_err(),
            "no launch"
        );
        assert!(making.allocate(u64::MAX).is_err());
    }

    #[test]
    fn patterns_are_what_a_memset_repeats() {
        assert_eq!(read_pattern("0000000000000000"), Ok(vec![0]));
        assert_eq!(read_pattern("0000803f"), Ok(vec![0, 0, 0x80, 0x3f]));
        for pattern in ["", "zz", "\u{e9}\u{e9}", "000000000000f03f", "000102"] {
            assert!(read_pattern(pattern).is_err(), "{pattern}");
        }
    }
}
