//! A plan in the making: memory and steps, from what the interpreter asked and what calls recorded.
//! All of it is checked here.

use super::element::{self, Wire};
use super::message::{Facts, Input};
use super::plan::{Memory, Origin, Output, Step};
use crate::gpu::host::returned;
use crate::gpu::plan as recorded;

/// Steps and buffers that a plan may have, and bytes of memory of its own.
const STEPS: usize = 100_000;
const BUFFERS: usize = 20_000;
const OWN_BYTES: u64 = 150_000_000_000;

/// A plan in the making.
#[derive(Default)]
pub(super) struct Making {
    pub(super) buffers: Vec<Memory>,
    pub(super) steps: Vec<Step>,
    pub(super) failures: Vec<String>,
    /// The kernels and variables that the plan uses of each extension.
    pub(super) recorded: Vec<(usize, recorded::Plan)>,
    own_bytes: u64,
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
        model: &[(String, String, Vec<u64>)],
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
        let mut parameters = Vec::new();
        for (index, (name, dtype, shape)) in model.iter().enumerate() {
            let of = counterpart(facts, model, index).ok_or_else(|| {
                format!(
                    "the parameter `{name}` ({dtype}, {shape:?}) has no counterpart of this shape in \
                     Model; its numbers come from there, by name or by order"
                )
            })?;
            let bytes = bytes(dtype, shape)?;
            parameters.push(self.add(of.clone(), Origin::Parameter(of.clone()), bytes)?);
        }
        Ok((inputs, parameters))
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
        check_pattern(pattern)?;
        if !wire.is_contiguous() {
            return Err("a memset of a tensor whose elements do not lie together".into());
        }
        self.step(Step::Set {
            to: wire.storage,
            bytes: wire.elements().saturating_mul(size),
        })
    }

    /// Sets fresh memory to a pattern.
    pub(super) fn fill(&mut self, storage: usize, pattern: &str) -> Result<(), String> {
        check_pattern(pattern)?;
        let bytes = self.buffers[storage].bytes;
        self.step(Step::Set { to: storage, bytes })
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
            to: to.storage,
            from: from.storage,
            bytes: to.elements().saturating_mul(size),
        })
    }

    /// Adds what a call recorded; `storages` are its buffers. Returns the memory of each of its buffers.
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
                recorded::Origin::Variable(name) => self.variable(extension, name, buffer.bytes)?,
            });
        }
        for step in &plan.steps {
            let step = match step {
                recorded::Step::Launch(launch) => {
                    let pointers = launch.arguments.iter().flat_map(|one| &one.pointers);
                    let mut touches: Vec<usize> =
                        pointers.map(|(_, place)| memory[place.buffer]).collect();
                    touches.sort_unstable();
                    touches.dedup();
                    Step::Launch {
                        extension,
                        kernel: launch.kernel.clone(),
                        grid: launch.grid,
                        block: launch.block,
                        shared: launch.shared,
                        touches,
                    }
                }
                recorded::Step::Set { to, bytes, .. } => Step::Set {
                    to: self.written(memory[to.buffer])?,
                    bytes: *bytes,
                },
                recorded::Step::Copy { to, from, bytes } => Step::Copy {
                    to: self.written(memory[to.buffer])?,
                    from: memory[from.buffer],
                    bytes: *bytes,
                },
                recorded::Step::Write { to, bytes, .. } => Step::Write {
                    to: self.written(memory[to.buffer])?,
                    bytes: bytes.len() as u64,
                },
            };
            self.step(step)?;
        }
        self.failures.extend(plan.failures.iter().cloned());
        self.recorded.push((extension, plan));
        Ok(memory)
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
            .any(|step| matches!(step, Step::Launch { .. }))
        {
            return Err("`forward` launches no kernel".into());
        }
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
            if !self.is_touched(wire.storage) {
                return Err("`forward` returns memory that nothing has written".into());
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

    fn is_touched(&self, memory: usize) -> bool {
        self.steps.iter().any(|step| match step {
            Step::Launch { touches, .. } => touches.contains(&memory),
            Step::Set { to, .. } | Step::Copy { to, .. } | Step::Write { to, .. } => *to == memory,
        })
    }

    fn variable(&mut self, extension: usize, name: &str, bytes: u64) -> Result<usize, String> {
        let origin = Origin::Variable {
            extension,
            name: name.to_owned(),
        };
        let known = self.buffers.iter().position(|one| one.origin == origin);
        known.map_or_else(|| self.add(format!("variable {name}"), origin, bytes), Ok)
    }

    /// Memory that a memset or a copy may write.
    fn written(&self, memory: usize) -> Result<usize, String> {
        self.check_own(memory).map(|()| memory)
    }

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
        self.steps.push(step);
        Ok(())
    }
}

/// The name in `Model` of a parameter of `ModelNew`: the same name and shape, or else the same place in a
/// list of the same shapes, because the same seed then draws the same numbers.
fn counterpart(
    facts: &Facts,
    model: &[(String, String, Vec<u64>)],
    index: usize,
) -> Option<String> {
    let (name, dtype, shape) = model.get(index)?;
    let same = facts.parameters.iter().find(|one| one.0 == *name);
    if let Some((name, of, sizes)) = same {
        return (of == dtype && sizes == shape).then(|| name.clone());
    }
    let alike = facts.parameters.len() == model.len()
        && facts
            .parameters
            .iter()
            .zip(model)
            .all(|(a, b)| a.1 == b.1 && a.2 == b.2);
    alike.then(|| facts.parameters[index].0.clone())
}

/// A pattern that a memset can repeat: one, two or four bytes, or eight that are zero.
fn check_pattern(pattern: &str) -> Result<(), String> {
    let is_hex = pattern.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_zero = pattern.bytes().all(|byte| byte == b'0');
    if is_hex && (matches!(pattern.len(), 2 | 4 | 8) || pattern.len() == 16 && is_zero) {
        return Ok(());
    }
    Err("a value of eight bytes cannot be set by a plan; write it by a kernel".into())
}
