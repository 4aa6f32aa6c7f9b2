//! What a request asks to be judged, whatever the words it comes in.

use std::collections::BTreeMap;
use std::sync::Arc;

use hotloop_flow::{Candidate, Reward, Stage, Task, Verdict};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::app::App;
use crate::board::{Outcome, Ticket};
use crate::desk::{Wanted, outcome};
use crate::fault::Fault;
use crate::searches::PromptRef;

/// The task, stage, prompt and reward that a request names, in `/v1/judge` by keys of their own,
/// in other protocols through the one field that a data set can fill (label, stdin, ...).
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct What {
    pub(crate) task: Option<String>,
    pub(crate) stage: Option<Stage>,
    pub(crate) prompt_id: Option<String>,
    #[serde(deserialize_with = "reward")]
    pub(crate) reward: Option<Reward>,
    /// Candidates of a request that are compared with each other; answers to one prompt, unless it is named.
    pub(crate) group: Option<String>,
}

impl What {
    /// What a label says: nothing, a task's name, or an object (also as text) with more.
    pub(crate) fn of(label: &Value) -> Result<Self, Fault> {
        let wrong = |error: serde_json::Error| {
            Fault::bad(format!("a label is not understood: {error}")).hint(
                "a label is a task's name, or an object like {\"task\": \"matmul\", \"stage\": 2}",
            )
        };
        match label {
            Value::Null => Ok(Self::default()),
            Value::String(text) if text.trim_start().starts_with('{') => {
                serde_json::from_str(text).map_err(wrong)
            }
            Value::String(name) => Ok(Self {
                task: Some(name.trim().to_owned()),
                ..Self::default()
            }),
            Value::Object(_) => serde_json::from_value(label.clone()).map_err(wrong),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) => Err(wrong(
                serde::de::Error::custom("neither a name nor an object"),
            )),
        }
    }
}

/// A reward's name, or its shape with numbers that make sense.
pub(crate) fn reward<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Reward>, D::Error> {
    match Option::<Value>::deserialize(deserializer)? {
        None => Ok(None),
        Some(Value::String(name)) => name.parse().map(Some).map_err(serde::de::Error::custom),
        Some(object) => {
            let reward = Reward::deserialize(object).map_err(serde::de::Error::custom)?;
            reward.mistake().map_or(Ok(Some(reward)), |mistake| {
                Err(serde::de::Error::custom(mistake))
            })
        }
    }
}

/// Where the code is.
#[derive(Debug, Clone)]
pub(crate) enum Text {
    /// In what a model printed.
    Completion(String),
    /// It is nothing else.
    Source(String),
}

/// One candidate to be judged.
pub(crate) struct Work {
    pub(crate) task: Arc<Task>,
    pub(crate) stage: Option<Stage>,
    pub(crate) prompt: Option<PromptRef>,
    pub(crate) made: Result<Candidate, String>,
    /// Which of the request's candidates of this task it is compared with.
    pub(crate) group: Option<String>,
    /// Judged apart from all others under this name.
    pub(crate) apart: Option<String>,
}

/// A candidate that was named but not looked for yet.
pub(crate) struct Unmade {
    pub(crate) what: What,
    pub(crate) text: Text,
    pub(crate) apart: Option<String>,
}

impl App {
    /// Finds tasks, prompts and the code in what was sent.
    pub(crate) async fn make(self: &Arc<Self>, all: Vec<Unmade>) -> Result<Vec<Work>, Fault> {
        let mut found = Vec::with_capacity(all.len());
        for unmade in all {
            let prompt = match &unmade.what.prompt_id {
                Some(id) => Some(self.prompt(id).await?),
                None => None,
            };
            let task = match &prompt {
                Some(prompt) => Arc::clone(&prompt.task),
                None => self.task(unmade.what.task.as_deref())?,
            };
            if let Some(stage) = unmade.what.stage {
                let known = task.spec.stages.get(stage);
                known.map_err(|error| Fault::bad(error.to_string()))?;
            }
            found.push((unmade, task, prompt));
        }
        // Lexing megabytes of what a model printed would hold up everybody else.
        let making = tokio::task::spawn_blocking(move || found.into_iter().map(made).collect());
        making.await.map_err(|_| {
            Fault::new(
                axum::http::StatusCode::INTERNAL_SERVER_ERROR,
                "a mistake in hotloop",
            )
        })
    }

    /// Has candidates judged. Those that are malformed need no bench.
    pub(crate) async fn judge(
        &self,
        works: &[Work],
        deadline: tokio::time::Instant,
    ) -> Result<Vec<Outcome>, Fault> {
        let mut outcomes = Vec::with_capacity(works.len());
        let mut pending = 0;
        for (work, ticket) in works.iter().zip(self.tickets(works)?) {
            match ticket {
                Some(ticket) => match outcome(ticket, deadline).await {
                    Some(outcome) => outcomes.push(outcome),
                    None => pending += 1,
                },
                None => outcomes.push(Ok(Arc::new(hotloop_flow::Judgement {
                    verdict: Verdict::Malformed {
                        why: work.made.as_ref().err().cloned().unwrap_or_default(),
                    },
                    seconds: hotloop_flow::bench::Seconds::default(),
                }))),
            }
        }
        if pending > 0 {
            let of = hotloop_flow::count(works.len(), "candidate");
            return Err(later(format!("still being judged: {pending} of {of}"))
                .hint("send the same request again: it joins what is under way"));
        }
        Ok(outcomes)
    }

    /// Asks for verdicts, group by group; there is none to wait for where no candidate was found.
    fn tickets(&self, works: &[Work]) -> Result<Vec<Option<Ticket>>, Fault> {
        let mut groups = BTreeMap::<_, (Vec<usize>, Vec<Wanted>)>::new();
        for (index, work) in works.iter().enumerate() {
            let Work {
                task,
                stage,
                made,
                group,
                apart,
                ..
            } = work;
            let Ok(candidate) = made else { continue };
            let (places, wanted) = groups
                .entry((task.hash.as_str(), group.as_deref()))
                .or_default();
            places.push(index);
            wanted.push(Wanted {
                task,
                candidate,
                stage: *stage,
                apart: apart.as_deref(),
            });
        }
        let mut tickets: Vec<Option<Ticket>> = works.iter().map(|_| None).collect();
        for (places, wanted) in groups.into_values() {
            let asked = self
                .desk
                .ask(wanted)
                .map_err(|_| later("too many candidates are waiting".to_owned()))?;
            for (place, ticket) in places.into_iter().zip(asked) {
                tickets[place] = Some(ticket);
            }
        }
        Ok(tickets)
    }
}

fn later(what: String) -> Fault {
    Fault::later(what, std::time::Duration::from_secs(2))
}

fn made((unmade, task, prompt): (Unmade, Arc<Task>, Option<PromptRef>)) -> Work {
    let begun = prompt.as_ref().map_or("", |prompt| prompt.begun.as_str());
    let made = match &unmade.text {
        Text::Completion(text) if text.starts_with(begun) => Candidate::extract(text, &task),
        Text::Completion(text) => Candidate::extract(&format!("{begun}{text}"), &task),
        Text::Source(text) => Candidate::from_source(text.as_bytes(), &task),
    };
    let made = made.map_err(|malformed| malformed.why);
    let stage = prompt
        .as_ref()
        .map_or(unmade.what.stage, |prompt| prompt.stage);
    let group = unmade.what.group.or(unmade.what.prompt_id);
    Work {
        task,
        stage,
        prompt,
        made,
        group,
        apart: unmade.apart,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_label_may_be_a_name_an_object_or_an_object_as_text() {
        let what = |label: Value| What::of(&label).unwrap();
        assert_eq!(what(Value::Null), What::default());
        assert_eq!(what(json!("matmul")).task.as_deref(), Some("matmul"));
        let full = What {
            task: Some("fft".to_owned()),
            stage: Some(hotloop_flow::language::c::stages::SIMD),
            ..What::default()
        };
        assert_eq!(what(json!({"task": "fft", "stage": 3})), full);
        assert_eq!(what(json!("{\"task\": \"fft\", \"stage\": 3}")), full);
        assert_eq!(
            what(json!({"reward": "ladder"})).reward,
            Some(Reward::Ladder)
        );
        assert_eq!(
            what(json!({"reward": {"shape": "sol"}})).reward,
            Some(Reward::Sol)
        );
    }

    #[test]
    fn a_label_that_is_not_understood_is_an_error_and_not_another_task() {
        for label in [
            json!(7),
            json!("{\"stage\": 0}"),
            json!("{"),
            json!({"reward": "great"}),
            json!([null]),
        ] {
            assert!(What::of(&label).is_err(), "{label}");
        }
        let reversed =
            What::of(&json!({"reward": {"shape": "ladder-log", "low": 5.0, "high": 1.0}}))
                .unwrap_err();
        assert!(
            reversed.what.contains("reward.high: 1 is below low, 5"),
            "{}",
            reversed.what
        );
    }
}
