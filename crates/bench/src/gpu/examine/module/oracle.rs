//! The process with the user's own torch: it knows what is right, and what torch takes.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::gpu::examine::arena::Arena;
use crate::gpu::examine::module::element::Element;
use crate::gpu::examine::module::work::{ModuleWork, TorchSite};
use crate::gpu::examine::work::Trouble;
use crate::torch::worker::{Asked, Baselines, Worker};

/// Time to measure a problem, with what `torch.compile` takes to compile.
const MEASURING: Duration = Duration::from_mins(10);
/// Time to draw inputs, or to compute once what is right.
const COMPUTING: Duration = Duration::from_mins(3);
/// Draws what torch is timed on. Parameters and inputs of candidates are drawn by numbers that
/// nobody can foresee.
const SEED: u64 = 1;
/// How far plain torch may be from doubles. Beyond, a problem's results do not follow from its
/// inputs, as with dropout, or floats cannot hold them.
const DETERMINED: f64 = 1e-2;
/// Results of other inputs must differ by so many times the error that an answer may have. Else a
/// result that depends on no input would do.
const HARDLY: f64 = 3.0;

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
    /// How far plain torch is from doubles for each way to draw inputs, where the results are
    /// numbers.
    errors: BTreeMap<Draw, f64>,
}

/// How inputs are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
    /// What is usual at a place follows from its index: code that takes a part of the numbers for
    /// all is seen there, also where no single number counts for much.
    Uneven,
    /// As the problem draws them but for a half of the places: code that looks at the other half
    /// cannot tell these inputs from plain ones.
    Partly,
    /// Numbers of one size, for problems most of whose results are negligible: code that leaves
    /// those out is seen there.
    Level,
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

impl Draw {
    /// Runs on inputs that are drawn so, beside plain ones. What is seen by chance needs several.
    fn runs(self) -> usize {
        match self {
            Self::Plain => 0,
            Self::Partly => 3,
            Self::Larger | Self::Spiked | Self::Uneven | Self::Level => 1,
        }
    }
}

impl Known {
    /// How far plain torch is from doubles on such inputs.
    pub(super) fn error_of(&self, draw: Draw) -> f64 {
        self.errors.get(&draw).copied().unwrap_or_default()
    }

    /// The other ways to draw inputs, one for each run.
    pub(super) fn others(&self) -> impl Iterator<Item = Draw> {
        let draws = self.errors.keys().copied();
        draws.flat_map(|draw| std::iter::repeat_n(draw, draw.runs()))
    }
}

/// What the oracle says of a run.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Right {
    /// Whether inputs and parameters are what they were.
    pub(super) same: bool,
    /// Whether all that is right is a number.
    pub(super) finite: bool,
    /// How far plain torch is from doubles, if it is a number. Not computed for plain inputs.
    error: Option<f64>,
    /// The root mean square of each output; nothing for integers.
    pub(super) usual: Vec<Option<f64>>,
}

impl Right {
    /// How far plain torch is from doubles; nothing if it says nothing about these inputs.
    pub(super) fn determined(&self) -> Option<f64> {
        self.error
            .filter(|error| self.finite && is_determined(*error))
    }
}

fn is_determined(error: f64) -> bool {
    error <= DETERMINED
}

/// What the process says of a problem.
#[derive(Deserialize)]
struct Loaded {
    /// How far plain torch is from doubles for each way to draw inputs; nothing if that is no
    /// number.
    errors: BTreeMap<Draw, Option<f64>>,
    outputs: Vec<(String, Vec<u64>)>,
    /// How far the results are apart for two sets of inputs.
    differ: f64,
}

impl Loaded {
    /// Why no answer can be judged by these results.
    fn unfit(&self) -> Option<String> {
        let Some(plain) = self.errors.get(&Draw::Plain).copied().flatten() else {
            return Some("its right results are not all finite numbers".to_owned());
        };
        if !is_determined(plain) {
            return Some(format!(
                "plain torch is {plain:.1e} of the scale from doubles: the results do not follow \
                 from the inputs, or floats cannot hold them"
            ));
        }
        let elements = self.outputs.iter();
        let elements = elements.filter_map(|(dtype, _)| Element::of(dtype));
        let bound = elements.map(|element| element.bound(plain));
        let bound = bound.fold(f64::INFINITY, f64::min);
        (self.differ <= HARDLY * bound).then(|| {
            format!(
                "its results hardly depend on its inputs: for others they differ by {:.1e} of the \
                 scale, and an answer may err by {bound:.1e}",
                self.differ
            )
        })
    }
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
        let loading = json!({"source": work.problem, "seed": SEED, "determined": DETERMINED});
        let loaded: Loaded = self.ask(&json!({ "problem": loading }))?;
        if let Some(why) = loaded.unfit() {
            return Err(unfit(&why));
        }
        let errors = loaded.errors.into_iter();
        let known = Known {
            source: work.problem.clone(),
            with_compiled: work.with_compiled,
            baselines,
            outputs: loaded.outputs,
            errors: errors
                .filter_map(|(draw, error)| Some((draw, error.filter(|it| is_determined(*it))?)))
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
                Err(Trouble::Machine(format!(
                    "torch could not compute the right results: {why}"
                )))
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
