//! A model's answers, and how their verdicts differ from earlier ones.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use hotloop_bench::{LocalBench, tasks};
use hotloop_flow::{Candidate, Task};
use serde_json::{Value, json};

use crate::crowd::{self, Entry, detail, label};
use crate::{Asked, Ended, settings};

/// Differences that are printed.
const SHOWN: usize = 25;

/// The task that an answer of that name was asked for. Four differ from the shipped ones.
fn task(asked: &Asked, name: &str) -> Option<String> {
    match name {
        "saxpy" | "softmax" | "matmul" | "transpose" => Some(format!("cuda/{name}")),
        "relu" | "sum" | "layernorm" | "conv1d" => {
            let folder = asked.fixtures.join(format!("tasks/cuda-{name}"));
            Some(folder.display().to_string())
        }
        _ => None,
    }
}

pub(crate) fn run(asked: &Asked) -> Ended {
    let Some(path) = &asked.answers else {
        return Err("--answers FILE names none".into());
    };
    let mut known: BTreeMap<String, Option<Arc<Task>>> = BTreeMap::new();
    let (mut entries, mut asked_for) = (Vec::new(), Vec::new());
    let mut foreign = 0;
    for line in std::fs::read_to_string(path)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let name = text("task");
        if !known.contains_key(&name) {
            let found = task(asked, &name)
                .map(|name| tasks::load(&name))
                .transpose()?;
            known.insert(name.clone(), found.map(Arc::new));
        }
        let Some(task) = &known[&name] else {
            foreign += 1;
            continue;
        };
        let candidate = Candidate::extract(&text("completion"), task);
        entries.push(Entry {
            task: Arc::clone(task),
            candidate: candidate.map_err(|malformed| malformed.why),
            stage: None,
        });
        asked_for.push((name, text("verdict")));
    }
    let mut bench = LocalBench::start(settings()?)?;
    let begin = Instant::now();
    let judged = crowd::judge(&mut bench, &entries, |_| {})?;
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{} answers in {seconds:.1} s, {:.1} a second; {foreign} of another form left out",
        entries.len(),
        entries.len() as f64 / seconds
    );
    let mut pairs: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for ((_, before), now) in asked_for.iter().zip(&judged) {
        *pairs.entry((before, label(now))).or_default() += 1;
    }
    for ((before, now), count) in &pairs {
        println!("before {before:14} now {now:14} {count:5}");
    }
    let mut shown = 0;
    for (index, ((name, before), now)) in asked_for.iter().zip(&judged).enumerate() {
        let differs = (before == "correct") != (label(now) == "correct");
        if differs && shown < SHOWN {
            shown += 1;
            println!(
                "{index:5} {name:10} {before} -> {}: {}",
                label(now),
                detail(now)
            );
        }
    }
    if let Some(folder) = &asked.out {
        let mut file = std::fs::File::create(folder.join("answers.jsonl"))?;
        for ((name, before), now) in asked_for.iter().zip(&judged) {
            let seconds = now
                .as_ref()
                .ok()
                .and_then(|it| Some(it.verdict.measured()?.seconds));
            let line = json!({"task": name, "before": before, "now": label(now), "detail": detail(now), "seconds": seconds});
            writeln!(file, "{line}")?;
        }
    }
    Ok(())
}
