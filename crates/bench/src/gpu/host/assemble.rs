//! From a recorder's events to a plan. The host half shares a process with its recorder, so all
//! that it wrote is checked here: a forged plan can ask for what an honest one can, and for nothing
//! else.

use std::collections::BTreeMap;

use hotloop_flow::language::cuda::Halves;

use super::events::{self, Event, Launched};
use super::returned::{self, Said};
use super::symbols::Symbols;
use super::traits::DeviceTraits;
use crate::gpu::call::{Call, Passed};
use crate::gpu::plan::{Argument, Buffer, Launch, Origin, Place, Plan, Step};

/// Where the recorder's addresses begin, and how far apart they are.
const FIRST: u64 = 0x5a00_0000_0000_0000;
const APART: u64 = 1 << 40;

/// Steps that a plan may have.
const STEPS: usize = 100_000;
/// Buffers of a plan. Each is guarded and checked in every round.
const BUFFERS: usize = 1024;
/// Bytes of memory that the plans of one candidate may take.
pub(super) const WEIGHT: usize = 128 << 20;
/// Bytes that host code may write to the GPU.
const WRITTEN: usize = 16 << 20;
/// Bytes of a kernel's arguments.
const ARGUMENTS: usize = 32_764;
/// Blocks of a cluster.
const CLUSTER: u64 = 16;
/// Failures that are told.
const FAILURES: usize = 8;

/// What a recorder's events came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Assembled {
    Plan(Plan),
    /// What a plan cannot express, or a GPU would not do.
    Refused(String),
    /// The function did not return.
    Unfinished,
}

/// What events mean for one host half.
pub(super) struct Assembler<'a> {
    pub(super) halves: &'a Halves,
    pub(super) symbols: &'a Symbols,
    pub(super) traits: &'a DeviceTraits,
}

/// A plan in the making.
struct Making<'a> {
    of: &'a Assembler<'a>,
    plan: Plan,
    /// The buffer of each address that the recorder gave, and whether it was freed.
    slots: BTreeMap<u64, (usize, bool)>,
    own_bytes: u64,
    written: usize,
    weight: usize,
    /// Dynamic shared memory that kernels asked for.
    shared: BTreeMap<String, u64>,
    /// The names of kernels, by where these begin. A launch may be repeated very often.
    kernels: BTreeMap<u64, Option<String>>,
    said: Said,
}

impl Assembler<'_> {
    pub(super) fn assemble(&self, call: &Call, events: &[u8]) -> Assembled {
        self.assemble_call(call, events).0
    }

    /// The same, and what the function of a torch extension said.
    pub(super) fn assemble_call(&self, call: &Call, events: &[u8]) -> (Assembled, Said) {
        let mut making = Making {
            of: self,
            plan: Plan::default(),
            slots: BTreeMap::new(),
            own_bytes: 0,
            written: 0,
            weight: 0,
            shared: BTreeMap::new(),
            kernels: BTreeMap::new(),
            said: Said::Nothing,
        };
        for (index, passed) in call.arguments.iter().enumerate() {
            if let Passed::Buffer(bytes) = passed {
                let address = FIRST + making.slots.len() as u64 * APART;
                making.add(address, Origin::Argument(index), *bytes);
            }
        }
        let assembled = match making.read(events) {
            Ok(true) => match making.plan.failures.first() {
                Some(failure) if making.plan.launches().next().is_none() => {
                    Assembled::Refused(failure.clone())
                }
                _ => Assembled::Plan(making.plan),
            },
            Ok(false) => Assembled::Unfinished,
            Err(why) => Assembled::Refused(why),
        };
        (assembled, making.said)
    }
}

/// Why plans beyond [`WEIGHT`] are refused.
pub(super) fn too_heavy() -> String {
    format!(
        "host code makes more than {} MiB of launches, copies and writes",
        WEIGHT >> 20
    )
}

impl Making<'_> {
    fn add(&mut self, address: u64, origin: Origin, bytes: u64) {
        let buffer = self.plan.buffers.len();
        self.plan.buffers.push(Buffer { origin, bytes });
        self.slots.insert(address, (buffer, false));
    }

    /// Whether the events end as they must. An error is the reason of a refusal.
    fn read(&mut self, mut rest: &[u8]) -> Result<bool, String> {
        while !rest.is_empty() {
            let Some(event) = events::next(&mut rest) else {
                return Err("what the host code recorded is no plan".into());
            };
            match event {
                Event::Refused(why) => return Err(why),
                Event::Ended => return Ok(true),
                Event::Allocated { address, bytes } => self.allocate(address, bytes)?,
                Event::Freed(address) => self.release(address)?,
                Event::Variable { address, host } => self.variable(address, host)?,
                Event::Launched(launched) => self.launch(&launched)?,
                Event::Set { to, bytes, pattern } => {
                    let to = self.range(to, bytes, "cudaMemset")?;
                    let pattern = pattern.to_vec();
                    let size = pattern.len() as u64;
                    if !matches!(size, 1 | 2 | 4) || bytes % size != 0 {
                        return Err("cudaMemset with a pattern that does not exist".into());
                    }
                    if to.offset % size != 0 {
                        return Err(format!(
                            "cudaMemset of {size} bytes at a time, {} bytes into a buffer",
                            to.offset
                        ));
                    }
                    self.step(Step::Set { to, pattern, bytes })?;
                }
                Event::Copied { to, from, bytes } => {
                    let from = self.range(from, bytes, "a copy reads")?;
                    let to = self.range(to, bytes, "a copy writes")?;
                    self.step(Step::Copy { to, from, bytes })?;
                }
                Event::Written { to, data } => self.write(to, data)?,
                Event::Raised(why) => self.said = Said::Raised(why),
                Event::Returned(bytes) => {
                    let value = returned::read(bytes, &mut |address| self.place(address))?;
                    self.said = Said::Returned(value);
                }
                Event::Shared { kernel, bytes } => {
                    let kernel = self.kernel(kernel)?;
                    self.shared.insert(kernel, bytes);
                }
                Event::Failed { kernel, why } => {
                    let of = self
                        .kernel(kernel)
                        .map_or_else(|_| String::new(), |name| format!("a launch of `{name}`: "));
                    self.fail(format!("{of}{why}"));
                }
            }
        }
        Ok(false)
    }

    fn fail(&mut self, why: String) {
        if self.plan.failures.len() < FAILURES {
            self.plan.failures.push(why);
        }
    }

    fn step(&mut self, step: Step) -> Result<(), String> {
        if self.plan.steps.len() == STEPS {
            return Err(format!(
                "more than {STEPS} launches, sets and copies in one call"
            ));
        }
        self.weight += step.weight();
        if self.weight > WEIGHT {
            return Err(too_heavy());
        }
        self.plan.steps.push(step);
        Ok(())
    }

    fn allocate(&mut self, address: u64, bytes: u64) -> Result<(), String> {
        self.check_new(address)?;
        if self.plan.buffers.len() >= BUFFERS {
            return Err(format!("more than {BUFFERS} buffers in one call"));
        }
        let most = self.of.traits.memory_bytes;
        self.own_bytes = self.own_bytes.saturating_add(bytes);
        if self.own_bytes > most {
            return Err(format!(
                "{} bytes of memory are more than the {most} of the GPU",
                self.own_bytes
            ));
        }
        self.add(address, Origin::Own, bytes);
        Ok(())
    }

    /// Addresses are the recorder's: each begins a range of its own.
    fn check_new(&self, address: u64) -> Result<(), String> {
        let is_one = address >= FIRST && (address - FIRST).is_multiple_of(APART);
        if is_one && address >> 56 == FIRST >> 56 && !self.slots.contains_key(&address) {
            return Ok(());
        }
        Err("memory at an address that the runtime does not give".into())
    }

    fn release(&mut self, address: u64) -> Result<(), String> {
        let Some((buffer, is_freed)) = self.slots.get_mut(&address) else {
            return Err("cudaFree of memory that was not allocated".into());
        };
        if self.plan.buffers[*buffer].origin != Origin::Own {
            return Err("cudaFree of memory that is not the host function's own".into());
        }
        if *is_freed {
            return Err("cudaFree of memory that was freed before".into());
        }
        // New memory never holds what was freed, so no buffer is given out twice.
        *is_freed = true;
        Ok(())
    }

    fn variable(&mut self, address: u64, host: u64) -> Result<(), String> {
        self.check_new(address)?;
        let Some(variable) = self.of.symbols.variable(host, self.of.halves) else {
            return Err("a symbol that is no `__device__` or `__constant__` variable".into());
        };
        let origin = Origin::Variable {
            image: 0,
            name: variable.name,
        };
        self.add(address, origin, variable.bytes);
        Ok(())
    }

    /// The place that an address names; nothing if it is no address of the GPU.
    fn place(&self, address: u64) -> Result<Option<Place>, String> {
        if address >> 56 != FIRST >> 56 {
            return Ok(None);
        }
        let start = (address - FIRST) / APART * APART + FIRST;
        let Some((buffer, is_freed)) = self.slots.get(&start).copied() else {
            return Ok(None);
        };
        let offset = address - start;
        let bytes = self.plan.buffers[buffer].bytes;
        if offset > bytes {
            return Err(format!(
                "an address {offset} bytes into a buffer of {bytes}, or before the start of another one"
            ));
        }
        if is_freed {
            return Err("memory is used after cudaFree".into());
        }
        Ok(Some(Place { buffer, offset }))
    }

    /// The begin of a range that lies within a buffer.
    fn range(&self, address: u64, bytes: u64, what: &str) -> Result<Place, String> {
        let Some(place) = self.place(address)? else {
            return Err(format!("{what}: an address that is not the GPU's"));
        };
        let room = self.plan.buffers[place.buffer].bytes - place.offset;
        if bytes > room {
            return Err(format!(
                "{what}: {bytes} bytes where the buffer has {room} left"
            ));
        }
        Ok(place)
    }

    fn write(&mut self, to: u64, data: &[u8]) -> Result<(), String> {
        let to = self.range(to, data.len() as u64, "a copy to the GPU")?;
        self.written += data.len();
        if self.written > WRITTEN {
            return Err(format!(
                "host code writes more than {} MiB to the GPU",
                WRITTEN >> 20
            ));
        }
        let Argument { bytes, pointers } = self.argument(data)?;
        self.step(Step::Write {
            to,
            bytes,
            pointers,
        })
    }

    fn kernel(&mut self, address: u64) -> Result<String, String> {
        let (symbols, halves) = (self.of.symbols, self.of.halves);
        let name = symbols.start(address).and_then(|start| {
            let named = self.kernels.entry(start);
            named
                .or_insert_with(|| symbols.kernel(address, halves))
                .clone()
        });
        name.ok_or_else(|| "what is launched is no kernel of this file".to_owned())
    }

    fn launch(&mut self, launched: &Launched<'_>) -> Result<(), String> {
        let kernel = self.kernel(launched.kernel)?;
        if let Some(why) = self.fault(&kernel, launched) {
            self.fail(format!("a launch of `{kernel}`: {why}"));
            return Ok(());
        }
        let arguments = launched.arguments.iter().map(|bytes| self.argument(bytes));
        let launch = Launch {
            image: 0,
            arguments: arguments.collect::<Result<_, _>>()?,
            kernel,
            grid: launched.grid,
            block: launched.block,
            shared: launched.shared as u32,
            cooperative: launched.cooperative,
            cluster: (launched.cluster != [0; 3]).then_some(launched.cluster),
        };
        self.step(Step::Launch(launch))
    }

    /// Why a GPU would not do a launch.
    fn fault(&self, kernel: &str, launched: &Launched<'_>) -> Option<String> {
        let traits = self.of.traits;
        let (grid, block, cluster) = (launched.grid, launched.block, launched.cluster);
        let product = |of: [u32; 3]| of.iter().map(|count| u64::from(*count)).product::<u64>();
        let most_blocks = [0x7fff_ffff, 65_535, 65_535];
        let most_threads = [1024, 1024, 64];
        let exceeds = |of: [u32; 3], most: [u32; 3]| (0..3).any(|axis| of[axis] > most[axis]);
        if grid.contains(&0) || exceeds(grid, most_blocks) {
            return Some(format!("a grid of {grid:?} blocks"));
        }
        // Products of what exceeds no limit fit.
        if exceeds(block, most_threads)
            || product(block) == 0
            || product(block) > u64::from(traits.threads_per_block)
        {
            return Some(format!(
                "a block of {block:?} threads, where at most {} are possible",
                traits.threads_per_block
            ));
        }
        let allowed = self.shared.get(kernel).copied().unwrap_or(0);
        let allowed = allowed
            .max(traits.shared_per_block)
            .min(traits.shared_per_block_optin);
        if launched.shared > allowed {
            return Some(format!(
                "{} bytes of dynamic shared memory, where {allowed} are allowed; more is asked for with \
                 cudaFuncAttributeMaxDynamicSharedMemorySize, up to {}",
                launched.shared, traits.shared_per_block_optin
            ));
        }
        if cluster != [0; 3] {
            let fits = (0..3).all(|axis| cluster[axis] > 0 && grid[axis] % cluster[axis] == 0);
            if !fits || product(cluster) > CLUSTER {
                return Some(format!(
                    "a cluster of {cluster:?} blocks in a grid of {grid:?}"
                ));
            }
        }
        let bytes: usize = launched.arguments.iter().map(|bytes| bytes.len()).sum();
        (bytes > ARGUMENTS).then(|| format!("{bytes} bytes of arguments"))
    }

    /// Bytes with the addresses in them as places.
    fn argument(&self, bytes: &[u8]) -> Result<Argument, String> {
        let mut bytes = bytes.to_vec();
        let mut pointers = Vec::new();
        for (index, word) in bytes.chunks_exact_mut(8).enumerate() {
            let address = u64::from_le_bytes(word.try_into().unwrap_or_default());
            if let Some(place) = self.place(address)? {
                pointers.push((8 * index, place));
                word.fill(0);
            }
        }
        Ok(Argument { bytes, pointers })
    }
}
