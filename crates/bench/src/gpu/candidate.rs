//! Everything that happens to a CUDA candidate before the GPU: split, record, compile.

use hotloop_flow::language::cuda;
use hotloop_flow::{BenchError, Job, Verdict, count};

use crate::gpu::calls;
use crate::gpu::examine::Work;
use crate::gpu::host::Entry;
use crate::gpu::plan::{self, Step};
use crate::gpu::references::References;
use crate::gpu::site::Site;
use crate::inputs::Fresh;

/// What came of a candidate without a GPU.
pub(crate) enum Examined {
    Planned(Box<Planned>),
    /// The candidate's fault.
    Failed(Verdict),
}

/// A candidate that only has to run.
pub(crate) struct Planned {
    pub(crate) work: Work,
}

impl Planned {
    /// What its host code does at the timed size.
    pub(crate) fn told(&self) -> String {
        let steps = self.work.plans.last().map_or(&[][..], |plan| &plan.steps);
        let is_launch = |step: &&Step| matches!(step, Step::Launch(_));
        let launches = steps.iter().filter(is_launch).count();
        format!("makes {}", count(launches, "launch"))
    }
}

/// Splits, records and compiles the candidate of `job`.
pub(crate) fn examine(
    site: &Site,
    references: &References,
    fresh: &mut Fresh,
    user: Option<u32>,
    job: &Job,
) -> Result<Examined, BenchError> {
    let task = &job.task;
    let rules = job
        .rules()
        .map_err(|error| BenchError::machine(error.to_string()))?;
    let failed = |verdict| Ok(Examined::Failed(verdict));
    let halves = match cuda::split(job.candidate.source()) {
        Ok(halves) => halves,
        Err(refusal) => {
            let why = refusal.to_string();
            return failed(Verdict::Refused { why });
        }
    };
    let calls = calls::of_candidate(&task.spec, fresh);
    let entry = Entry::of(task.function());
    let plans = match site.recorder()?.record(&halves, &entry, &calls, user)? {
        Ok(plans) => plans,
        Err(verdict) => return failed(verdict),
    };
    let compiler = site.compiler()?;
    let image = match compiler.compile(&halves.device, &plan::names(&plans), rules, user)? {
        Ok(image) => image,
        Err(verdict) => return failed(verdict),
    };
    let reference = references.of(site, task, &calls, user)?;
    Ok(Examined::Planned(Box::new(Planned {
        work: Work {
            task: task.spec.clone(),
            reference,
            candidate: image,
            calls,
            plans,
            how: site.settings.how,
            limit_s: site.settings.limit_s,
        },
    })))
}
