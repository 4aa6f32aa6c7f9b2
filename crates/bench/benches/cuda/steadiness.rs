//! How much the time of one candidate varies over judgements, at three lengths.

use std::sync::Arc;

use hotloop_bench::{LocalBench, tasks};
use hotloop_flow::statistics::{mean, variation};

use crate::crowd::{self, Entry, detail};
use crate::fixtures;
use crate::{Asked, Ended, settings};

const JUDGEMENTS: usize = 30;
/// Lengths of a vector for `cuda/relu` that take about so many microseconds on an H200.
const LENGTHS: [(&str, i64); 3] = [
    ("10 us", 4 << 20),
    ("100 us", 52 << 20),
    ("1 ms", 525 << 20),
];

/// Candidates that take about so long on an H200, with what they are called.
pub(crate) fn cases(asked: &Asked) -> Result<Vec<Case>, Box<dyn std::error::Error>> {
    let mut cases = Vec::new();
    for fixture in fixtures::load(&asked.fixtures.join("cuda/honest"))? {
        let source = fixture.entry.candidate.as_ref().map_err(String::as_str)?;
        let source = source.source().to_owned();
        if fixture.name == "relu-float4" {
            for (what, length) in LENGTHS {
                let mut task = tasks::load("cuda/relu")?;
                let sizes = &mut task.spec.function_mut().sizes;
                sizes.timed.insert("n".to_owned(), length);
                // Only timings matter here.
                sizes.hidden.clear();
                sizes.drawn.clear();
                task.hash = format!("{} {length}", task.hash);
                cases.push(Case {
                    name: format!("relu-float4, {what}"),
                    entry: Entry::source(&Arc::new(task), &source, None),
                    of: "RELU",
                    length,
                });
            }
        } else if fixture.name == "matmul-float4-8x8" {
            let length = fixture.entry.task.function().sizes.timed["N"];
            cases.push(Case {
                name: fixture.name,
                entry: fixture.entry,
                of: "MATMUL",
                length,
            });
        }
    }
    Ok(cases)
}

/// A candidate whose time is known.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) entry: Entry,
    /// What `plain.cu` calls its task.
    pub(crate) of: &'static str,
    pub(crate) length: i64,
}

pub(crate) fn run(asked: &Asked) -> Ended {
    let mut bench = LocalBench::start(settings()?)?;
    for Case { name, entry, .. } in cases(asked)? {
        let (mut seconds, mut within, mut quiet) = (Vec::new(), Vec::new(), 0);
        for _ in 0..JUDGEMENTS {
            let judged = crowd::judge(&mut bench, std::slice::from_ref(&entry), |_| {})?.remove(0);
            let measured = judged.as_ref().ok().and_then(|it| it.verdict.measured());
            let Some(measured) = measured else {
                println!("{name}: {}", detail(&judged));
                break;
            };
            seconds.push(measured.seconds);
            within.push(measured.timing.cv);
            quiet += usize::from(measured.timing.quiet);
        }
        if !seconds.is_empty() {
            println!(
                "{name:24} {:9.2} us, varies {:.2} % over {} judgements; {:.2} % within one; {quiet} quiet",
                mean(&seconds) * 1e6,
                variation(&seconds) * 100.0,
                seconds.len(),
                mean(&within) * 100.0,
            );
        }
    }
    Ok(())
}
