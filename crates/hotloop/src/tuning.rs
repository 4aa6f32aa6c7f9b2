//! Supervised tuning with output: a bar, lines, and failures with hints.

use std::path::Path;
use std::time::Instant;

use hotloop_policy::engine::Engine;
use hotloop_policy::tune::{self, Divergence, Lessons, Look, TuneError, Tuned, Watch};

use crate::failure::Failure;
use crate::models;
use crate::output::say;
use crate::progress::Progress;
use crate::stop::Stop;

/// Trains `engine` on all lessons, or on as many as there is time for.
pub(crate) fn tune(
    engine: &mut Engine,
    lessons: &Lessons,
    out: &Path,
    stop: &Stop,
    quiet: bool,
) -> Result<Tuned, Failure> {
    let mut shown = Shown {
        progress: Progress::bar(lessons.steps() as usize, !quiet),
        began: Instant::now(),
        stop,
        quiet,
    };
    tune::tune(engine, lessons, out, &mut shown).map_err(|error| failure(&error))
}

/// Shows a tuning on the terminal.
struct Shown<'a> {
    progress: Progress,
    began: Instant,
    stop: &'a Stop,
    quiet: bool,
}

impl Watch for Shown<'_> {
    fn stops(&mut self) -> bool {
        self.stop.asked()
    }

    fn stepped(&mut self) {
        self.progress.answered(1);
    }

    fn looked(&mut self, look: &Look) {
        if self.quiet {
            return;
        }
        let Look {
            steps,
            of,
            tokens,
            loss,
            held_out,
        } = *look;
        let held_out = held_out.map_or(String::new(), |loss| format!(", held out {loss:.4}"));
        let rate = tokens as f64 / self.began.elapsed().as_secs_f64();
        let line = format!("step {steps}/{of}: loss {loss:.4}{held_out}, {rate:.0} tokens/s");
        self.progress.aside(|| say(&line));
    }
}

fn failure(error: &TuneError) -> Failure {
    match error {
        TuneError::Engine(error) => models::engine_failure(error),
        TuneError::BadStart { .. } => Failure::user(error.to_string())
            .hint("the model's weights are damaged, or the data contain something it cannot read"),
        TuneError::Diverged(divergence) => {
            Failure::user(error.to_string()).hint(advice(divergence))
        }
    }
}

fn advice(divergence: &Divergence) -> String {
    let Ok(written) = &divergence.written else {
        return "free some space for the facts, and lower --rate or look at the data".to_owned();
    };
    let facts = written.facts.display();
    if divergence.is_at_the_start() {
        format!(
            "the learning rate cannot be the cause in the first step: look at the examples that \
             {facts} names, and at the model"
        )
    } else {
        format!("lower --rate, or look at the examples that {facts} names")
    }
}
