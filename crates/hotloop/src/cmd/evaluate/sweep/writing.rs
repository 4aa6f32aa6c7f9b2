//! The policies write their answers, one policy after the other.

use std::time::Instant;

use hotloop_flow::language::torch::prompt;
use hotloop_flow::policy::{Chat, Completion};
use hotloop_flow::random::seed;
use hotloop_flow::{Policy, Sampling};
use hotloop_policy::engine::Settings;

use super::answers::{Answer, Answers, identity_of, key};
use super::file::{PolicyEntry, SweepFile};
use crate::cmd::bench::problems::Named;
use crate::failure::Failure;
use crate::models::{self, Asking};
use crate::progress::Progress;
use crate::stop::Stop;

/// Answers requested at once: as many as an engine on the CPU decodes at the same time.
const AT_ONCE: usize = 32;
/// The purpose of random numbers that draw answers.
const WRITING: u64 = 11;

/// The answers that a policy has not given to a problem.
struct Missing<'a> {
    problem: &'a Named,
    chat: Chat,
    /// Their numbers and keys.
    answers: Vec<(u32, String)>,
}

/// The keys of a policy's answers, problem by problem.
pub(super) fn keys(entry: &PolicyEntry, suite: &SweepFile, problems: &[Named]) -> Vec<Vec<String>> {
    let policy = identity_of(entry, suite);
    let of = |problem: &Named| {
        let chat = prompt(&problem.source);
        (0..suite.count)
            .map(|number| key(&policy, &chat, number))
            .collect()
    };
    problems.iter().map(of).collect()
}

/// Has each policy write what is missing of its answers, which `keys` names. No policy is loaded
/// when this returns.
pub(super) fn all(
    suite: &SweepFile,
    problems: &[Named],
    keys: &[Vec<Vec<String>>],
    answers: &mut Answers,
    stop: &Stop,
    progress: &Progress,
) -> Result<(), Failure> {
    for (entry, keys) in suite.policy.iter().zip(keys) {
        let missing = missing(problems, keys, answers);
        let open: usize = missing.iter().map(|one| one.answers.len()).sum();
        progress.answered(keys.iter().map(Vec::len).sum::<usize>() - open);
        if missing.is_empty() {
            continue;
        }
        progress.message(format!("loading {}", entry.name));
        let mut policy = open_policy(entry, suite, stop)?;
        progress.message(format!("{} writes", entry.name));
        // Each chat of a request gets the same number of answers.
        for same in missing.chunk_by(|one, next| one.answers.len() == next.answers.len()) {
            let at_once = AT_ONCE / same[0].answers.len();
            for some in same.chunks(at_once.max(1)) {
                for answer in written(entry, suite, policy.as_mut(), some)? {
                    answers.keep(answer)?;
                    progress.answered(1);
                }
                if stop.asked() {
                    return Err(Failure::interrupted());
                }
            }
        }
    }
    Ok(())
}

fn missing<'a>(problems: &'a [Named], keys: &[Vec<String>], answers: &Answers) -> Vec<Missing<'a>> {
    let of = |(problem, keys): (&'a Named, &Vec<String>)| {
        let open = (0..)
            .zip(keys)
            .filter(|(_, key)| answers.get(key).is_none());
        let answers: Vec<(u32, String)> = open
            .map(|(number, key): (u32, &String)| (number, key.clone()))
            .collect();
        (!answers.is_empty()).then(|| Missing {
            problem,
            chat: prompt(&problem.source),
            answers,
        })
    };
    problems.iter().zip(keys).filter_map(of).collect()
}

fn open_policy(
    entry: &PolicyEntry,
    suite: &SweepFile,
    stop: &Stop,
) -> Result<Box<dyn Policy>, Failure> {
    let about = |failure: Failure| {
        let what = format!("policy `{}`: {}", entry.name, failure.what());
        failure.about(what)
    };
    if let Some(url) = &entry.api {
        let asking = Asking {
            key_variable: entry.api_key.clone(),
            per_minute: None,
        };
        let policy = models::api(url, &entry.model, asking, stop).map_err(about)?;
        return Ok(Box::new(policy));
    }
    let place = models::find(&entry.local()).map_err(about)?;
    let settings = Settings::answering(0, suite.device());
    let adapter = entry.adapter();
    let engine = models::engine(&place.path(), adapter.as_deref(), settings, stop);
    Ok(Box::new(engine.map_err(about)?))
}

/// The answers to one request.
fn written(
    entry: &PolicyEntry,
    suite: &SweepFile,
    policy: &mut dyn Policy,
    some: &[Missing<'_>],
) -> Result<Vec<Answer>, Failure> {
    let Some(first) = some.first() else {
        return Ok(Vec::new());
    };
    let count = first.answers.len();
    let chats: Vec<Chat> = some.iter().map(|one| one.chat.clone()).collect();
    let begin = Instant::now();
    let completions = policy
        .sample(&chats, count as u32, &sampling(suite, first))
        .map_err(|error| {
            let failure = models::policy_failure(&error);
            if failure.what().is_empty() {
                return failure;
            }
            let what = format!("policy `{}`: {}", entry.name, failure.what());
            failure.about(what)
        })?;
    if completions.len() != chats.len() * count {
        return Err(Failure::machine(format!(
            "policy `{}` gave {} answers instead of {}",
            entry.name,
            completions.len(),
            chats.len() * count
        )));
    }
    let seconds = begin.elapsed().as_secs_f64() / completions.len() as f64;
    let asked = some
        .iter()
        .flat_map(|one| one.answers.iter().map(move |answer| (one.problem, answer)));
    Ok(completions
        .into_iter()
        .zip(asked)
        .map(|(completion, (problem, (number, key)))| Answer {
            key: key.clone(),
            policy: entry.name.clone(),
            task: problem.name.clone(),
            number: *number,
            ending: completion.ending,
            tokens: tokens(&completion),
            seconds,
            text: completion.text,
        })
        .collect())
}

/// Tokens that were written, if they are known.
fn tokens(completion: &Completion) -> Option<usize> {
    Some(completion.tokens.len())
        .filter(|tokens| *tokens > 0 || !completion.prompt_tokens.is_empty())
}

/// How a request is drawn. Its seed follows from its first answer.
fn sampling(suite: &SweepFile, first: &Missing<'_>) -> Sampling {
    let name = blake3::hash(first.problem.name.as_bytes());
    let name = name.as_bytes().first_chunk().copied().unwrap_or_default();
    let number = first.answers.first().map_or(0, |(number, _)| *number);
    let path = [WRITING, u64::from_le_bytes(name), u64::from(number)];
    Sampling {
        temperature: suite.temperature,
        top_k: 0,
        top_p: 1.0,
        min_p: 0.0,
        max_tokens: suite.max_tokens,
        stop: Vec::new(),
        seed: seed(suite.seed, &path),
    }
}
