//! The references of tasks, compiled once and recorded for every call.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use hotloop_flow::language::cuda::{self, Halves};
use hotloop_flow::task::Method;
use hotloop_flow::{BenchError, Task, Verdict};

use crate::gpu::call::Call;
use crate::gpu::calls;
use crate::gpu::examine::Trusted;
use crate::gpu::host::{Entry, Program};
use crate::gpu::image::Image;
use crate::gpu::plan::{self, Plan};
use crate::gpu::site::Site;

/// All references that were needed so far, by their task's hash.
#[derive(Default)]
pub(crate) struct References {
    by_hash: Mutex<HashMap<String, Arc<Reference>>>,
}

/// The reference of one task.
struct Reference {
    halves: Halves,
    /// Its host half, linked for each entry point.
    programs: Mutex<BTreeMap<String, Arc<Program>>>,
    /// Its machine code, by the names that were asked for. Templates may depend on sizes.
    images: Mutex<BTreeMap<Vec<String>, Image>>,
}

impl References {
    /// The reference of `task` for a candidate's calls.
    pub(crate) fn of(
        &self,
        site: &Site,
        task: &Task,
        calls: &[Call],
        user: Option<u32>,
    ) -> Result<Trusted, BenchError> {
        let known = self.get(task)?;
        let recorder = site.recorder()?;
        let record = |entry: &Entry, calls: Vec<Call>| {
            let program = known.program(site, task, entry)?;
            let plans = recorder.run(&program, &known.halves, entry, &calls, user)?;
            plans.map_err(|verdict| unusable(task, entry, &verdict))
        };
        let function = task.function();
        let of_reference = calls.iter().map(|call| calls::of_reference(function, call));
        let reference: Vec<Plan> = record(&Entry::reference(function), of_reference.collect())?;
        let check = match task.spec.verify.method {
            Method::Full => None,
            Method::Projection(_) => {
                let of_check = calls
                    .iter()
                    .filter_map(|call| calls::of_check(&task.spec, call));
                Some(record(&Entry::check(function), of_check.collect())?)
            }
        };
        let mut all = reference.clone();
        all.extend(check.iter().flatten().cloned());
        let image = known.image(site, task, &plan::names(&all))?;
        Ok(Trusted {
            image,
            reference,
            check,
        })
    }

    fn get(&self, task: &Task) -> Result<Arc<Reference>, BenchError> {
        // A poisoned lock only means that another thread failed. The map is consistent.
        let mut known = self.by_hash.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reference) = known.get(&task.hash) {
            return Ok(Arc::clone(reference));
        }
        let halves =
            cuda::split(&task.reference).map_err(|refusal| at_fault(task, &refusal.to_string()))?;
        let reference = Arc::new(Reference {
            halves,
            programs: Mutex::default(),
            images: Mutex::default(),
        });
        known.insert(task.hash.clone(), Arc::clone(&reference));
        Ok(reference)
    }
}

impl Reference {
    fn program(&self, site: &Site, task: &Task, entry: &Entry) -> Result<Arc<Program>, BenchError> {
        // The lock is held while compiling, because others need the same program.
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(&entry.name) {
            return Ok(Arc::clone(program));
        }
        let built = site.recorder()?.build(&self.halves, entry, site.user(0))?;
        let program = Arc::new(built.map_err(|verdict| unusable(task, entry, &verdict))?);
        programs.insert(entry.name.clone(), Arc::clone(&program));
        Ok(program)
    }

    fn image(&self, site: &Site, task: &Task, names: &[String]) -> Result<Image, BenchError> {
        // The lock is held while compiling, because others need the same image.
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(image) = images.get(names) {
            return Ok(image.clone());
        }
        let what = format!("task {}: reference.cu", task.spec.name);
        let image = site
            .compiler()?
            .trusted(&what, &self.halves.device, names)?;
        images.insert(names.to_vec(), image.clone());
        Ok(image)
    }
}

fn unusable(task: &Task, entry: &Entry, verdict: &Verdict) -> BenchError {
    let (name, label, detail) = (&entry.name, verdict.label(), verdict.detail());
    at_fault(task, &format!("`{name}` is {label}: {detail}"))
}

/// The task's own code cannot be used: its author's error.
fn at_fault(task: &Task, why: &str) -> BenchError {
    BenchError::user(format!("task {}: reference.cu: {why}", task.spec.name))
}
