//! slime's `remote_rm`: one answer in, a number out.
//!
//! Its client waits 120 s, tries ten times, and takes whatever JSON comes back as the reward; with
//! `--reward-key` it wants an object, which a label with `"object": true` asks for.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::grade_one;
use crate::app::App;
use crate::asked::{Submission, What};
use crate::body::{Body, Received};
use crate::fault::Fault;

/// What slime sends; the prompt is text or messages, and of no use here.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "part of the protocol; a prompt that is no prompt is refused by none"
    )]
    prompt: Value,
    response: String,
    #[serde(default)]
    label: Value,
}

impl Body for Asked {}

/// The label without its key `object`, and whether that asks for an object.
fn wants_object(label: Value) -> Result<(Value, bool), Fault> {
    let keys: Option<Map<String, Value>> = match &label {
        Value::String(text) => serde_json::from_str(text).ok(),
        Value::Object(keys) => Some(keys.clone()),
        _ => None,
    };
    let Some(mut keys) = keys else {
        return Ok((label, false));
    };
    match keys.remove("object") {
        None => Ok((Value::Object(keys), false)),
        Some(Value::Bool(wanted)) => Ok((Value::Object(keys), wanted)),
        Some(_) => Err(Fault::bad("`object` in a label is true or false")),
    }
}

/// The reward of one answer.
pub(crate) async fn rm(
    State(app): State<Arc<App>>,
    asked: Received<Asked>,
) -> Result<Json<Value>, Fault> {
    let Asked {
        response, label, ..
    } = asked.value;
    let (label, wants_object) = wants_object(label)?;
    let what = What::of(&label)?;
    let judging = &app.judging;
    let one = Submission::completion(what, response);
    let graded = grade_one(judging, one, None, judging.deadline(None)).await?;
    Ok(Json(if wants_object {
        // An implausible speed is no speed.
        let gflops = graded
            .verdict()
            .correct()
            .and_then(hotloop_flow::Measured::gflops);
        json!({"reward": graded.reward, "verdict": graded.verdict().label(), "gflops": gflops})
    } else {
        json!(graded.reward)
    }))
}
