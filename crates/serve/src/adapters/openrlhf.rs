//! `OpenRLHF`'s remote reward model: texts in, rewards out.
//!
//! `query` is prompt and answer in one text. Of several servers all but the first get empty lists
//! when there is one text, and must answer them. Its client waits 180 s and tries five times.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use hotloop_flow::Label;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Graded, grade};
use crate::app::App;
use crate::asked::{Submission, What};
use crate::body::{Body, Received};
use crate::fault::Fault;

/// What `OpenRLHF` sends.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    query: Vec<String>,
    /// One for each text, or none at all.
    #[serde(default)]
    prompts: Option<Vec<Option<String>>>,
    /// One for each text, or none at all.
    #[serde(default)]
    labels: Option<Vec<Value>>,
}

impl Body for Asked {}

/// The list that goes with `texts` texts: one entry each, or nothing for all where there is no
/// list.
fn beside<T: Clone + Default>(
    texts: usize,
    list: Option<Vec<T>>,
    name: &str,
) -> Result<Vec<T>, Fault> {
    let list = list.unwrap_or_else(|| vec![T::default(); texts]);
    if list.len() == texts {
        return Ok(list);
    }
    let what = format!("{} {name} for {texts} texts", list.len());
    Err(Fault::conflict(what).hint(format!(
        "send one of `{name}` for each of `query`, or leave `{name}` out"
    )))
}

/// What it reads: `rewards` to learn from, `scores` within 0 and 1 to filter groups by.
#[derive(Debug, Serialize)]
pub(crate) struct Answered {
    rewards: Vec<f64>,
    /// Up to 0.7 the rewards had this name.
    score: Vec<f64>,
    scores: Vec<f64>,
    extra_logs: BTreeMap<&'static str, Vec<f64>>,
}

/// The rewards of answers.
pub(crate) async fn get_reward(
    State(app): State<Arc<App>>,
    asked: Received<Asked>,
) -> Result<Json<Answered>, Fault> {
    let Asked {
        query,
        prompts,
        labels,
    } = asked.value;
    if query.len() > app.limits.candidates {
        return Err(Fault::bad(format!("{} texts at once", query.len())));
    }
    let prompts = beside(query.len(), prompts, "prompts")?;
    let labels = beside(query.len(), labels, "labels")?;
    // Finding where megabytes of prompts end would block all other requests.
    let finding = tokio::task::spawn_blocking(move || submissions(&query, &prompts, &labels));
    let all = finding.await.map_err(|_| Fault::bug())??;
    let judging = &app.judging;
    let graded = grade(judging, all, None, judging.deadline(None)).await?;
    let share = |holds: &dyn Fn(Label) -> bool| -> Vec<f64> {
        graded
            .iter()
            .map(|graded| f64::from(u8::from(holds(graded.verdict().label()))))
            .collect()
    };
    let rewards: Vec<f64> = graded.iter().map(|graded| graded.reward).collect();
    let measured = |graded: &Graded| {
        let correct = graded.verdict().correct();
        correct
            .and_then(hotloop_flow::Measured::gflops)
            .unwrap_or(0.0)
    };
    Ok(Json(Answered {
        score: rewards.clone(),
        rewards,
        scores: graded.iter().map(score).collect(),
        extra_logs: BTreeMap::from([
            ("correct", share(&|label| label == Label::Correct)),
            ("compiled", share(&|label| label > Label::NotCompiled)),
            ("gflops", graded.iter().map(measured).collect()),
        ]),
    }))
}

/// The answers behind the prompts.
fn submissions(
    queries: &[String],
    prompts: &[Option<String>],
    labels: &[Value],
) -> Result<Vec<Submission>, Fault> {
    let mut all = Vec::with_capacity(queries.len());
    for (index, ((query, prompt), label)) in queries.iter().zip(prompts).zip(labels).enumerate() {
        let mut what = What::of(label)?;
        let prompt = prompt.as_deref().unwrap_or("");
        what.group.get_or_insert_with(|| prompt.to_owned());
        let answer = answer(query, prompt).ok_or_else(|| {
            Fault::conflict(format!(
                "query {index} does not begin with its prompt, so that the answer cannot be told apart"
            ))
        })?;
        all.push(Submission::completion(what, answer));
    }
    Ok(all)
}

/// Within 0 and 1: half for the seed's speed, and nearer to 1 the faster.
fn score(graded: &Graded) -> f64 {
    graded
        .speedup()
        .map_or(0.0, |speedup| speedup / (1.0 + speedup))
}

/// Where a prompt was cut it was cut at its beginning: so much of its end tells where it is.
const TAIL: usize = 64;

/// The answer behind a prompt. The prompt may have lost its beginning, or got a token in front.
fn answer<'a>(query: &'a str, prompt: &str) -> Option<&'a str> {
    if let Some(answer) = query.strip_prefix(prompt) {
        return Some(answer);
    }
    if let Some(at) = query.find(prompt) {
        return Some(&query[at + prompt.len()..]);
    }
    let key = RandomState::new().hash_one(TAIL);
    query.get(overlap(query.as_bytes(), prompt.as_bytes(), key)?..)
}

/// The length of the shortest beginning of `query` that is an end of `prompt`, from [`TAIL`] bytes
/// on.
///
/// Two hashes grow with the length, one of the beginning and one of the end. The bytes are compared
/// only where the hashes agree: comparing at every length would take hours for texts that repeat
/// themselves. The key is drawn, so that nobody can find texts whose hashes agree by chance.
fn overlap(query: &[u8], prompt: &[u8], key: u64) -> Option<usize> {
    let key = modulo(u128::from(key));
    let times = |a: u64, b: u64| modulo(u128::from(a) * u128::from(b));
    let (mut begins, mut ends, mut power) = (0, 0, 1);
    for (at, (first, last)) in query.iter().zip(prompt.iter().rev()).enumerate() {
        begins = modulo(u128::from(times(begins, key)) + u128::from(*first));
        ends = modulo(u128::from(times(power, u64::from(*last))) + u128::from(ends));
        power = times(power, key);
        let length = at + 1;
        if length >= TAIL && begins == ends && prompt.ends_with(&query[..length]) {
            return Some(length);
        }
    }
    None
}

/// The remainder by the prime 2^61 - 1.
fn modulo(number: u128) -> u64 {
    const PRIME: u128 = (1 << 61) - 1;
    let folded = (number & PRIME) + (number >> 61);
    let folded = (folded & PRIME) + (folded >> 61);
    (if folded >= PRIME {
        folded - PRIME
    } else {
        folded
    }) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_what_stands_behind_the_prompt() {
        assert_eq!(answer("PROMPT answer", "PROMPT"), Some(" answer"));
        assert_eq!(answer("answer", ""), Some("answer"));
        assert_eq!(answer("<bos>PROMPT answer", "PROMPT"), Some(" answer"));
    }

    #[test]
    fn a_prompt_that_lost_its_beginning_is_found() {
        let prompt: String = (0..100)
            .flat_map(|number| ["line ".to_owned(), number.to_string(), "\n".to_owned()])
            .collect();
        let cut = &prompt[300..];
        assert_eq!(
            answer(&format!("{cut}the answer"), &prompt),
            Some("the answer")
        );
        assert_eq!(answer("something else", &prompt), None);
        assert_eq!(
            answer(&format!("x{cut}the answer"), &prompt),
            None,
            "another prompt with the same end"
        );
        // A tail that overlaps itself, behind a character of several bytes.
        let rule = format!("{}é{}", "x".repeat(80), "=".repeat(100));
        assert_eq!(answer(&format!("{}yes", &rule[20..]), &rule), Some("yes"));
        assert_eq!(answer(&"=".repeat(63), &rule), None, "too little of it");
    }

    /// Comparing texts at each of a million places would take minutes.
    #[test]
    fn texts_that_repeat_themselves_take_one_pass() {
        let period = format!("b{}", "a".repeat(127));
        let last = format!("b{}c{}", "a".repeat(30), "a".repeat(96));
        // Each beginning of the query is almost an end of the prompt.
        let query = period.repeat((16 << 20) / period.len());
        let begin = std::time::Instant::now();
        assert_eq!(answer(&query, &format!("{query}{last}")), None);
        assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
    }
}
