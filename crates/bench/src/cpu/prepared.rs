//! What a task needs before its candidates can be judged: shim, trusted code, baseline.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hotloop_flow::{BenchError, Task};

use crate::cpu::machine::Machine;
use crate::cpu::shim;
use crate::cpu::supervisor::protocol::{Request, Work};
use crate::sandbox::rights::OwnThreads;

/// The built parts of one task.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The shim's object file, linked into every candidate.
    pub(crate) shim: PathBuf,
    /// The shared object of `reference.c`.
    pub(crate) trusted: PathBuf,
    /// The shared object of `baseline.c`, if its library is installed.
    pub(crate) baseline: Option<PathBuf>,
}

/// All tasks that were prepared so far.
#[derive(Debug, Default)]
pub(crate) struct Preparations {
    by_hash: Mutex<HashMap<String, Arc<Prepared>>>,
}

impl Preparations {
    /// The built parts of `task`, which are built now if necessary.
    pub(crate) fn of(&self, machine: &Machine, task: &Task) -> Result<Arc<Prepared>, BenchError> {
        // A poisoned lock only means that another thread failed while building. The map is
        // consistent.
        let mut known = self.by_hash.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(prepared) = known.get(&task.hash) {
            return Ok(Arc::clone(prepared));
        }
        let builder = &machine.builder;
        let candidate_shim = shim::candidate(task.function());
        let name = &task.spec.name;
        let baseline = match (&task.baseline, &machine.openblas) {
            (Some(source), Some(_)) => Some(builder.trusted(
                &format!("task {name}: baseline.c"),
                &[source, &candidate_shim],
            )?),
            (Some(_) | None, _) => None,
        };
        let prepared = Arc::new(Prepared {
            shim: builder.shim(&candidate_shim)?,
            trusted: builder.trusted(
                &format!("task {name}: reference.c"),
                &[&task.reference, &shim::trusted(task.function())],
            )?,
            baseline,
        });
        known.insert(task.hash.clone(), Arc::clone(&prepared));
        Ok(prepared)
    }
}

impl Machine {
    /// A request to judge `object` as a candidate of `task`.
    pub(crate) fn request(
        &self,
        task: &Task,
        prepared: &Prepared,
        object: &Path,
        user: Option<u32>,
        work: Work,
    ) -> Request {
        let baseline = prepared.baseline.clone().zip(self.openblas.as_ref());
        Request {
            object: object.to_owned(),
            trusted: Some(prepared.trusted.clone()),
            baseline: baseline.map(|(object, blas)| (blas.path.clone(), object)),
            libraries: self.builder.toolchain().libraries(object),
            environment: self.environment(&work),
            task: task.spec.clone(),
            threads: self.settings.how.threads,
            own_threads: OwnThreads::Unused,
            watched: false,
            user,
            landlock: self.layers.landlock.is_some(),
            namespaces: self.layers.namespaces,
            check: self.settings.how.check,
            limit_s: self.settings.limit_s,
            team_run_s: self.settings.team_run_s,
            work,
        }
    }

    fn environment(&self, work: &Work) -> Vec<(String, String)> {
        let threads = self.settings.how.threads;
        let mut environment = vec![
            ("LC_ALL".to_owned(), "C".to_owned()),
            ("OMP_NUM_THREADS".to_owned(), threads.to_string()),
            ("OMP_DYNAMIC".to_owned(), "false".to_owned()),
            // Above the number of cores on purpose: `num_threads(40)` is slow here, but not wrong.
            ("OMP_THREAD_LIMIT".to_owned(), threads.max(64).to_string()),
            ("OPENBLAS_NUM_THREADS".to_owned(), threads.to_string()),
        ];
        if matches!(work, Work::Verify) {
            // All threads share one core while verifying, so waiting must not be busy.
            environment.push(("OMP_WAIT_POLICY".to_owned(), "passive".to_owned()));
        }
        if let Some(core) = self.openblas.as_ref().and_then(|blas| blas.forced.clone()) {
            environment.push(("OPENBLAS_CORETYPE".to_owned(), core));
        }
        environment
    }

    /// The user that slot or worker `index` runs candidates as.
    pub(crate) fn user(&self, index: u32) -> Option<u32> {
        self.layers
            .drops_root
            .then(|| crate::sandbox::user::unprivileged_user(index))
    }
}
