//! Everything that happens to a candidate before the clock: screen, compile, verify.
//!
//! Runs on one core, beside others of its kind; only candidates that pass here are timed.

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
    /// Whether its stage forbids anything, so that it may not run what nobody has read.
    pub(crate) restricted: bool,
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
    let source = job.candidate.source();
    let made = match screen::source(source) {
        Some(why) => Err(Verdict::Refused { why }),
        None => machine
            .builder
            .candidate(source, &prepared.shim, user, |own| screened(own, rules))?,
    };
    let compile_s = crate::sys::now() - begin;
    let (scan, Built { object, folder }) = match made {
        Ok(made) => made,
        Err(verdict) => return Ok(Examination::Failed(verdict, compile_s)),
    };
    let bytes = fs_err::read(&object).map_err(|error| BenchError::machine(error.to_string()))?;
    let hidden = executable::refusal(&bytes, rules);
    if let Some(why) = hidden.or_else(|| rules.and_then(|rules| hidden_calls(rules, &bytes))) {
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
    let calls = 2 + job.task.function().sizes.hidden.len() + 2 * DRAWN;
    let patience = Duration::from_secs_f64(30.0 + (machine.settings.limit_s + 1.0) * calls as f64);
    let failed = match slot.ask(&request, patience)? {
        Answer::Verified(_) => {
            return Ok(Examination::Passed(Examined {
                object,
                _folder: folder,
                prepared,
                compile_s,
                own_threads,
                restricted: rules.is_some_and(|rules| executable::restricts(&rules)),
            }));
        }
        Answer::Crashed(how) => Verdict::Crashed { how },
        Answer::TimedOut(limit_s) => Verdict::TimedOut {
            limit_s,
            during: Phase::Run,
        },
        Answer::Wrong(mismatch) => Verdict::Wrong(mismatch),
        other @ (Answer::Timed { .. }
        | Answer::Strayed(_)
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

/// Threads and vectors that a stage forbids and that the source calls by another name: the object
/// has to name them.
fn hidden_calls(rules: Rules<'_>, bytes: &[u8]) -> Option<String> {
    let called = |is_forbidden: bool, what, find: fn(&[u8]) -> Option<String>| {
        let name = is_forbidden.then(|| find(bytes)).flatten()?;
        let stage = rules.stage;
        Some(format!("{stage} forbids {what}: the object calls `{name}`"))
    };
    called(forbids_threads(&rules), "threads", object_file::of_threads).or_else(|| {
        let forbids = rules.forbids(Technique::Simd);
        called(forbids, "vectors", object_file::of_vector_math)
    })
}

/// The techniques of what the preprocessor made of a candidate, or the rule that it breaks.
fn screened(own: &str, rules: Option<Rules<'_>>) -> Result<Scan, String> {
    let lexed = c::lex_marked(own);
    let scan = c::scan_lexed(&lexed);
    let broken = screen::preprocessed(own, &lexed, &scan)
        .or_else(|| rules.and_then(|rules| rules.violation(&scan)));
    broken.map_or(Ok(scan), Err)
}
