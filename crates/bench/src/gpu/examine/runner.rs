//! The role that runs candidates: a process with a context of its own.
//!
//! It is trusted until it loads a candidate's code. From then on the GPU runs what it wants, with
//! everything that this context maps. So it maps inputs read-only, holds nothing that is secret,
//! and prints nowhere: a kernel's `printf` goes to a descriptor that nobody reads.

use std::fs::File;
use std::os::fd::OwnedFd;

use serde::{Deserialize, Serialize};

use crate::gpu::driver::{
    Access, Address, Attribute, Driver, Event, Failure, Geometry, Gpu, Kernel, Module,
};
use crate::gpu::examine::wire;
use crate::gpu::image::Image;
use crate::gpu::plan::{Origin, Plan};
use crate::gpu::replay::{Prepared, Unfit};
use crate::gpu::trusted::TOUCH;
use crate::inputs::Fresh;
use crate::sandbox::calls;
use crate::sys;

/// Descriptors that the examiner leaves open.
const REQUESTS_FD: i32 = 0;
pub(super) const INPUTS_FD: i32 = 3;
pub(super) const WORK_FD: i32 = 4;

/// Bytes from one touch to the next, no more than the smallest page of large memory, and threads
/// that touch on each multiprocessor.
const PAGE: u64 = 2 << 20;
const TOUCHERS: u32 = 1024;

/// Marks to choose from. Which ones a run takes cannot be foreseen.
const EVENTS: usize = 96;
/// What is swept is so many times as large as the L2 cache, and no smaller than `LEAST_SWEEP`.
const SWEEPS: u64 = 4;
const LEAST_SWEEP: u64 = 4 << 20;

/// What a runner must know before it opens the GPU: its only argument, as JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RunnerSpec {
    pub(super) input_bytes: u64,
    pub(super) work_bytes: u64,
    /// Whether it closes its system calls.
    pub(super) seccomp: bool,
}

/// A request to a runner.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ToRunner {
    /// A candidate's plans, and the images that they name. The message carries the images' code, in
    /// their order, and then, where pages are touched before each run, that of the trusted kernels.
    Load {
        images: Vec<Image>,
        plans: Vec<Plan>,
        touches: bool,
    },
    /// Runs a plan on memory that the examiner has prepared.
    Run { plan: usize, buffers: Vec<Spot> },
    /// Runs nothing, like a plan without steps.
    Rest,
    /// Forgets the candidate.
    Unload,
}

/// Where a buffer lies in the shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Spot {
    Inputs(u64),
    Work(u64),
    /// A variable, which the runner finds itself.
    Own,
}

/// What a runner says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FromRunner {
    /// It is ready for a candidate.
    Ready,
    /// It cannot open the GPU.
    Unready(String),
    Loaded,
    Ran(Clocked),
    Unloaded,
    Refused(String),
    /// The driver's error, and whether this process can go on.
    Failed {
        code: u32,
        how: String,
        usable: bool,
    },
}

/// What a runner saw of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Clocked {
    /// Seconds between the marks before and after the plan.
    pub(super) seconds: f64,
    /// Seconds of the sweep before it, between two marks as well.
    pub(super) sweep_s: f64,
}

/// The role. Its only argument is a [`RunnerSpec`].
pub(crate) fn run(mut arguments: impl Iterator<Item = std::ffi::OsString>) -> i32 {
    let spec = arguments.next().and_then(|text| {
        let text = text.into_string().ok()?;
        serde_json::from_str::<RunnerSpec>(&text).ok()
    });
    let Some(spec) = spec else { return 1 };
    if sys::die_with_parent().is_err() {
        return 1;
    }
    sys::go_first();
    let mut stream = File::from(sys::inherited(REQUESTS_FD));
    let opened = open(&spec).and_then(|ready| {
        sys::no_new_privileges().map_err(|error| error.to_string())?;
        if spec.seccomp {
            calls::confine_gpu_runner()?;
        }
        Ok(ready)
    });
    let mut runner = match opened {
        Ok(runner) => runner,
        Err(why) => {
            drop(wire::send(&mut stream, &FromRunner::Unready(why), &[]));
            return 1;
        }
    };
    if wire::send(&mut stream, &FromRunner::Ready, &[]).is_err() {
        return 0;
    }
    while let Ok((request, attached)) = wire::receive::<ToRunner>(&mut stream) {
        let answer = runner.answer(request, attached);
        if wire::send(&mut stream, &answer, &[]).is_err() {
            break; // the examiner is gone
        }
    }
    0
}

struct Runner {
    gpu: Gpu,
    fresh: Fresh,
    inputs: Address,
    work: Address,
    swept: Address,
    sweep_bytes: u64,
    multiprocessors: u32,
    events: Vec<Event>,
    loaded: Option<Loaded>,
}

/// A candidate.
#[derive(Default)]
struct Loaded {
    modules: Vec<Module>,
    plans: Vec<Ready>,
    /// What looks up pages.
    touch: Option<Kernel>,
}

/// A plan that can run.
struct Ready {
    prepared: Prepared,
    /// Bytes of its buffers, but for variables.
    bytes: Vec<u64>,
}

fn open(spec: &RunnerSpec) -> Result<Runner, String> {
    let fresh = Fresh::from_system().map_err(|error| error.to_string())?;
    let gpu = Gpu::open(Driver::load()?).map_err(|failure| failure.to_string())?;
    prepare(gpu, fresh, spec).map_err(|failure| failure.to_string())
}

fn prepare(gpu: Gpu, fresh: Fresh, spec: &RunnerSpec) -> Result<Runner, Failure> {
    let map = |fd: OwnedFd, bytes: u64, access: Access| gpu.map(gpu.import(&fd, bytes)?, access);
    let inputs = map(sys::inherited(INPUTS_FD), spec.input_bytes, Access::Read)?;
    let work = map(sys::inherited(WORK_FD), spec.work_bytes, Access::ReadWrite)?;
    let sweep_bytes = sweep_bytes(&gpu)?;
    let swept = gpu.allocate(sweep_bytes)?;
    let multiprocessors = gpu.attribute(Attribute::Multiprocessors)?.max(1) as u32;
    let events = (0..EVENTS).map(|_| gpu.event()).collect::<Result<_, _>>()?;
    let mut runner = Runner {
        gpu,
        fresh,
        inputs,
        work,
        swept,
        sweep_bytes,
        multiprocessors,
        events,
        loaded: None,
    };
    // Makes the driver set up everything before files are closed.
    runner.clock(None)?;
    Ok(runner)
}

/// Bytes that push everything else out of the L2 cache.
pub(super) fn sweep_bytes(gpu: &Gpu) -> Result<u64, Failure> {
    let cache = gpu.attribute(Attribute::L2Bytes)?.max(0) as u64;
    Ok((SWEEPS * cache).max(LEAST_SWEEP))
}

impl Runner {
    fn answer(&mut self, request: ToRunner, attached: Vec<Vec<u8>>) -> FromRunner {
        let done = match request {
            ToRunner::Load {
                mut images,
                plans,
                touches,
            } => {
                let mut attached = attached.into_iter();
                for (image, code) in images.iter_mut().zip(&mut attached) {
                    image.cubin = code;
                }
                let trusted = touches.then(|| attached.next().unwrap_or_default());
                self.load(&images, &plans, trusted.as_deref())
                    .map(|()| FromRunner::Loaded)
            }
            ToRunner::Run { plan, buffers } => self.run(plan, &buffers),
            ToRunner::Rest => self.clock(None).map(FromRunner::Ran).map_err(Unfit::Failed),
            ToRunner::Unload => self
                .unload()
                .map(|()| FromRunner::Unloaded)
                .map_err(Unfit::Failed),
        };
        match done {
            Ok(answer) => answer,
            Err(Unfit::Refused(why)) => FromRunner::Refused(why),
            Err(Unfit::Failed(failure)) => FromRunner::Failed {
                code: failure.code,
                how: failure.to_string(),
                usable: self.gpu.synchronize().is_ok(),
            },
        }
    }

    fn load(
        &mut self,
        images: &[Image],
        plans: &[Plan],
        trusted: Option<&[u8]>,
    ) -> Result<(), Unfit> {
        // Kept at once, so that they are unloaded whatever comes of the plans.
        let loaded = self.loaded.insert(Loaded::default());
        for image in images {
            loaded.modules.push(self.gpu.load(&image.cubin)?);
        }
        let named = images.iter().map(|image| &image.symbols);
        let named: Vec<_> = loaded.modules.iter().copied().zip(named).collect();
        for plan in plans {
            let bytes = plan.buffers.iter().map(|buffer| match buffer.origin {
                Origin::Argument(_) | Origin::Own => buffer.bytes,
                Origin::Variable { .. } => 0,
            });
            loaded.plans.push(Ready {
                prepared: Prepared::new(&self.gpu, &named, plan)?,
                bytes: bytes.collect(),
            });
        }
        if let Some(trusted) = trusted {
            let module = self.gpu.load(trusted)?;
            loaded.modules.push(module);
            loaded.touch = Some(self.gpu.kernel(module, TOUCH)?);
        }
        Ok(())
    }

    fn run(&mut self, plan: usize, buffers: &[Spot]) -> Result<FromRunner, Unfit> {
        let bases: Vec<Address> = buffers
            .iter()
            .map(|spot| match spot {
                Spot::Inputs(offset) => self.inputs + offset,
                Spot::Work(offset) => self.work + offset,
                Spot::Own => 0,
            })
            .collect();
        Ok(FromRunner::Ran(self.clock(Some((plan, &bases)))?))
    }

    /// Sweeps the cache, runs a plan, and waits for it. The sweep keeps the GPU busy until the plan
    /// is queued.
    fn clock(&mut self, work: Option<(usize, &[Address])>) -> Result<Clocked, Failure> {
        let first = self.fresh.index(self.events.len() - 2);
        let [before, begin, end] = [0, 1, 2].map(|at| self.events[first + at]);
        let value = (self.fresh.word() as u32).to_ne_bytes();
        if let Some((plan, bases)) = work {
            self.touch(plan, bases)?;
        }
        self.gpu.record(before)?;
        self.gpu.set(self.swept, &value, self.sweep_bytes)?;
        self.gpu.record(begin)?;
        if let (Some((plan, bases)), Some(loaded)) = (work, &mut self.loaded) {
            loaded.plans[plan].prepared.replay(&self.gpu, bases)?;
        }
        self.gpu.record(end)?;
        self.gpu.synchronize()?;
        Ok(Clocked {
            seconds: self.gpu.elapsed_s(begin, end)?,
            sweep_s: self.gpu.elapsed_s(before, begin)?,
        })
    }

    /// Looks up the pages of a plan's buffers, where the candidate was loaded for that.
    fn touch(&self, plan: usize, bases: &[Address]) -> Result<(), Failure> {
        let Some((loaded, touch)) = self.loaded.as_ref().and_then(|it| Some((it, it.touch?)))
        else {
            return Ok(());
        };
        for (base, bytes) in bases.iter().zip(&loaded.plans[plan].bytes) {
            if *bytes < 4 {
                continue;
            }
            let arguments = [*base, *bytes, PAGE, self.swept];
            let mut arguments = arguments.map(|word| word.to_ne_bytes().to_vec());
            let geometry = Geometry::row(self.multiprocessors, TOUCHERS);
            self.gpu.launch(touch, &geometry, &mut arguments)?;
        }
        Ok(())
    }

    fn unload(&mut self) -> Result<(), Failure> {
        let loaded = self.loaded.take().unwrap_or_default();
        let mut modules = loaded.modules.into_iter();
        modules.try_for_each(|module| self.gpu.unload(module))
    }
}
