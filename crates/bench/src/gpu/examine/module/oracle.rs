//! The process with the user's own torch: it knows what is right, and what torch takes.

use std::os::fd::AsFd;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::gpu::examine::arena::Arena;
use crate::gpu::examine::module::work::{ModuleWork, TorchSite};
use crate::gpu::examine::work::Trouble;
use crate::torch::worker::{Asked, Baselines, Worker};

/// Time to measure a problem, with what `torch.compile` takes to compile.
const MEASURING: Duration = Duration::from_mins(10);
/// Time to draw inputs, or to compute once what is right.
const COMPUTING: Duration = Duration::from_mins(3);
/// Draws parameters and the inputs that torch is timed on. Inputs of candidates are drawn by
/// numbers that nobody can foresee.
const SEED: u64 = 1;
/// How far plain torch may be from doubles. Beyond, a problem's results do not follow from its
/// inputs, as with dropout, or floats cannot hold them.
const DETERMINED: f64 = 1e-2;

/// The oracle of an examiner. Its process starts with the first module.
pub(in crate::gpu::examine) struct Oracle {
    site: Option<TorchSite>,
    worker: Option<Worker>,
    known: Option<Known>,
}

/// The problem that the process has loaded.
#[derive(Debug, Clone)]
pub(super) struct Known {
    source: String,
    with_compiled: bool,
    pub(super) baselines: Baselines,
    /// Types and shapes of what `Model` returns.
    pub(super) outputs: Vec<(String, Vec<u64>)>,
    /// How far plain torch is from doubles, on inputs as the problem draws them.
    pub(super) error: f64,
    /// The same on inputs that are drawn otherwise, where the results are numbers.
    pub(super) others: Vec<(Draw, f64)>,
}

/// How inputs are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Draw {
    /// As the problem draws them.
    Plain,
    /// Eight times as large: code that is right only near the numbers that a problem draws is seen
    /// there.
    Larger,
    /// As the problem draws them but for a few that are a million times as large: code that leaves
    /// numbers out of a sum or a mean is seen there, and cannot know it.
    Spiked,
}

/// Fresh inputs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Filling {
    pub(super) seed: u64,
    pub(super) draw: Draw,
    /// Argument of `forward`, offset and bytes.
    pub(super) inputs: Vec<(usize, u64, u64)>,
    /// Name, offset and bytes.
    pub(super) parameters: Vec<(String, u64, u64)>,
}

impl Known {
    /// How far plain torch is from doubles on such inputs.
    pub(super) fn error_of(&self, draw: Draw) -> f64 {
        let other = self.others.iter().find(|(of, _)| *of == draw);
        other.map_or(self.error, |(_, error)| *error)
    }
}

/// What the oracle says of a run.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Right {
    /// Whether inputs and parameters are what they were.
    pub(super) same: bool,
    /// Whether all that is right is a number.
    pub(super) finite: bool,
    /// The root mean square of each output; nothing for integers.
    pub(super) usual: Vec<Option<f64>>,
}

/// What the process says of a problem.
#[derive(Deserialize)]
struct Loaded {
    /// How far plain torch is from doubles, on inputs as drawn, larger, and with spikes.
    errors: [Option<f64>; 3],
    outputs: Vec<(String, Vec<u64>)>,
}

/// A reply that only says that it was done.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Done {
    Filled(()),
    Shared(()),
    Released(()),
}

impl Oracle {
    pub(in crate::gpu::examine) fn new(site: Option<TorchSite>) -> Self {
        Self {
            site,
            worker: None,
            known: None,
        }
    }

    /// The problem of a work, loaded and measured.
    pub(super) fn problem(&mut self, work: &ModuleWork) -> Result<Known, Trouble> {
        let is_it = |known: &&Known| {
            known.source == work.problem && (known.with_compiled || !work.with_compiled)
        };
        if let Some(known) = self.known.as_ref().filter(is_it) {
            return Ok(known.clone());
        }
        self.known = None;
        let asked = Asked {
            compiled: work.with_compiled,
            seed: SEED,
            limit: MEASURING,
        };
        let measured = self.worker()?.measure(&work.problem, asked);
        let baselines = match measured {
            Ok(Ok(baselines)) => baselines,
            Ok(Err(why)) => {
                // It may have ended.
                self.worker = None;
                return Err(unfit(&why));
            }
            Err(error) => return Err(Trouble::Machine(error.what)),
        };
        let request = json!({"problem": {"source": work.problem, "seed": SEED}});
        let Loaded { errors, outputs } = self.ask(&request)?;
        let determined = |error: &f64| *error <= DETERMINED;
        let error = match errors[0] {
            None => return Err(unfit("its right results are not all finite numbers")),
            Some(error) if !determined(&error) => {
                return Err(unfit(&format!(
                    "plain torch is {error:.1e} of the scale from doubles: the results do not \
                     follow from the inputs, or floats cannot hold them"
                )));
            }
            Some(error) => error,
        };
        let known = Known {
            source: work.problem.clone(),
            with_compiled: work.with_compiled,
            baselines,
            outputs,
            error,
            others: [Draw::Larger, Draw::Spiked]
                .into_iter()
                .zip(&errors[1..])
                .filter_map(|(draw, error)| Some((draw, error.filter(determined)?)))
                .collect(),
        };
        self.known = Some(known.clone());
        Ok(known)
    }

    /// Has the process map the memory of inputs, and that of what is right.
    pub(super) fn share(&mut self, inputs: &Arena, right: &Arena) -> Result<(), Trouble> {
        let request = json!({"share": [inputs.bytes(), right.bytes()]});
        let descriptors = [inputs.fd.as_fd(), right.fd.as_fd()];
        let worker = self.worker()?;
        let replied = worker.ask_with::<Done>(&request, &descriptors, COMPUTING);
        self.done(replied).map(drop)
    }

    /// Has it unmap both.
    pub(super) fn release(&mut self) -> Result<(), Trouble> {
        self.ask::<Done>(&json!({"release": true})).map(drop)
    }

    /// Draws inputs, and writes them and the parameters.
    pub(super) fn fill(&mut self, filling: &Filling) -> Result<(), Trouble> {
        let request = json!({"fill": {
            "seed": filling.seed,
            "draw": filling.draw,
            "inputs": filling.inputs,
            "parameters": filling.parameters,
        }});
        self.ask::<Done>(&request).map(drop)
    }

    /// Computes what is right for the inputs that were drawn last, and writes it. `outputs` holds
    /// the offset and the number of elements of each output.
    pub(super) fn right(&mut self, outputs: &[(u64, u64)]) -> Result<Right, Trouble> {
        self.ask(&json!({"right": {"outputs": outputs}}))
    }

    fn worker(&mut self) -> Result<&mut Worker, Trouble> {
        if self.worker.is_none() {
            self.known = None;
            let site = self.site.clone();
            let site =
                site.ok_or_else(|| Trouble::Machine("the examiner knows no torch".into()))?;
            let started = Worker::start(site.python, &site.device);
            self.worker = Some(started.map_err(|error| Trouble::Machine(error.what))?);
        }
        let none = || Trouble::Machine("there is no process with torch".into());
        self.worker.as_mut().ok_or_else(none)
    }

    fn ask<T: serde::de::DeserializeOwned>(
        &mut self,
        request: &serde_json::Value,
    ) -> Result<T, Trouble> {
        let replied = self.worker()?.ask(request, COMPUTING);
        self.done(replied)
    }

    fn done<T>(
        &mut self,
        replied: Result<Result<T, String>, hotloop_flow::BenchError>,
    ) -> Result<T, Trouble> {
        match replied {
            Ok(Ok(got)) => Ok(got),
            Ok(Err(why)) if is_of_the_machine(&why) => {
                self.forget();
                Err(Trouble::Machine(format!("torch, of what is right: {why}")))
            }
            Ok(Err(why)) => {
                self.forget();
                Err(unfit(&why))
            }
            Err(error) => {
                self.forget();
                Err(Trouble::Machine(error.what))
            }
        }
    }

    /// Ends the process, and with it what it has mapped.
    pub(super) fn forget(&mut self) {
        self.worker = None;
        self.known = None;
    }
}

/// Whether the GPU's memory or its calls failed, rather than the problem's code.
fn is_of_the_machine(why: &str) -> bool {
    let begins = ["OutOfMemory", "Accelerator", "RuntimeError: cu"];
    begins.iter().any(|words| why.starts_with(words)) || why.contains("CUDA error")
}

fn unfit(why: &str) -> Trouble {
    Trouble::Task(format!("the problem cannot be judged: {why}"))
}
