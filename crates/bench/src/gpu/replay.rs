//! A plan on a GPU: its kernels found, its pointers made addresses, its steps queued.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::gpu::driver::{Address, Failure, Geometry, Gpu, Kernel, Module};
use crate::gpu::plan::{Argument, Launch, Origin, Place, Plan, Step};

/// Why a plan cannot be replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// Host code and device code do not fit together.
    Refused(String),
    /// The driver refuses it.
    Failed(Failure),
}

impl From<Failure> for Unfit {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// A plan whose kernels and variables are found.
pub(crate) struct Prepared {
    steps: Vec<Ready>,
    /// The address of each buffer that is a variable.
    variables: Vec<Option<Address>>,
}

enum Ready {
    Launch {
        kernel: Kernel,
        geometry: Geometry,
        arguments: Vec<Vec<u8>>,
        /// Argument, where in it, and what it points to.
        pointers: Vec<(usize, usize, Place)>,
    },
    Set {
        to: Place,
        pattern: Vec<u8>,
        bytes: u64,
    },
    Copy {
        to: Place,
        from: Place,
        bytes: u64,
    },
    Write {
        to: Place,
        bytes: Vec<u8>,
        /// Where in the bytes, and what it points to.
        pointers: Vec<(usize, Place)>,
    },
}

impl Prepared {
    /// Finds what the plan names in `modules`, whose symbols belong to name expressions.
    pub(crate) fn new(
        gpu: &Gpu,
        modules: &[(Module, &BTreeMap<String, String>)],
        plan: &Plan,
    ) -> Result<Self, Unfit> {
        let symbol = |image: usize, name: &str| {
            modules
                .get(image)
                .and_then(|(module, symbols)| Some((*module, symbols.get(name)?)))
                .ok_or_else(|| Unfit::Refused(format!("`{name}` is not in the device code")))
        };
        let mut variables = Vec::new();
        for buffer in &plan.buffers {
            variables.push(match &buffer.origin {
                Origin::Variable { image, name } => {
                    let (module, symbol) = symbol(*image, name)?;
                    let (address, bytes) = gpu.variable(module, symbol)?;
                    if bytes != 0 && buffer.bytes > bytes {
                        return Err(Unfit::Refused(format!(
                            "`{name}` has {} bytes in the host code and {bytes} in the device code",
                            buffer.bytes
                        )));
                    }
                    Some(address)
                }
                Origin::Argument(_) | Origin::Own => None,
            });
        }
        let mut kernels: BTreeMap<(usize, &str), (Kernel, Vec<usize>)> = BTreeMap::new();
        let mut steps = Vec::new();
        for step in &plan.steps {
            steps.push(match step {
                Step::Launch(launch) => {
                    let name = (launch.image, launch.kernel.as_str());
                    let (kernel, parameters) = match kernels.entry(name) {
                        Entry::Occupied(known) => known.into_mut(),
                        Entry::Vacant(new) => {
                            let (module, symbol) = symbol(name.0, name.1)?;
                            let kernel = gpu.kernel(module, symbol)?;
                            new.insert((kernel, gpu.parameters(kernel)))
                        }
                    };
                    prepare_launch(gpu, *kernel, parameters, launch)?
                }
                Step::Set { to, pattern, bytes } => {
                    check_range(plan, *to, *bytes, "setting memory")?;
                    let (to, pattern, bytes) = (*to, pattern.clone(), *bytes);
                    Ready::Set { to, pattern, bytes }
                }
                Step::Copy { to, from, bytes } => {
                    check_range(plan, *to, *bytes, "copying memory")?;
                    check_range(plan, *from, *bytes, "copying memory")?;
                    let (to, from, bytes) = (*to, *from, *bytes);
                    Ready::Copy { to, from, bytes }
                }
                Step::Write {
                    to,
                    bytes,
                    pointers,
                } => {
                    check_range(plan, *to, bytes.len() as u64, "writing memory")?;
                    check_pointers(pointers, bytes)?;
                    Ready::Write {
                        to: *to,
                        bytes: bytes.clone(),
                        pointers: pointers.clone(),
                    }
                }
            });
        }
        Ok(Self { steps, variables })
    }

    /// Queues every step. `bases` holds the address of each of the plan's buffers; those of
    /// variables are known.
    pub(crate) fn replay(&mut self, gpu: &Gpu, bases: &[Address]) -> Result<(), Failure> {
        let variables = &self.variables;
        let address = |place: Place| {
            let base = variables[place.buffer].unwrap_or(bases[place.buffer]);
            base.wrapping_add(place.offset)
        };
        for step in &mut self.steps {
            match step {
                Ready::Launch {
                    kernel,
                    geometry,
                    arguments,
                    pointers,
                } => {
                    for (argument, at, place) in pointers.iter() {
                        let bytes = address(*place).to_ne_bytes();
                        arguments[*argument][*at..*at + 8].copy_from_slice(&bytes);
                    }
                    gpu.launch(*kernel, geometry, arguments)?;
                }
                // The driver takes no range without a byte.
                Ready::Set { bytes: 0, .. } | Ready::Copy { bytes: 0, .. } => {}
                Ready::Set { to, pattern, bytes } => gpu.set(address(*to), pattern, *bytes)?,
                Ready::Copy { to, from, bytes } => {
                    gpu.copy(address(*to), address(*from), *bytes)?;
                }
                Ready::Write {
                    to,
                    bytes,
                    pointers,
                } if !bytes.is_empty() => {
                    for (at, place) in pointers.iter() {
                        bytes[*at..*at + 8].copy_from_slice(&address(*place).to_ne_bytes());
                    }
                    gpu.upload(address(*to), bytes)?;
                }
                Ready::Write { .. } => {}
            }
        }
        Ok(())
    }
}

fn prepare_launch(
    gpu: &Gpu,
    kernel: Kernel,
    parameters: &[usize],
    launch: &Launch,
) -> Result<Ready, Unfit> {
    let sizes: Vec<usize> = launch.arguments.iter().map(|it| it.bytes.len()).collect();
    if sizes != parameters {
        return Err(Unfit::Refused(format!(
            "`{}` has parameters of {parameters:?} bytes in the device code and is launched with {sizes:?}",
            launch.kernel
        )));
    }
    let mut pointers = Vec::new();
    for (
        index,
        Argument {
            bytes,
            pointers: own,
        },
    ) in launch.arguments.iter().enumerate()
    {
        check_pointers(own, bytes)?;
        pointers.extend(own.iter().map(|(at, place)| (index, *at, *place)));
    }
    let geometry = Geometry {
        grid: launch.grid,
        block: launch.block,
        shared: launch.shared,
        cooperative: launch.cooperative,
        cluster: launch.cluster,
    };
    gpu.allow(kernel, &geometry)?;
    Ok(Ready::Launch {
        kernel,
        geometry,
        arguments: launch.arguments.iter().map(|it| it.bytes.clone()).collect(),
        pointers,
    })
}

fn check_pointers(pointers: &[(usize, Place)], bytes: &[u8]) -> Result<(), Unfit> {
    let fits = |(at, _): &(usize, Place)| at.checked_add(8).is_some_and(|end| end <= bytes.len());
    if pointers.iter().all(fits) {
        return Ok(());
    }
    Err(Unfit::Refused(
        "a pointer lies outside of its argument".into(),
    ))
}

/// The driver would not see a range that leaves its buffer, because buffers share an allocation.
fn check_range(plan: &Plan, at: Place, bytes: u64, during: &'static str) -> Result<(), Unfit> {
    let inside = plan.buffers.get(at.buffer).is_some_and(|buffer| {
        at.offset
            .checked_add(bytes)
            .is_some_and(|end| end <= buffer.bytes)
    });
    if inside {
        Ok(())
    } else {
        Err(Unfit::Failed(Failure::invalid(during)))
    }
}

/// Checks that every place of a plan names one of its buffers, so that a replay cannot panic.
pub(crate) fn is_sound(plan: &Plan) -> bool {
    let known = |place: &Place| place.buffer < plan.buffers.len();
    plan.steps.iter().all(|step| match step {
        Step::Launch(launch) => launch
            .arguments
            .iter()
            .flat_map(|argument| &argument.pointers)
            .all(|(_, place)| known(place)),
        Step::Set { to, .. } => known(to),
        Step::Write { to, pointers, .. } => {
            known(to) && pointers.iter().all(|(_, place)| known(place))
        }
        Step::Copy { to, from, .. } => known(to) && known(from),
    })
}
