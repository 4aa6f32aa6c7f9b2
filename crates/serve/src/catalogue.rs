//! The tasks of a service, by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use hotloop_flow::Task;

use crate::fault::Fault;
use crate::notice::tame;

/// The tasks that the service was started with. Nothing else is ever looked up.
pub(crate) struct Catalogue {
    tasks: BTreeMap<String, Arc<Task>>,
    default: Option<String>,
}

impl Catalogue {
    pub(crate) fn new(tasks: BTreeMap<String, Arc<Task>>, default: Option<String>) -> Self {
        Self { tasks, default }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Task>> {
        self.tasks.values()
    }

    /// The task of that name, or the default task if the request names none.
    pub(crate) fn find(&self, name: Option<&str>) -> Result<Arc<Task>, Fault> {
        let hint = || {
            let names: Vec<&str> = self.tasks.keys().map(String::as_str).collect();
            format!("the tasks are {}", names.join(", "))
        };
        let Some(name) = name
            .filter(|name| !name.is_empty())
            .or(self.default.as_deref())
        else {
            return Err(Fault::unknown("the request names no task").hint(hint()));
        };
        let unknown = || Fault::unknown(format!("there is no task `{}`", tame(name))).hint(hint());
        self.tasks.get(name).cloned().ok_or_else(unknown)
    }
}
