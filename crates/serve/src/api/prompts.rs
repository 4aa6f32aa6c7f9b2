//! `POST /v1/prompts`: the next prompts of the staged search, for trainers that live elsewhere.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use hotloop_flow::policy::Message;
use hotloop_flow::{Role, Stage};
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::asked;
use crate::body::{Body, Received};
use crate::fault::Fault;
use crate::searches::prompt_name;

/// Prompts at once at most.
const MOST: u32 = 1024;

/// What may be asked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    run: String,
    #[serde(default = "one", deserialize_with = "asked::whole")]
    n: u32,
    /// Begins the run if there is none.
    #[serde(default)]
    task: Option<String>,
}

impl Body for Asked {}

fn one() -> u32 {
    1
}

/// What is answered.
#[derive(Debug, Serialize)]
pub(crate) struct Answered {
    run: String,
    prompts: Vec<Listed>,
}

/// A prompt.
#[derive(Debug, Serialize)]
struct Listed {
    /// To be sent with the answers to `/v1/judge`.
    prompt_id: String,
    task: String,
    stage: Option<Stage>,
    role: Role,
    iteration: u32,
    /// The candidate that it shows; none for the seed.
    parent: Option<String>,
    messages: Vec<Message>,
    /// What the answer begins with, where the run begins answers.
    begun: String,
}

/// The next prompts of a run.
pub(crate) async fn next(
    State(app): State<Arc<App>>,
    asked: Received<Asked>,
) -> Result<Json<Answered>, Fault> {
    let asked = asked.value;
    if !(1..=MOST).contains(&asked.n) {
        return Err(Fault::bad(format!(
            "n is {}; it goes from 1 to {MOST}",
            asked.n
        )));
    }
    let (task, prompts) = app
        .judging
        .searches
        .prompts(&asked.run, asked.task.as_deref(), asked.n as usize)
        .await?;
    let prompts = prompts
        .into_iter()
        .map(|prompt| Listed {
            prompt_id: prompt_name(&asked.run, prompt.id),
            task: task.clone(),
            stage: prompt.asked.stage,
            role: prompt.asked.role,
            iteration: prompt.id.iteration,
            parent: prompt.asked.parent,
            messages: prompt.chat.messages,
            begun: prompt.chat.begun,
        })
        .collect();
    Ok(Json(Answered {
        run: asked.run,
        prompts,
    }))
}
