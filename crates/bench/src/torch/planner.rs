//! Plans answers: talks with a jailed interpreter, builds its extensions and records their calls.

use std::path::PathBuf;
use std::sync::Arc;

use hotloop_flow::language::cuda;
use hotloop_flow::verdict::{Mismatch, Phase};
use hotloop_flow::{BenchError, Verdict};
use serde_json::json;

use super::answer::Answer;
use super::element::{self, Wire};
use super::file::{Argument, Signature};
use super::making::Making;
use super::message::{Build, Call, Facts, Message, Parameter, shown};
use super::plan::{Compiled, Device, ModulePlan, Output};
use super::python::Python;
use super::request;
use super::session::{Heard, Place, Session};
use super::sources::{sources, split};
use super::stand_in::StandIn;
use crate::cache::Cache;
use crate::gpu::compile::{self, DeviceCompiler, Toolkit};
use crate::gpu::host::extension::{Extension, Extensions};
use crate::gpu::host::returned::Said;
use crate::gpu::host::{self, DeviceTraits, Entry, Recorder};
use crate::gpu::plan as recorded;
use crate::gpu::site;
use crate::sandbox::Layers;
use crate::sandbox::user::unprivileged_user;
use crate::scratch::Scratch;
use crate::settings::Settings;
use crate::sys;

/// Extensions that one answer may build.
const EXTENSIONS: usize = 8;
/// Calls of their functions in one call of `forward`.
const CALLS: usize = 1000;
/// Seconds that one plan may take in all: every build and every call has a limit of its own, and
/// there may be many of them.
const TOTAL_S: f64 = 120.0;
/// The user of planners, after those of the benches for C and CUDA.
const USER: u32 = 300;

/// What came of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It has a plan, which is no judgement.
    Planned(Box<ModulePlan>),
    /// The answer's fault.
    Failed(Verdict),
}

/// Plans answers on this machine. It needs no GPU.
pub struct Planner {
    roles: PathBuf,
    landlock: bool,
    python: Python,
    stand_in: StandIn,
    extensions: Extensions,
    compiler: Result<DeviceCompiler, BenchError>,
    user: Option<u32>,
    sandbox: Vec<String>,
}

/// One answer on its way.
struct Planning<'a> {
    planner: &'a Planner,
    facts: &'a Facts,
    making: Making,
    extensions: Vec<Arc<Extension>>,
    /// The device half of each extension, or that of a file.
    devices: Vec<String>,
    is_constructed: bool,
    calls: usize,
    begin: f64,
}

/// How the talk goes on after a message.
enum Next {
    Answer(serde_json::Value),
    End(Outcome),
}

impl Planner {
    /// Prepares this machine.
    pub fn open(settings: &Settings) -> Result<Self, BenchError> {
        let cache = Cache::open()?;
        let layers = Layers::probe(&settings.roles, &settings.without);
        if !layers.seccomp {
            return Err(BenchError::machine(
                "seccomp is missing here, and without it no answer runs",
            )
            .hint("use a kernel with CONFIG_SECCOMP_FILTER, or a container that allows seccomp"));
        }
        let landlock = layers.landlock.is_some();
        let scratch = Arc::new(Scratch::new()?);
        let python = Python::known(&cache)?;
        let stand_in = StandIn::prepare(&cache)?;
        let compiler = DeviceCompiler::open(compile::Opening {
            toolkit: Toolkit::find(),
            roles: &settings.roles,
            cache: cache.clone(),
            scratch: Arc::clone(&scratch),
            landlock,
            reuse: settings.reuse,
            capability: site::capability(),
        });
        let recorder = Recorder::open(host::Opening {
            roles: &settings.roles,
            cache,
            scratch,
            landlock,
            traits: DeviceTraits::default(),
        })?;
        Ok(Self {
            roles: settings.roles.clone(),
            landlock,
            python,
            stand_in,
            extensions: Extensions::open(recorder)?,
            compiler,
            user: layers.drops_root.then(|| unprivileged_user(USER)),
            sandbox: layers.names(),
        })
    }

    /// The layers of the sandbox that are active here.
    pub(super) fn sandbox(&self) -> &[String] {
        &self.sandbox
    }

    /// Whether device halves are compiled here, and by what.
    pub fn compiler(&self) -> Compiled {
        match &self.compiler {
            Ok(compiler) => Compiled::By(compiler.version()),
            Err(error) => Compiled::Not(error.what.clone()),
        }
    }

    /// The compiler of device halves, if there is one.
    pub(crate) fn device_compiler(&self) -> Result<&DeviceCompiler, BenchError> {
        self.compiler.as_ref().map_err(Clone::clone)
    }

    fn place(&self) -> Place<'_> {
        Place {
            python: &self.python,
            stand_in: &self.stand_in,
            roles: &self.roles,
            landlock: self.landlock,
        }
    }

    /// Reads a problem; the inner error says why it cannot be read.
    pub fn problem(&self, source: &str) -> Result<Result<Facts, String>, BenchError> {
        let task = json!({"problem": source});
        let mut session = Session::start(&self.place(), &task, self.user)?;
        Ok(match session.next()? {
            Heard::Message(Message::Facts(facts)) => Ok(facts),
            Heard::Message(Message::Failed(why) | Message::Refused(why)) => Err(why),
            Heard::Message(_) => Err("it sent a message that is not a fact".to_owned()),
            Heard::Verdict(verdict) => Err(verdict.detail()),
        })
    }

    /// Plans an answer to a problem whose facts are known.
    pub fn plan(
        &self,
        problem: &str,
        facts: &Facts,
        answer: Answer<'_>,
    ) -> Result<Outcome, BenchError> {
        let planning = Planning {
            planner: self,
            facts,
            making: Making::default(),
            extensions: Vec::new(),
            devices: Vec::new(),
            is_constructed: false,
            calls: 0,
            begin: sys::now(),
        };
        match answer {
            Answer::Python(text) => self.talk(planning, problem, text),
            Answer::Cuda(text) => planning.file(text),
        }
    }

    fn talk(
        &self,
        mut planning: Planning<'_>,
        problem: &str,
        answer: &str,
    ) -> Result<Outcome, BenchError> {
        let task = json!({"problem": problem, "answer": answer});
        let mut session = Session::start(&self.place(), &task, self.user)?;
        loop {
            if let Some(verdict) = planning.timed_out(Phase::Run) {
                return Ok(Outcome::Failed(verdict));
            }
            let message = match session.next()? {
                Heard::Message(message) => message,
                Heard::Verdict(verdict) => return Ok(Outcome::Failed(verdict)),
            };
            match planning.hear(message)? {
                Next::Answer(answer) => session.answer(&answer)?,
                Next::End(outcome) => return Ok(outcome),
            }
        }
    }
}

fn failed(verdict: Verdict) -> Next {
    Next::End(Outcome::Failed(verdict))
}

fn refused(why: String) -> Next {
    failed(Verdict::Refused { why })
}

impl Planning<'_> {
    /// The verdict on an answer that took all its time.
    fn timed_out(&self, during: Phase) -> Option<Verdict> {
        (sys::now() - self.begin > TOTAL_S).then_some(Verdict::TimedOut {
            limit_s: TOTAL_S,
            during,
        })
    }

    /// What follows from a message.
    fn hear(&mut self, message: Message) -> Result<Next, BenchError> {
        let made = match message {
            Message::Build(build) => return self.build(build),
            Message::Call(call) => return self.call(&call),
            Message::Output(wires) => match self.making.outputs(&wires) {
                Ok(outputs) => return self.end(outputs).map(Next::End),
                Err(why) => Err(why),
            },
            Message::Model(model) => self.construct(&model),
            Message::Allocate((bytes, pattern)) => self.allocate(bytes, pattern.as_deref()),
            Message::Copy((to, from)) => self.making.copy(&to, &from).map(|()| json!({})),
            Message::Set((to, pattern)) => self.making.set(&to, &pattern).map(|()| json!({})),
            Message::Refused(why) => Err(shown(&why)),
            Message::Crashed(how) => return Ok(failed(Verdict::Crashed { how: shown(&how) })),
            Message::Malformed(why) => return Ok(failed(Verdict::Malformed { why: shown(&why) })),
            Message::Ready(_) | Message::Facts(_) | Message::Failed(_) => {
                Err("the interpreter says something out of turn".to_owned())
            }
        };
        Ok(made.map_or_else(refused, Next::Answer))
    }

    /// Gives inputs and parameters their memory.
    fn construct(&mut self, model: &[Parameter]) -> Result<serde_json::Value, String> {
        if std::mem::replace(&mut self.is_constructed, true) {
            return Err("the interpreter says something out of turn".to_owned());
        }
        let (inputs, parameters) = self.making.given(self.facts, model)?;
        let with_owner = |memory: &usize| (*memory, self.making.is_own(*memory));
        let parameters: Vec<(usize, bool)> = parameters.iter().map(with_owner).collect();
        Ok(json!({"inputs": inputs, "parameters": parameters}))
    }

    fn allocate(&mut self, bytes: u64, pattern: Option<&str>) -> Result<serde_json::Value, String> {
        let storage = self.making.allocate(bytes)?;
        if let Some(pattern) = pattern {
            self.making.fill(storage, pattern)?;
        }
        Ok(json!({"storage": storage}))
    }

    fn build(&mut self, build: Build) -> Result<Next, BenchError> {
        if self.extensions.len() == EXTENSIONS {
            return Ok(refused(format!("more than {EXTENSIONS} extensions")));
        }
        let sources = match sources(build) {
            Ok(sources) => sources,
            Err(why) => return Ok(refused(why)),
        };
        match self.planner.extensions.build(&sources, self.planner.user)? {
            Ok(extension) => {
                self.devices.push(extension.halves.device.clone());
                self.extensions.push(extension);
                let number = self.extensions.len() - 1;
                Ok(Next::Answer(
                    json!({"extension": number, "functions": sources.functions}),
                ))
            }
            Err(verdict) => Ok(failed(verdict)),
        }
    }

    fn call(&mut self, call: &Call) -> Result<Next, BenchError> {
        self.calls += 1;
        if self.calls > CALLS {
            return Ok(refused(format!("more than {CALLS} calls of extensions")));
        }
        let Some(extension) = self.extensions.get(call.extension) else {
            return Ok(refused("a call of an extension that does not exist".into()));
        };
        let encoded = request::encode(call, &|wire| self.making.check(wire));
        let request = match encoded {
            Ok(request) => request,
            Err(why) => return Ok(refused(why)),
        };
        let planner = self.planner;
        let called = planner
            .extensions
            .call(extension, &request.call, planner.user)?;
        let (plan, said) = match called {
            Ok(called) => called,
            Err(verdict) => return Ok(failed(verdict)),
        };
        let answer = self
            .making
            .append(call.extension, plan, &request.storages)
            .and_then(|memory| match said {
                Said::Returned(value) => {
                    let value = self.making.returned(&value, &memory)?;
                    Ok(json!({"returned": value}))
                }
                Said::Raised(why) => Ok(json!({"raised": why})),
                Said::Nothing => Err(format!(
                    "`{}` ended without reporting its result",
                    shown(&call.function)
                )),
            });
        Ok(answer.map_or_else(refused, Next::Answer))
    }

    /// Plans a file: one call of its `solve`.
    fn file(mut self, text: &str) -> Result<Outcome, BenchError> {
        let signature = Signature::of(self.facts).map_err(BenchError::user)?;
        let source = match cuda::read(text.as_bytes(), &signature.function) {
            Ok(extracted) => extracted.source,
            Err(malformed) => {
                let why = malformed.why;
                return Ok(Outcome::Failed(Verdict::Malformed { why }));
            }
        };
        let refused = |why: String| Ok(Outcome::Failed(Verdict::Refused { why }));
        let halves = match split(&source) {
            Ok(halves) => halves,
            Err(why) => return refused(why),
        };
        let entry = Entry::of(&signature.function);
        let (calls, user) = (std::slice::from_ref(&signature.call), self.planner.user);
        let recorder = self.planner.extensions.recorder();
        let plan = match recorder.record(&halves, &entry, calls, user)? {
            Ok(plans) => plans.into_iter().next().unwrap_or_default(),
            Err(verdict) => return Ok(Outcome::Failed(verdict)),
        };
        self.devices.push(halves.device);
        match self.solved(&signature, plan) {
            Ok(outputs) => self.end(outputs),
            Err(why) => refused(why.replace("`forward`", "`solve`")),
        }
    }

    /// Gives what a call of `solve` recorded its memory, and takes its outputs.
    fn solved(
        &mut self,
        signature: &Signature,
        plan: recorded::Plan,
    ) -> Result<Vec<Output>, String> {
        let own = |(name, dtype, shape): &(String, String, Vec<u64>)| {
            (name.clone(), dtype.clone(), shape.clone(), None)
        };
        let parameters: Vec<Parameter> = self.facts.parameters.iter().map(own).collect();
        let (inputs, parameters) = self.making.given(self.facts, &parameters)?;
        let mut outputs = Vec::new();
        for (dtype, shape) in &signature.outputs {
            let (number, size) = element::number_of(dtype).ok_or("a result of no known type")?;
            let count = shape
                .iter()
                .fold(size, |all, length| all.saturating_mul(*length));
            outputs.push(Wire {
                storage: self.making.allocate(count)?,
                offset: 0,
                dtype: number,
                shape: shape.clone(),
                strides: element::contiguous(shape),
            });
        }
        let (mut inputs, mut parameters) = (inputs.into_iter(), parameters.into_iter());
        let mut results = outputs.iter().map(|output| output.storage);
        let memory = |argument: &Argument| match argument {
            Argument::Input => inputs.next(),
            Argument::Parameter => parameters.next(),
            Argument::Output => results.next(),
            // A number has no memory, so no plan can name it.
            Argument::Number => None,
        };
        let storages = signature.arguments.iter().map(memory);
        let storages: Vec<usize> = storages.map(|it| it.unwrap_or(usize::MAX)).collect();
        self.making.append(0, plan, &storages)?;
        self.making.outputs(&outputs)
    }

    /// Compares what is returned with the problem, and compiles the device halves.
    fn end(&mut self, outputs: Vec<Output>) -> Result<Outcome, BenchError> {
        if let Some(why) = self.mismatch(&outputs) {
            return Ok(Outcome::Failed(Verdict::Wrong(Mismatch {
                why,
                error: f64::INFINITY,
                paper: false,
            })));
        }
        let devices = match self.devices()? {
            Ok(devices) => devices,
            Err(verdict) => return Ok(Outcome::Failed(verdict)),
        };
        let making = std::mem::take(&mut self.making);
        Ok(Outcome::Planned(Box::new(ModulePlan {
            buffers: making.buffers,
            steps: making.steps,
            outputs,
            failures: making.failures,
            compiled: self.planner.compiler(),
            uncompared: self.facts.unknown.clone(),
            devices,
        })))
    }

    /// How the outputs' shapes differ from the problem's.
    fn mismatch(&self, outputs: &[Output]) -> Option<String> {
        let wanted = self.facts.outputs.as_ref()?;
        if wanted.len() != outputs.len() {
            return Some(format!(
                "`forward` returns {} tensors, and Model returns {}",
                outputs.len(),
                wanted.len()
            ));
        }
        outputs.iter().zip(wanted).find_map(|(output, wanted)| {
            (output.shape != *wanted).then(|| {
                format!(
                    "`forward` returns {} {:?}, and Model returns {} {:?}",
                    output.shape.0, output.shape.1, wanted.0, wanted.1
                )
            })
        })
    }

    /// The device halves, compiled for the names that the plan uses where there is a compiler.
    fn devices(&self) -> Result<Result<Vec<Device>, Verdict>, BenchError> {
        let mut devices = Vec::new();
        for (index, source) in self.devices.iter().enumerate() {
            if let Some(verdict) = self.timed_out(Phase::Compile) {
                return Ok(Err(verdict));
            }
            let mut device = Device {
                source: source.clone(),
                names: self.making.names(index),
                image: None,
            };
            let compiler = self.planner.compiler.as_ref().ok();
            if let Some(compiler) = compiler.filter(|_| !device.names.is_empty()) {
                let user = self.planner.user;
                match compiler.compile(&device.source, &device.names, None, user)? {
                    Ok(image) => device.image = Some(image),
                    Err(verdict) => return Ok(Err(verdict)),
                }
            }
            devices.push(device);
        }
        Ok(Ok(devices))
    }
}
