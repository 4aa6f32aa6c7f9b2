//! Candidates in files, and what is expected of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hotloop_bench::tasks;
use hotloop_flow::{Label, Task};

use crate::crowd::Entry;

/// A candidate in a file; its head says what it is.
pub(crate) struct Fixture {
    pub(crate) name: String,
    pub(crate) expect: Vec<String>,
    pub(crate) entry: Entry,
}

/// All candidates of a folder, by name.
pub(crate) fn load(folder: &Path) -> Result<Vec<Fixture>, Box<dyn std::error::Error>> {
    let mut known: BTreeMap<String, Arc<Task>> = BTreeMap::new();
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .map_err(|error| format!("{}: {error}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "cu"))
        .collect();
    paths.sort();
    let mut fixtures = Vec::new();
    for path in paths {
        let bytes = std::fs::read(&path)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let of = name.split('-').next().unwrap_or_default().to_owned();
        if !known.contains_key(&of) {
            known.insert(of.clone(), Arc::new(tasks::load(&format!("cuda/{of}"))?));
        }
        let task = &known[&of];
        let field = |key: &str| {
            let start = format!("// {key}:");
            let mut lines = text.lines().take(12);
            lines.find_map(|line| {
                line.strip_prefix(&start)
                    .map(|value| value.trim().to_owned())
            })
        };
        let stage = field("stage").map(|stage| task.spec.stages.find(&stage));
        let stage = stage
            .transpose()
            .map_err(|error| format!("{name}: {error}"))?;
        let expect = field("expect").unwrap_or_else(|| Label::Correct.name().to_owned());
        let mut entry = Entry::source(task, &text, stage);
        entry.candidate = hotloop_flow::Candidate::from_source(&bytes, task).map_err(|it| it.why);
        fixtures.push(Fixture {
            expect: expect
                .split(',')
                .map(|word| word.trim().to_owned())
                .collect(),
            name,
            entry,
        });
    }
    Ok(fixtures)
}
