//! Judges candidates of tasks where kernels are compiled without any confinement: on the emulator
//! of a GPU.

use std::path::PathBuf;
use std::sync::Arc;

use hotloop_flow::language::cuda;
use hotloop_flow::task::Method;
use hotloop_flow::{BenchError, How, Job, Verdict};

use super::nvrtc;
use crate::cache::Cache;
use crate::gpu::call::Call;
use crate::gpu::calls;
use crate::gpu::examine::{Examiner, Options, Trusted, Work};
use crate::gpu::host::{self, DeviceTraits, Entry, Recorder};
use crate::gpu::image::Image;
use crate::gpu::plan::{self, Plan};
use crate::gpu::trusted;
use crate::inputs::Fresh;
use crate::sandbox::Layers;
use crate::sandbox::user::unprivileged_user;
use crate::scratch::Scratch;

/// Any architecture: the emulator has none.
const ARCHITECTURE: &str = "sm_90";
/// Seconds that one call may take.
const LIMIT_S: f64 = 60.0;

/// A recorder and an examiner.
pub struct TaskTrial {
    recorder: Recorder,
    examiner: Examiner,
    fresh: Fresh,
    user: Option<u32>,
}

impl TaskTrial {
    /// Opens the emulated GPU. `roles` plays the hidden roles.
    pub fn open(roles: PathBuf) -> Result<Self, BenchError> {
        let layers = Layers::probe(&roles, &[]);
        let trusted = nvrtc::compile(trusted::SOURCE, &trusted::NAMES, ARCHITECTURE)
            .map_err(BenchError::machine)?;
        let recorder = Recorder::open(host::Opening {
            roles: &roles,
            cache: Cache::open()?,
            scratch: Arc::new(Scratch::new()?),
            landlock: layers.landlock.is_some(),
            traits: DeviceTraits::default(),
        })?;
        let examiner = Examiner::start(Options {
            roles,
            trusted,
            // Loading code means opening files there, which the filter forbids.
            seccomp: false,
            spares: 1,
            torch: None,
        })?;
        Ok(Self {
            recorder,
            examiner,
            fresh: Fresh::from_system().map_err(|error| BenchError::machine(error.to_string()))?,
            user: layers.drops_root.then(|| unprivileged_user(0)),
        })
    }

    /// Judges a candidate of a task that is verified in full. Nothing is screened.
    pub fn judge(&mut self, job: &Job) -> Result<Verdict, BenchError> {
        let spec = &job.task.spec;
        if spec.verify.method != Method::Full {
            return Err(BenchError::user("only full checks are tried here"));
        }
        let function = spec.function();
        let calls = calls::of_candidate(spec, &mut self.fresh);
        let (candidate, plans) =
            match self.prepared(job.candidate.source(), &Entry::of(function), &calls)? {
                Ok(prepared) => prepared,
                Err(verdict) => return Ok(verdict),
            };
        let given: Vec<Call> = calls
            .iter()
            .map(|call| calls::of_reference(function, call))
            .collect();
        let (image, reference) = self
            .prepared(&job.task.reference, &Entry::reference(function), &given)?
            .map_err(|verdict| BenchError::user(format!("reference.cu: {}", verdict.detail())))?;
        let work = Work {
            task: spec.clone(),
            reference: Trusted {
                image,
                reference,
                check: None,
            },
            candidate,
            calls,
            plans,
            how: How::default(),
            limit_s: LIMIT_S,
        };
        Ok(self.examiner.judge(&work)?.into())
    }

    fn prepared(
        &self,
        source: &str,
        entry: &Entry,
        calls: &[Call],
    ) -> Result<Result<(Image, Vec<Plan>), Verdict>, BenchError> {
        let halves = match cuda::split(source) {
            Ok(halves) => halves,
            Err(refusal) => {
                let why = refusal.to_string();
                return Ok(Err(Verdict::Refused { why }));
            }
        };
        let plans = match self.recorder.record(&halves, entry, calls, self.user)? {
            Ok(plans) => plans,
            Err(verdict) => return Ok(Err(verdict)),
        };
        let names = plan::names(&plans);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Ok(match nvrtc::compile(&halves.device, &names, ARCHITECTURE) {
            Ok(image) => Ok((image, plans)),
            Err(diagnostics) => Err(Verdict::NotCompiled { diagnostics }),
        })
    }
}
