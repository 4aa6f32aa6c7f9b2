//! Everything that can only be seen on a machine with a GPU, as tables.
//!
//! ```text
//! cargo bench -p hotloop-bench --bench cuda                          all parts
//! cargo bench -p hotloop-bench --bench cuda -- cheats honest          these parts
//! cargo bench -p hotloop-bench --bench cuda -- --answers FILE answers  a model's answers
//! cargo bench -p hotloop-bench --bench cuda -- --kernelbench DIR evaluator
//! cargo bench -p hotloop-bench --bench cuda -- neighbour
//! ```
//!
//! It needs no cargo where it runs: the executable takes `--fixtures FOLDER`, a copy of this
//! crate's `tests`. A part that fails is reported, and the next one runs.

#![expect(clippy::print_stdout, reason = "a program that reports")]

mod agreement;
mod answers;
mod crowd;
mod evaluator;
mod fixtures;
mod neighbour;
mod speed;
mod steadiness;
mod verdicts;

use std::path::PathBuf;
use std::time::Instant;

use hotloop_bench::{LocalBench, Settings, role};
use hotloop_flow::{Bench, Language};

/// What a part needs, and why it ended early.
pub(crate) type Ended = Result<(), Box<dyn std::error::Error>>;

/// How to measure.
pub(crate) struct Asked {
    /// The folder that holds `cuda/cheats`, `cuda/honest` and `tasks`.
    pub(crate) fixtures: PathBuf,
    /// Answers of a model, one JSON object a line.
    pub(crate) answers: Option<PathBuf>,
    /// A checkout of `KernelBench`.
    pub(crate) kernelbench: Option<PathBuf>,
    /// What keeps the GPU busy while candidates are judged; `trainer.py`, if nothing is named.
    pub(crate) neighbour: Option<String>,
    /// Where to write what is too long for a table.
    pub(crate) out: Option<PathBuf>,
    parts: Vec<String>,
}

/// The settings of a bench for CUDA. This executable plays the hidden roles itself.
pub(crate) fn settings() -> std::io::Result<Settings> {
    let mut settings = Settings::new(std::env::current_exe()?);
    settings.languages = vec![Language::Cuda];
    Ok(settings)
}

type Part = fn(&Asked) -> Ended;

/// The parts, most important first.
const PARTS: [(&str, Part); 11] = [
    ("machine", machine),
    ("cheats", verdicts::cheats),
    ("honest", verdicts::honest),
    ("throughput", speed::throughput),
    ("latency", speed::latency),
    ("steadiness", steadiness::run),
    ("faults", speed::faults),
    ("agreement", agreement::run),
    ("evaluator", evaluator::run),
    ("neighbour", neighbour::run),
    ("answers", answers::run),
];

fn main() -> Ended {
    role::play_if_asked();
    let asked = read()?;
    for (name, part) in PARTS {
        if !asked.parts.is_empty() && !asked.parts.iter().any(|part| part == name) {
            continue;
        }
        println!("== {name}");
        let begin = Instant::now();
        if let Err(error) = part(&asked) {
            println!("FAILED: {error}");
        }
        println!("-- {name}: {:.1} s\n", begin.elapsed().as_secs_f64());
    }
    Ok(())
}

fn read() -> Result<Asked, String> {
    let mut asked = Asked {
        fixtures: PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")),
        answers: None,
        kernelbench: None,
        neighbour: None,
        out: None,
        parts: Vec::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} names nothing"));
        match word.as_str() {
            // Cargo passes it to every bench.
            "--bench" => {}
            "--fixtures" => asked.fixtures = value()?.into(),
            "--answers" => asked.answers = Some(value()?.into()),
            "--kernelbench" => asked.kernelbench = Some(value()?.into()),
            "--neighbour" => asked.neighbour = Some(value()?),
            "--out" => asked.out = Some(value()?.into()),
            part if PARTS.iter().any(|(name, _)| *name == part) => asked.parts.push(word),
            other => {
                let names = PARTS.map(|(name, _)| name).join(", ");
                return Err(format!("`{other}` is not a part: {names}"));
            }
        }
    }
    Ok(asked)
}

/// The machine, and how long a bench takes to start.
fn machine(_: &Asked) -> Ended {
    for what in ["first", "second"] {
        let begin = Instant::now();
        let bench = LocalBench::start(settings()?)?;
        let start_s = begin.elapsed().as_secs_f64();
        println!("{what} start: {start_s:.2} s");
        if what == "second" {
            println!("{:#?}", bench.facts());
        }
    }
    Ok(())
}
