//! The default settings of this program's bench.

use hotloop_bench::Settings;
use hotloop_flow::{Language, Task};

use crate::failure::Failure;

/// The default settings. This executable plays the bench's hidden roles itself.
pub(crate) fn own() -> Result<Settings, Failure> {
    let roles = std::env::current_exe().map_err(|error| {
        Failure::machine(format!("this program's own file cannot be found: {error}"))
    })?;
    Ok(Settings::new(roles))
}

/// The languages of tasks, each once.
pub(crate) fn languages<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> Vec<Language> {
    let mut languages = Vec::new();
    for task in tasks {
        if !languages.contains(&task.spec.language) {
            languages.push(task.spec.language);
        }
    }
    languages
}
