//! One judge judges all answers, problem by problem.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hotloop_flow::language::torch::{Code, code};
use hotloop_flow::policy::Ending;

use super::answers::Answer;
use super::fate::Fate;
use crate::cmd::bench::module::{Came, Sitting};
use crate::cmd::bench::problems::Named;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::stop::Stop;

/// Judges the answers to each problem. The fates are in the order of the answers. After a signal,
/// or a failure that concerns all answers, the others stay open.
pub(super) fn all(
    sitting: &mut Sitting,
    problems: &[Named],
    answers: &[&Answer],
    stop: &Stop,
    progress: &Progress,
) -> (Vec<Fate>, Result<(), Failure>) {
    let mut fates: Vec<Fate> = answers.iter().map(|answer| Fate::open(answer)).collect();
    let ended = problems.iter().try_for_each(|problem| {
        let of = |at: &usize| answers[*at].task == problem.name;
        let places: Vec<usize> = (0..answers.len()).filter(of).collect();
        progress.message(format!("judging {}", problem.name));
        for (place, fate) in one(sitting, problem, answers, &places, stop, progress)? {
            fates[place] = fate;
        }
        Ok(())
    });
    (fates, ended)
}

/// The fates of the answers to one problem, with their places. Equal answers are judged once.
fn one(
    sitting: &mut Sitting,
    problem: &Named,
    answers: &[&Answer],
    places: &[usize],
    stop: &Stop,
    progress: &Progress,
) -> Result<Vec<(usize, Fate)>, Failure> {
    let mut fates = Vec::new();
    let mut came: BTreeMap<PathBuf, Came> = BTreeMap::new();
    let reward = sitting.reward;
    for place in places {
        let answer = answers[*place];
        let fate = match code(&answer.text, answer.ending == Ending::Length) {
            Err(why) => Fate::malformed(answer, why, reward),
            Ok(code) => {
                let path = named(&code);
                if !came.contains_key(&path) {
                    let Some(one) = judged(sitting, problem, &path, code.text(), stop)? else {
                        continue;
                    };
                    came.insert(path.clone(), one);
                }
                Fate::of(answer, &came[&path], reward)
            }
        };
        progress.judged(fate.verdict);
        fates.push((*place, fate));
    }
    Ok(fates)
}

/// What became of an answer; nothing after a signal, which may have ended a process of the judge.
fn judged(
    sitting: &mut Sitting,
    problem: &Named,
    path: &Path,
    code: &str,
    stop: &Stop,
) -> Result<Option<Came>, Failure> {
    if let Some(known) = sitting.known(problem, path, code) {
        return Ok(Some(Ok(known.clone())));
    }
    if stop.asked() {
        return Ok(None);
    }
    let came = sitting.judge(problem, path, code)?;
    if stop.asked() {
        return Ok(None);
    }
    if let Ok(record) = &came {
        sitting.keep(record)?;
    }
    Ok(Some(came))
}

/// The name of an answer, which its content and its language decide.
fn named(code: &Code) -> PathBuf {
    let end = match code {
        Code::Python(_) => "py",
        Code::Cuda(_) => "cu",
    };
    let hash = blake3::hash(code.text().as_bytes()).to_hex();
    PathBuf::from(format!("{}.{end}", &hash[..16]))
}
