//! `hotloop evaluate`: compares policies on tasks, without training.

mod contestant;
mod keep;
pub(crate) mod kept;
mod line;
mod session;
mod suite;
mod sweep;
mod timing;
mod told;

use std::sync::Arc;

use hotloop_flow::Task;

use crate::cli::evaluate::{EvaluateArgs, names};
use crate::cmd::judge::load;
use crate::failure::{Failure, Status};
use crate::stop::Stop;
use keep::Keep;
use session::Session;

/// Evaluates policies.
pub(crate) fn run(arguments: &EvaluateArgs) -> Result<Status, Failure> {
    if let (Some(file), Some(out)) = (&arguments.suite, &arguments.out) {
        if sweep::is_one(file) {
            return sweep::run(arguments, file, out);
        }
        if arguments.kernelbench.is_some() || arguments.python.is_some() {
            return Err(Failure::user(format!(
                "{}: it names no problems of KernelBench, so --kernelbench and --python do not go \
                 with it",
                file.display()
            ))
            .hint("`problems` names some, as in docs/kernelbench.md"));
        }
        return suite::run(arguments, file, out);
    }
    let contestants = contestant::all(arguments)?;
    let tasks: Vec<Arc<Task>> = names(&arguments.task)
        .into_iter()
        .map(|name| Ok(Arc::new(load(name)?)))
        .collect::<Result<_, Failure>>()?;
    for contestant in &contestants {
        tasks.iter().try_for_each(|task| contestant.check(task))?;
    }
    let keep = arguments.keep.as_deref().map(Keep::create).transpose()?;
    let stop = Stop::listen()?;
    let mut session = Session {
        arguments,
        keep,
        stop,
        lines: Vec::new(),
    };
    let ended = session.all(&contestants, &tasks);
    if !arguments.json && !session.lines.is_empty() {
        told::tell(&session.lines);
    }
    if let Some(keep) = &session.keep {
        keep.finish(&session.lines)?;
    }
    match ended {
        _ if session.stop.asked() => Ok(Status::Interrupted),
        ended => ended.map(|()| Status::Fine),
    }
}
