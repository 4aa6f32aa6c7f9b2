//! `OpenRLHF`'s remote reward model: texts in, rewards out.
//!
//! `query` is prompt and answer in one text. Of several servers all but the first get empty lists
//! when there is one text, and must answer them. Its client waits 180 s and tries five times.

use std::collections::BTreeMap;
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
    let mut all = Vec::with_capacity(query.len());
    for (index, (query, label)) in query.iter().zip(&labels).enumerate() {
        let mut what = What::of(label)?;
        let prompt = prompts[index].as_deref().unwrap_or("");
        what.group.get_or_insert_with(|| prompt.to_owned());
        let answer = answer(query, prompt).ok_or_else(|| {
            Fault::conflict(format!("query {index} does not begin with its prompt, so that the answer cannot be told apart"))
        })?;
        all.push(Submission::completion(what, answer));
    }
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
    let from = (0..=prompt.len().saturating_sub(TAIL))
        .rev()
        .find(|at| prompt.is_char_boundary(*at))?;
    let tail = &prompt[from..];
    let ends = query.match_indices(tail).map(|(at, _)| at + tail.len());
    ends.filter(|end| prompt.ends_with(&query[..*end]))
        .map(|end| &query[end..])
        .next()
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
    }
}
