//! Everything that happens to a CUDA candidate before the GPU: split, record, compile.

use hotloop_flow::interface::{Arg, Function, Role};
use hotloop_flow::language::cuda;
use hotloop_flow::stage::Rules;
use hotloop_flow::technique::Technique;
use hotloop_flow::{BenchError, Job, Verdict, count};

use crate::gpu::calls;
use crate::gpu::compile::Staged;
use crate::gpu::examine::Work;
use crate::gpu::host::Entry;
use crate::gpu::plan::{self, Plan};
use crate::gpu::references::References;
use crate::gpu::resident;
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
    /// Bytes of memory that it takes, about.
    pub(crate) fn bytes(&self) -> usize {
        let Work {
            reference,
            candidate,
            plans,
            ..
        } = &self.work;
        let plans = plans.iter().chain(&reference.reference);
        let plans = plans.chain(reference.check.iter().flatten());
        candidate.cubin.len() + reference.image.cubin.len() + plans.map(Plan::weight).sum::<usize>()
    }

    /// What its host code does at the timed size.
    pub(crate) fn told(&self) -> String {
        let launches = self
            .work
            .plans
            .last()
            .map_or(0, |plan| plan.launches().count());
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
    if let Some(why) = rules.and_then(|rules| refuse_launches(rules, &plans)) {
        return failed(Verdict::Refused { why });
    }
    let compiler = site.compiler()?;
    let stage = rules.map(|rules| Staged {
        rules,
        has_eight_bytes: has_eight_bytes(task.function()),
        function: task.function(),
        plans: &plans,
    });
    let image = match compiler.compile(&halves.device, &plan::names(&plans), stage, user)? {
        Ok(image) => image,
        Err(verdict) => return failed(verdict),
    };
    if let Some(how) = resident::refuse(
        &plans,
        std::slice::from_ref(&image),
        site.recorder()?.traits(),
    ) {
        return failed(Verdict::Crashed { how });
    }
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

/// Whether elements of an array have eight bytes; a length or a factor is no element.
fn has_eight_bytes(function: &Function) -> bool {
    let is_array = |arg: &&Arg| arg.role != Role::Scalar;
    function
        .args
        .iter()
        .filter(is_array)
        .any(|arg| arg.kind.bytes() == 8)
}

/// The rule that launches break: code may use the shared memory of a launch without naming it.
fn refuse_launches(rules: Rules<'_>, plans: &[Plan]) -> Option<String> {
    if !rules.forbids(Technique::SharedMemory) {
        return None;
    }
    let mut launches = plans.iter().flat_map(Plan::launches);
    let launch = launches.find(|launch| launch.shared > 0)?;
    Some(format!(
        "{} forbids {}: `{}` is launched with {} bytes of it",
        rules.stage,
        Technique::SharedMemory.name(),
        launch.kernel,
        launch.shared
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::plan::{Launch, Step};
    use hotloop_flow::language::cuda::stages;

    #[test]
    fn a_length_is_no_element() {
        let has = |name: &str| has_eight_bytes(crate::tasks::load(name).unwrap().function());
        assert!(!has("cuda/relu"), "its length has eight bytes");
        assert!(has("softmax"));
    }

    #[test]
    fn shared_memory_of_a_launch_is_a_technique() {
        let plan = |shared| Plan {
            steps: vec![Step::Launch(Launch {
                image: 0,
                kernel: "k".to_owned(),
                grid: [1, 1, 1],
                block: [32, 1, 1],
                shared,
                cooperative: false,
                cluster: None,
                arguments: Vec::new(),
            })],
            ..Plan::default()
        };
        let stages_of_tasks = stages::default();
        let coalescing = stages_of_tasks.get(stages::COALESCING).unwrap();
        let why = refuse_launches(coalescing, &[plan(0), plan(64)]).unwrap();
        assert!(
            why.ends_with("forbids shared memory: `k` is launched with 64 bytes of it"),
            "{why}"
        );
        assert_eq!(refuse_launches(coalescing, &[plan(0)]), None);
        let all = stages_of_tasks.get(stages::ALL).unwrap();
        assert_eq!(refuse_launches(all, &[plan(64)]), None);
    }
}
