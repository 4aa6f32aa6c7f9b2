//! `OpenEnv`: a task as an environment. An episode asks for a task; each step hands in a candidate and
//! earns its reward; the observation tells what a repair needs.
//!
//! A connection to `/ws` has an episode of its own. Over plain HTTP an episode has a name,
//! `episode_id`, and those who name none share one.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, PoisonError};

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Graded, grade};
use crate::app::App;
use crate::asked::{Text, What};
use crate::body::{self, Received};
use crate::fault::Fault;
use hotloop_flow::{Label, Verdict};

/// Turns of an episode.
const TURNS: u32 = 8;
/// Episodes over HTTP that are remembered at most.
const EPISODES: usize = 4096;
/// Clients wait 60 s for an answer on a socket.
const SOCKET_WAIT_S: f64 = 50.0;
/// The longest name of an episode, as `OpenEnv` has it.
const NAME: usize = 255;

/// Where an episode stands.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Episode {
    /// Tells it from one that had its name before.
    #[serde(skip)]
    number: u64,
    #[serde(rename = "episode_id")]
    name: Option<String>,
    step_count: u32,
    task: String,
    stage: Option<hotloop_flow::Stage>,
    done: bool,
    best_reward: Option<f64>,
}

/// Episodes over HTTP by name, the oldest forgotten first.
#[derive(Default)]
pub(crate) struct Episodes {
    by_name: HashMap<String, Episode>,
    order: VecDeque<String>,
    begun: u64,
}

impl Episodes {
    fn keep(&mut self, mut episode: Episode) {
        self.begun += 1;
        episode.number = self.begun;
        let name = episode.name.clone().unwrap_or_default();
        if self.by_name.insert(name.clone(), episode).is_none() {
            self.order.push_back(name);
        }
        if self.order.len() > EPISODES
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_name.remove(&oldest);
        }
    }
}

/// What `reset` may say; more is ignored.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Begin {
    #[serde(default)]
    episode_id: Option<String>,
    #[serde(flatten)]
    what: What,
}

/// What a step hands in.
#[derive(Debug, Deserialize)]
pub(crate) struct Action {
    /// A candidate, or the answer of a model that it stands in.
    code: String,
}

/// A step over HTTP.
#[derive(Debug, Deserialize)]
pub(crate) struct Step {
    action: Action,
    #[serde(default)]
    episode_id: Option<String>,
    #[serde(default)]
    timeout_s: Option<f64>,
}

/// What an agent sees.
#[derive(Debug, Serialize)]
struct Observation {
    task: String,
    prompt: String,
    signature: String,
    reference_code: String,
    verdict: Option<Label>,
    feedback: String,
    compilation_success: Option<bool>,
    correctness_pass: Option<bool>,
    gflops: Option<f64>,
    speedup: Option<f64>,
    turn: u32,
    max_turns: u32,
}

/// An observation and what came with it.
#[derive(Debug, Serialize)]
pub(crate) struct Seen {
    observation: Observation,
    reward: Option<f64>,
    done: bool,
}

impl Episode {
    fn begin(app: &App, begin: Begin) -> Result<(Self, Seen), Fault> {
        if begin
            .episode_id
            .as_ref()
            .is_some_and(|name| name.len() > NAME)
        {
            return Err(Fault::bad(format!(
                "episode_id has at most {NAME} characters"
            )));
        }
        let task = app.task(begin.what.task.as_deref())?;
        let episode = Self {
            number: 0,
            name: begin.episode_id,
            step_count: 0,
            task: task.spec.name.clone(),
            stage: begin.what.stage,
            done: false,
            best_reward: None,
        };
        let observation = episode.observation(&task);
        Ok((
            episode,
            Seen {
                observation,
                reward: None,
                done: false,
            },
        ))
    }

    fn observation(&self, task: &hotloop_flow::Task) -> Observation {
        Observation {
            task: self.task.clone(),
            prompt: task.prompt.clone(),
            signature: task.signature(),
            reference_code: task.seed.clone(),
            verdict: None,
            feedback: String::new(),
            compilation_success: None,
            correctness_pass: None,
            gflops: None,
            speedup: None,
            turn: self.step_count,
            max_turns: TURNS,
        }
    }

    /// Has what a step hands in judged, which takes long; [`Self::step`] counts it.
    async fn judge(
        &self,
        app: &Arc<App>,
        action: Action,
        wait_s: Option<f64>,
    ) -> Result<Graded, Fault> {
        self.going()?;
        let what = What {
            task: Some(self.task.clone()),
            stage: self.stage,
            ..What::default()
        };
        let graded = grade(
            app,
            vec![(what, Text::Completion(action.code))],
            None,
            app.deadline(wait_s),
        )
        .await?;
        graded
            .into_iter()
            .next()
            .ok_or_else(|| Fault::bad("there is nothing to judge"))
    }

    fn going(&self) -> Result<(), Fault> {
        if self.done {
            Err(Fault::bad("the episode is over").hint("reset it"))
        } else {
            Ok(())
        }
    }

    /// One step, with what was judged for it.
    fn step(&mut self, graded: &Graded) -> Result<Seen, Fault> {
        self.going()?;
        self.step_count += 1;
        self.done = self.step_count >= TURNS;
        // This protocol has a null, so that a masked verdict need not become a number.
        let verdict = graded.verdict();
        let reward = Some(graded.reward).filter(|_| !matches!(verdict, Verdict::Suspect { .. }));
        self.best_reward = self.best_reward.into_iter().chain(reward).reduce(f64::max);
        let label = verdict.label();
        let observation = Observation {
            verdict: Some(label),
            feedback: verdict.detail(),
            compilation_success: Some(label > Label::NotCompiled),
            correctness_pass: Some(label >= Label::Suspect),
            gflops: verdict.measured().and_then(hotloop_flow::Measured::gflops),
            speedup: graded.speedup(),
            ..self.observation(&graded.work.task)
        };
        Ok(Seen {
            observation,
            reward,
            done: self.done,
        })
    }
}

/// Begins an episode over HTTP.
pub(crate) async fn reset(
    State(app): State<Arc<App>>,
    begin: Received<Begin>,
) -> Result<Json<Seen>, Fault> {
    let (episode, seen) = Episode::begin(&app, begin.value)?;
    app.episodes
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .keep(episode);
    Ok(Json(seen))
}

/// One step over HTTP.
pub(crate) async fn step(
    State(app): State<Arc<App>>,
    step: Received<Step>,
) -> Result<Json<Seen>, Fault> {
    let Step {
        action,
        episode_id,
        timeout_s,
    } = step.value;
    let begun = find(&app, episode_id.as_deref())?;
    let graded = begun.judge(&app, action, timeout_s).await?;
    // Other steps may have been counted meanwhile: this one comes behind them.
    let mut episodes = app.episodes.lock().unwrap_or_else(PoisonError::into_inner);
    let name = episode_id.as_deref().unwrap_or_default();
    let episode = episodes
        .by_name
        .get_mut(name)
        .filter(|episode| episode.number == begun.number);
    let episode = episode.ok_or_else(|| {
        Fault::new(
            StatusCode::CONFLICT,
            "the episode was reset while this step was judged, which counts in neither",
        )
        .hint("send the step again, or give each episode an episode_id of its own")
    })?;
    Ok(Json(episode.step(&graded)?))
}

fn find(app: &App, name: Option<&str>) -> Result<Episode, Fault> {
    let episodes = app.episodes.lock().unwrap_or_else(PoisonError::into_inner);
    let found = episodes.by_name.get(name.unwrap_or_default()).cloned();
    found.ok_or_else(|| Fault::bad("no such episode was begun").hint("POST /reset begins one"))
}

/// Which episode is meant.
#[derive(Debug, Deserialize)]
pub(crate) struct Named {
    #[serde(default)]
    episode_id: Option<String>,
}

/// Where an episode stands.
pub(crate) async fn state(
    State(app): State<Arc<App>>,
    query: Result<Query<Named>, QueryRejection>,
) -> Result<Json<Episode>, Fault> {
    let Query(named) = query.map_err(|rejection| Fault::bad(rejection.body_text()))?;
    find(&app, named.episode_id.as_deref()).map(Json)
}

/// What actions and observations look like.
pub(crate) async fn schema() -> Json<Value> {
    let text = json!({"type": "string"});
    let maybe = |kind: &str| json!({"type": [kind, "null"]});
    Json(json!({
        "action": {"type": "object", "required": ["code"], "properties": {"code": text}},
        "observation": {"type": "object", "properties": {
            "task": text, "prompt": text, "signature": text, "reference_code": text, "feedback": text,
            "verdict": maybe("string"), "compilation_success": maybe("boolean"),
            "correctness_pass": maybe("boolean"), "gflops": maybe("number"), "speedup": maybe("number"),
            "turn": {"type": "integer"}, "max_turns": {"type": "integer"},
        }},
        "state": {"type": "object", "properties": {
            "episode_id": maybe("string"), "step_count": {"type": "integer"}, "task": text,
            "stage": maybe("integer"), "done": {"type": "boolean"}, "best_reward": maybe("number"),
        }},
    }))
}

/// What this environment is.
pub(crate) async fn metadata() -> Json<Value> {
    Json(json!({
        "name": "hotloop",
        "description": "Write fast C; each step is compiled, verified and timed on real hardware.",
        "version": env!("CARGO_PKG_VERSION"),
    }))
}

/// What comes over a socket.
#[derive(Debug, Deserialize)]
struct Frame {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    data: Value,
}

/// An episode on a connection of its own.
pub(crate) async fn ws(State(app): State<Arc<App>>, upgrade: WebSocketUpgrade) -> Response {
    let most = app.settings.limits.body.min(2 << 20);
    upgrade
        .max_message_size(most)
        .max_frame_size(most)
        .on_upgrade(move |socket| talk(app, socket))
}

async fn talk(app: Arc<App>, mut socket: WebSocket) {
    let mut episode = None;
    // Someone who says nothing for long keeps a place from others.
    let patience = app.settings.limits.keep;
    while let Ok(Some(Ok(message))) = tokio::time::timeout(patience, socket.recv()).await {
        let text = match &message {
            Message::Text(text) => text.as_str(),
            Message::Close(_) => break,
            Message::Binary(_) | Message::Ping(_) | Message::Pong(_) => continue,
        };
        let Some(reply) = answer(&app, &mut episode, text).await else {
            break;
        };
        let sent = tokio::time::timeout(
            app.settings.limits.patience,
            socket.send(Message::text(reply.to_string())),
        );
        if !matches!(sent.await, Ok(Ok(()))) {
            break;
        }
    }
}

/// The reply to one frame; `None` when the client takes its leave.
async fn answer(app: &Arc<App>, episode: &mut Option<Episode>, text: &str) -> Option<Value> {
    let error = |code: &str, what: String| {
        Some(json!({"type": "error", "data": {"message": what, "code": code}}))
    };
    let _room = match body::room(app, text.as_bytes()) {
        Ok(room) => room,
        Err(fault) => return error("EXECUTION_ERROR", fault.what),
    };
    let frame: Frame = match serde_json::from_str(text) {
        Ok(frame) => frame,
        Err(wrong) => return error("INVALID_JSON", wrong.to_string()),
    };
    let seen = match frame.kind.as_str() {
        "close" => return None,
        "state" => return Some(json!({"type": "state", "data": episode})),
        "reset" => match serde_json::from_value::<Begin>(if frame.data.is_null() {
            json!({})
        } else {
            frame.data
        }) {
            Ok(begin) => Episode::begin(app, begin).map(|(begun, seen)| {
                *episode = Some(begun);
                seen
            }),
            Err(wrong) => return error("VALIDATION_ERROR", wrong.to_string()),
        },
        "step" => match (
            serde_json::from_value::<Action>(frame.data),
            episode.as_mut(),
        ) {
            (Ok(action), Some(episode)) => {
                let graded = episode.judge(app, action, Some(SOCKET_WAIT_S)).await;
                graded.and_then(|graded| episode.step(&graded))
            }
            (Ok(_), None) => return error("SESSION_ERROR", "reset comes before step".to_owned()),
            (Err(wrong), _) => return error("VALIDATION_ERROR", wrong.to_string()),
        },
        other => {
            return error(
                "UNKNOWN_TYPE",
                format!("`{}` is not known here", crate::notice::tame(other)),
            );
        }
    };
    match seen {
        Ok(seen) => Some(json!({"type": "observation", "data": seen})),
        Err(fault) => error("EXECUTION_ERROR", fault.what),
    }
}
