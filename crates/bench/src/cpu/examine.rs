//! Everything that happens to a candidate before the clock: screen, compile, verify.
//!
//! Runs on one core, beside others of its kind; only candidates that pass here are timed.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use hotloop_flow::language::c;
use hotloop_flow::technique::{Scan, Technique};
use hotloop_flow::verdict::Phase;
use hotloop_flow::{BenchError, Job, Rules, Verdict};

use crate::cpu::compile::Built;
use crate::cpu::executable;
use crate::cpu::machine::Machine;
use crate::cpu::object_file;
use crate::cpu::prepared::{Preparations, Prepared};
use crate::cpu::screen;
use crate::cpu::slot::Slot;
use crate::cpu::supervisor::protocol::{Answer, DRAWN, Work};
use crate::sandbox::rights::OwnThreads;
use crate::scratch::Folder;

/// A candidate that is right and waits for the clock.
pub(crate) struct Examined {
    pub(crate) object: PathBuf,
    /// Keeps an object alive that is not in the cache.
    pub(crate) _folder: Option<Folder>,
    pub(crate) prepared: std::sync::Arc<Prepared>,
    pub(crate) compile_s: f64,
    pub(crate) own_threads: OwnThreads,
}

/// What came of the examination.
pub(crate) enum Examination {
    /// Right so far.
    Passed(Examined),
    /// The candidate's fault, and how long compiling took.
    Failed(Verdict, f64),
}

/// Screens, compiles and verifies the candidate of `job`.
pub(crate) fn examine(
    machine: &Machine,
    preparations: &Preparations,
    slot: &mut Slot,
    user: Option<u32>,
    job: &Job,
) -> Result<Examination, BenchError> {
    let begin = crate::sys::now();
    let prepared = preparations.of(machine, &job.task)?;
    let rules = rules(job)?;
    let (source, scan) = match screened(machine, user, job, rules)? {
        Ok(passed) => passed,
        Err(verdict) => return Ok(Examination::Failed(verdict, crate::sys::now() - begin)),
    };
    let built = machine.builder.candidate(&source, &prepared.shim, user)?;
    let compile_s = crate::sys::now() - begin;
    let (object, folder) = match built {
        Built::Object(object, folder) => (object, folder),
        Built::Rejected(verdict) => return Ok(Examination::Failed(verdict, compile_s)),
    };
    let bytes = fs_err::read(&object).map_err(|error| BenchError::machine(error.to_string()))?;
    let hidden = executable::refusal(&bytes, rules);
    if let Some(why) = hidden.or_else(|| rules.and_then(|rules| hidden_threads(rules, &bytes))) {
        return Ok(Examination::Failed(Verdict::Refused { why }, compile_s));
    }
    drop(bytes);
    let own_threads = match &rules {
        Some(rules) if forbids_threads(rules) => OwnThreads::Forbidden,
        _ if scan.uses(Technique::Threads) => OwnThreads::Used,
        _ => OwnThreads::Unused,
    };
    let mut request = machine.request(&job.task, &prepared, &object, user, Work::Verify);
    request.own_threads = own_threads;
    let calls = 1 + job.task.function().sizes.hidden.len() + 2 * DRAWN;
    let patience = Duration::from_secs_f64(30.0 + (machine.settings.limit_s + 1.0) * calls as f64);
    let failed = match slot.ask(&request, patience)? {
        Answer::Verified(_) => {
            return Ok(Examination::Passed(Examined {
                object,
                _folder: folder,
                prepared,
                compile_s,
                own_threads,
            }));
        }
        Answer::Crashed(how) => Verdict::Crashed { how },
        Answer::TimedOut(limit_s) => Verdict::TimedOut {
            limit_s,
            during: Phase::Run,
        },
        Answer::Wrong(mismatch) => Verdict::Wrong(mismatch),
        other @ (Answer::Timed { .. }
        | Answer::Null(_)
        | Answer::Killed
        | Answer::Task(_)
        | Answer::Machine(_)) => {
            return Err(BenchError::machine(format!(
                "the supervisor answered another question: {other:?}"
            )));
        }
    };
    Ok(Examination::Failed(failed, compile_s))
}

/// What the job's stage says; the bench refused other stages when the job came.
fn rules(job: &Job) -> Result<Option<Rules<'_>>, BenchError> {
    job.rules()
        .map_err(|error| BenchError::machine(error.to_string()))
}

fn forbids_threads(rules: &Rules<'_>) -> bool {
    rules.forbids(Technique::Openmp) || rules.forbids(Technique::Threads)
}

/// Threads that a stage forbids and that the source calls by another name: the object has to name them.
fn hidden_threads(rules: Rules<'_>, bytes: &[u8]) -> Option<String> {
    let name = forbids_threads(&rules)
        .then(|| object_file::of_threads(bytes))
        .flatten();
    name.map(|name| format!("{} forbids threads: the object calls `{name}`", rules.stage))
}

/// The source that is to be compiled and its techniques, or the verdict that the source alone earns.
fn screened<'a>(
    machine: &Machine,
    user: Option<u32>,
    job: &'a Job,
    rules: Option<Rules<'_>>,
) -> Result<Result<(Cow<'a, str>, Scan), Verdict>, BenchError> {
    let source = job.candidate.source();
    let Some(renamed) = screen::spared(source, &job.task.function().entry) else {
        return Ok(
            screen_source(machine, user, source, rules, false)?.map(|scan| (source.into(), scan))
        );
    };
    // As it was written and as it is compiled, both as the compiler's preprocessor sees them.
    if let Err(verdict) = screen_source(machine, user, source, rules, true)? {
        return Ok(Err(verdict));
    }
    Ok(screen_source(machine, user, &renamed, rules, true)?.map(|scan| (renamed.into(), scan)))
}

/// The techniques of a source, or the verdict that it earns. `expand` asks the preprocessor in any case.
fn screen_source(
    machine: &Machine,
    user: Option<u32>,
    source: &str,
    rules: Option<Rules<'_>>,
    expand: bool,
) -> Result<Result<Scan, Verdict>, BenchError> {
    let refused = |why| Ok(Err(Verdict::Refused { why }));
    if let Some(why) = screen::directives(source) {
        return refused(why);
    }
    let plain = c::scan(source);
    let (scan, why): (Scan, Option<String>) = if expand || screen::needs_preprocessing(&plain) {
        match machine.builder.preprocess(source, user)? {
            Ok(text) => {
                let scan = c::scan_preprocessed(&text, "candidate.c");
                let why = screen::tokens(&text, &scan);
                (scan, why)
            }
            // What does not preprocess does not compile either; but a rule that it breaks comes first.
            Err(verdict) => {
                return Ok(Err(
                    screen::tokens(source, &plain).map_or(verdict, |why| Verdict::Refused { why })
                ));
            }
        }
    } else {
        let why = screen::tokens(source, &plain);
        (plain, why)
    };
    if let Some(why) = why {
        return refused(why);
    }
    match rules.and_then(|rules| rules.violation(&scan)) {
        Some(why) => refused(why),
        None => Ok(Ok(scan)),
    }
}
