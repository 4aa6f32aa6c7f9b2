//! Asks a reviewer, and again if its answer cannot be read.

use hotloop_flow::policy::Chat;
use hotloop_flow::random::seed;
use hotloop_flow::{Policy, PolicyError, Sampling};

use super::opinion::Opinion;
use crate::asking::draw;

/// How often a reviewer is asked about a candidate before it counts as broken.
pub const ATTEMPTS: u64 = 3;
/// Chats asked at once: as many as an engine decodes at the same time.
const AT_ONCE: usize = 32;
/// The temperature of later attempts. The first is greedy, and would repeat itself.
const AGAIN: f64 = 0.7;

/// Opinions on `chats`, or why there is none. `each` gets the index of a chat with its opinion as
/// soon as that is known, and may end the asking.
pub fn ask<E: From<PolicyError>>(
    policy: &mut dyn Policy,
    chats: &[Chat],
    (max_tokens, number): (u32, u64),
    mut each: impl FnMut(usize, Result<Opinion, String>) -> Result<(), E>,
) -> Result<(), E> {
    let all: Vec<usize> = (0..chats.len()).collect();
    for some in all.chunks(AT_ONCE) {
        let mut open: Vec<usize> = some.to_vec();
        for attempt in 0..ATTEMPTS {
            let sampling = Sampling {
                temperature: if attempt == 0 { 0.0 } else { AGAIN },
                top_k: 0,
                top_p: 1.0,
                min_p: 0.0,
                max_tokens,
                stop: Vec::new(),
                seed: seed(number, &[attempt, open.first().map_or(0, |at| *at as u64)]),
            };
            let answers = answers(policy, chats, &open, &sampling)?;
            let mut again = Vec::new();
            for (at, answer) in open.into_iter().zip(answers) {
                match answer.and_then(|text| Opinion::read(&text).map_err(Wrong::Unread)) {
                    Err(Wrong::Unread(_)) if attempt + 1 < ATTEMPTS => again.push(at),
                    Err(Wrong::Unread(why) | Wrong::TooLong(why)) => each(at, Err(why))?,
                    Ok(opinion) => each(at, Ok(opinion))?,
                }
            }
            open = again;
            if open.is_empty() {
                break;
            }
        }
    }
    Ok(())
}

/// Why there is no opinion.
enum Wrong {
    /// Another attempt may help.
    Unread(String),
    /// It does not.
    TooLong(String),
}

fn answers(
    policy: &mut dyn Policy,
    chats: &[Chat],
    open: &[usize],
    sampling: &Sampling,
) -> Result<Vec<Result<String, Wrong>>, PolicyError> {
    let asked: Vec<Chat> = open.iter().map(|at| chats[*at].clone()).collect();
    match draw(policy, &asked, 1, sampling) {
        Ok(completions) => Ok(completions
            .into_iter()
            .map(|completion| Ok(completion.text))
            .collect()),
        // One long candidate must not silence the reviewer on the others.
        Err(PolicyError::ContextExceeded { .. }) if open.len() > 1 => {
            let mut found = Vec::new();
            for at in open {
                found.extend(answers(policy, chats, &[*at], sampling)?);
            }
            Ok(found)
        }
        Err(error @ PolicyError::ContextExceeded { .. }) => {
            Ok(vec![Err(Wrong::TooLong(error.to_string()))])
        }
        Err(error) => Err(error),
    }
}
