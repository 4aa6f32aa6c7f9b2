//! What a request asks to have judged, in any of the protocols.

use hotloop_flow::{Reward, Stage};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::fault::Fault;
use crate::keys;

/// The task, stage, prompt and reward that a request names, in `/v1/judge` by keys of their own,
/// in other protocols through the one field that a data set can fill (label, stdin, ...).
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct What {
    pub(crate) task: Option<String>,
    #[serde(deserialize_with = "stage")]
    pub(crate) stage: Option<Stage>,
    pub(crate) prompt_id: Option<String>,
    #[serde(deserialize_with = "reward")]
    pub(crate) reward: Option<Reward>,
    /// Candidates of a request that are compared with each other; answers to one prompt, unless it
    /// is named.
    pub(crate) group: Option<String>,
}

impl What {
    /// Reads a label: nothing, a task's name, or an object with more (also as text).
    pub(crate) fn of(label: &Value) -> Result<Self, Fault> {
        let wrong = |error: serde_json::Error| {
            Fault::bad(format!("a label cannot be read: {error}")).hint(
                "a label is a task's name, or an object like {\"task\": \"matmul\", \"stage\": 2}",
            )
        };
        match label {
            Value::Null => Ok(Self::default()),
            Value::String(text) if text.trim_start().starts_with('{') => {
                Self::of(&serde_json::from_str(text).map_err(wrong)?)
            }
            Value::String(name) => Ok(Self {
                task: Some(name.trim().to_owned()),
                ..Self::default()
            }),
            Value::Object(_) => {
                if let Some(fault) = keys::unknown(label, keys::of::<Self>()) {
                    return Err(fault);
                }
                let what: Self = serde_json::from_value(label.clone()).map_err(wrong)?;
                sound(what.reward).map(|()| what)
            }
            Value::Bool(_) | Value::Number(_) | Value::Array(_) => Err(wrong(
                serde::de::Error::custom("neither a name nor an object"),
            )),
        }
    }
}

/// A whole number. JSON makes no difference between 4 and 4.0.
pub(crate) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let number = f64::deserialize(deserializer)?;
    let is_whole = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
    is_whole
        .then_some(number as u32)
        .ok_or_else(|| serde::de::Error::custom(format!("{number} is not a whole number in range")))
}

/// A stage, where one is named.
pub(crate) fn stage<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Stage>, D::Error> {
    #[derive(Deserialize)]
    struct Whole(#[serde(deserialize_with = "whole")] u32);
    let Some(Whole(number)) = Option::deserialize(deserializer)? else {
        return Ok(None);
    };
    let number = u8::try_from(number).map_err(serde::de::Error::custom)?;
    Stage::try_from(number)
        .map(Some)
        .map_err(serde::de::Error::custom)
}

/// A reward's name, or its shape with numbers.
pub(crate) fn reward<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Reward>, D::Error> {
    match Option::<Value>::deserialize(deserializer)? {
        None => Ok(None),
        Some(Value::String(name)) => name.parse().map(Some).map_err(serde::de::Error::custom),
        Some(object) => {
            if let Some(fault) = unknown_number(&object) {
                return Err(serde::de::Error::custom(fault.told()));
            }
            Reward::deserialize(object)
                .map(Some)
                .map_err(serde::de::Error::custom)
        }
    }
}

/// Refuses a reward whose numbers make no sense.
pub(crate) fn sound(reward: Option<Reward>) -> Result<(), Fault> {
    match reward.and_then(|reward| reward.mistake()) {
        None => Ok(()),
        // One number alone can be wrong; `high` is wrong only beside `low`.
        Some(mistake) if mistake.key == "high" => Err(Fault::conflict(mistake.to_string())),
        Some(mistake) => Err(Fault::bad(mistake.to_string())),
    }
}

/// A number that a reward's shape does not have.
fn unknown_number(reward: &Value) -> Option<Fault> {
    let shape = reward["shape"].as_str()?.parse::<Reward>().ok()?;
    let shape = serde_json::to_value(shape).ok()?;
    let known: Vec<&str> = shape.as_object()?.keys().map(String::as_str).collect();
    keys::unknown(reward, &known)
}

/// The text that holds the code.
#[derive(Debug, Clone)]
pub(crate) enum Text {
    /// A model's answer with the code somewhere in it.
    Completion(String),
    /// Only code.
    Source(String),
}

/// A candidate as a request hands it in.
pub(crate) struct Submission {
    pub(crate) what: What,
    pub(crate) text: Text,
    /// Judged separately from all others under this name.
    pub(crate) apart: Option<String>,
}

impl Submission {
    pub(crate) fn completion(what: What, text: impl Into<String>) -> Self {
        Self {
            what,
            text: Text::Completion(text.into()),
            apart: None,
        }
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
        for (label, said) in [
            (
                json!({"tsk": "fft"}),
                "unknown key `tsk`; did you mean `task`?",
            ),
            (
                json!("{\"stagee\": 2}"),
                "unknown key `stagee`; did you mean `stage`?",
            ),
            (
                json!({"reward": {"shape": "ladder-log", "hihg": 6}}),
                "unknown key `hihg`; did you mean `high`? (the known keys are `high`, `low`, `shape`)",
            ),
            (
                json!({"reward": {"shape": "sol", "hihg": 6}}),
                "unknown key `hihg` (the known keys are `shape`)",
            ),
        ] {
            let fault = What::of(&label).unwrap_err();
            assert!(fault.what.contains(said), "{}", fault.what);
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
