//! `OpenEnv`: a task as an environment. An episode asks for a task; each step hands in a candidate
//! and earns its reward; the observation tells what a repair needs.
//!
//! A connection to `/ws` has an episode of its own. Over plain HTTP an episode has a name,
//! `episode_id`, and those who name none share one.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::rejection::QueryRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{FromRef, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use hotloop_flow::{Label, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Graded, grade_one};
use crate::app::App;
use crate::asked::{self, Submission, What};
use crate::body::{Bodies, Body, Received};
use crate::fault::Fault;
use crate::judging::Judging;
use crate::keys;
use crate::notice::tame;
use crate::places::Place;

/// Turns of an episode.
const TURNS: u32 = 8;
/// Episodes over HTTP that are remembered at most.
const EPISODES: usize = 4096;
/// Clients wait 60 s for an answer on a socket.
const SOCKET_WAIT_S: f64 = 50.0;
/// The longest name of an episode, as `OpenEnv` has it.
const NAME: usize = 255;

/// The adapter's own state.
struct Environment {
    app: Arc<App>,
    episodes: Mutex<Episodes>,
}

impl Environment {
    fn episodes(&self) -> MutexGuard<'_, Episodes> {
        self.episodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, name: Option<&str>) -> Result<Episode, Fault> {
        let found = self
            .episodes()
            .by_name
            .get(name.unwrap_or_default())
            .cloned();
        found.ok_or_else(|| {
            Fault::unknown("no such episode was begun").hint("POST /reset begins one")
        })
    }
}

impl FromRef<Arc<Environment>> for Bodies {
    fn from_ref(environment: &Arc<Environment>) -> Self {
        environment.app.bodies.clone()
    }
}

pub(crate) fn routes(app: Arc<App>) -> Router {
    let environment = Environment {
        app,
        episodes: Mutex::default(),
    };
    Router::new()
        .route("/reset", post(reset))
        .route("/step", post(step))
        .route("/state", get(state))
        .route("/schema", get(schema))
        .route("/metadata", get(metadata))
        .route("/ws", get(ws))
        .with_state(Arc::new(environment))
}

/// Where an episode stands.
#[derive(Debug, Clone, Serialize)]
struct Episode {
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
struct Episodes {
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

/// What `reset` may say.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Begin {
    episode_id: Option<String>,
    task: Option<String>,
    #[serde(deserialize_with = "asked::stage")]
    stage: Option<hotloop_flow::Stage>,
    /// Nothing here is drawn.
    #[serde(rename = "seed")]
    _seed: Option<Value>,
}

impl Body for Begin {}

/// What a step hands in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Action {
    /// A candidate, or the answer of a model that it stands in.
    code: String,
    /// Every action of `OpenEnv` has it.
    #[serde(default, rename = "metadata")]
    _metadata: Option<Value>,
}

impl Body for Action {}

/// A step over HTTP.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    action: Action,
    #[serde(default)]
    episode_id: Option<String>,
    #[serde(default)]
    timeout_s: Option<f64>,
    #[serde(default, rename = "request_id")]
    _request: Option<String>,
}

impl Body for Step {
    fn unknown_key(body: &Value) -> Option<Fault> {
        keys::unknown(body, keys::of::<Self>()).or_else(|| Action::unknown_key(&body["action"]))
    }
}

/// What came over a socket, read like a body.
fn read<T: Body>(data: Value) -> Result<T, String> {
    let unknown = T::unknown_key(&data);
    serde_json::from_value(data)
        .map_err(|error| unknown.map_or_else(|| error.to_string(), |fault| fault.told()))
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
struct Seen {
    observation: Observation,
    reward: Option<f64>,
    done: bool,
}

impl Episode {
    fn begin(judging: &Judging, begin: Begin) -> Result<(Self, Seen), Fault> {
        if begin
            .episode_id
            .as_ref()
            .is_some_and(|name| name.len() > NAME)
        {
            return Err(Fault::bad(format!(
                "episode_id has at most {NAME} characters"
            )));
        }
        let task = judging.catalogue.find(begin.task.as_deref())?;
        judging.check_stage(&task.spec.name, begin.stage)?;
        let episode = Self {
            number: 0,
            name: begin.episode_id,
            step_count: 0,
            task: task.spec.name.clone(),
            stage: begin.stage,
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
        judging: &Judging,
        action: Action,
        wait_s: Option<f64>,
    ) -> Result<Graded, Fault> {
        self.going()?;
        let what = What {
            task: Some(self.task.clone()),
            stage: self.stage,
            ..What::default()
        };
        let one = Submission::completion(what, action.code);
        grade_one(judging, one, None, judging.deadline(wait_s)).await
    }

    fn going(&self) -> Result<(), Fault> {
        if self.done {
            Err(Fault::conflict("the episode is over").hint("reset it"))
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
async fn reset(
    State(environment): State<Arc<Environment>>,
    begin: Received<Begin>,
) -> Result<Json<Seen>, Fault> {
    let (episode, seen) = Episode::begin(&environment.app.judging, begin.value)?;
    environment.episodes().keep(episode);
    Ok(Json(seen))
}

/// One step over HTTP.
async fn step(
    State(environment): State<Arc<Environment>>,
    step: Received<Step>,
) -> Result<Json<Seen>, Fault> {
    let Step {
        action,
        episode_id,
        timeout_s,
        ..
    } = step.value;
    let begun = environment.find(episode_id.as_deref())?;
    let graded = begun
        .judge(&environment.app.judging, action, timeout_s)
        .await?;
    // Other steps may have been counted meanwhile: this one comes behind them.
    let mut episodes = environment.episodes();
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

/// Which episode is meant.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    #[serde(default)]
    episode_id: Option<String>,
}

/// Where an episode stands.
async fn state(
    State(environment): State<Arc<Environment>>,
    query: Result<Query<Named>, QueryRejection>,
) -> Result<Json<Episode>, Fault> {
    let Query(named) = query.map_err(|rejection| Fault::bad(rejection.body_text()))?;
    environment.find(named.episode_id.as_deref()).map(Json)
}

/// What actions and observations look like.
async fn schema() -> Json<Value> {
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
async fn metadata() -> Json<Value> {
    Json(json!({
        "name": "hotloop",
        "description": "Write fast C; each step is compiled, verified and timed on real hardware.",
        "version": env!("CARGO_PKG_VERSION"),
    }))
}

/// What comes over a socket.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Frame {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    data: Value,
}

/// An episode on a connection of its own.
async fn ws(
    State(environment): State<Arc<Environment>>,
    place: Option<Extension<Arc<Place>>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let app = Arc::clone(&environment.app);
    let most = app.limits.body.min(2 << 20);
    upgrade
        .max_message_size(most)
        .max_frame_size(most)
        .on_upgrade(async move |socket| {
            talk(app, socket).await;
            drop(place);
        })
}

async fn talk(app: Arc<App>, mut socket: WebSocket) {
    let mut episode = None;
    // Someone who says nothing for long keeps a place from others.
    let patience = app.limits.keep;
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
            app.limits.patience,
            socket.send(Message::text(reply.to_string())),
        );
        if !matches!(sent.await, Ok(Ok(()))) {
            break;
        }
    }
}

/// The reply to one frame; `None` when the client takes its leave.
async fn answer(app: &App, episode: &mut Option<Episode>, text: &str) -> Option<Value> {
    let error = |code: &str, what: String| {
        Some(json!({"type": "error", "data": {"message": what, "code": code}}))
    };
    let _room = match app.bodies.room(text.as_bytes()) {
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
        "reset" => match read::<Begin>(if frame.data.is_null() {
            json!({})
        } else {
            frame.data
        }) {
            Ok(begin) => Episode::begin(&app.judging, begin).map(|(begun, seen)| {
                *episode = Some(begun);
                seen
            }),
            Err(wrong) => return error("VALIDATION_ERROR", wrong),
        },
        "step" => match (read::<Action>(frame.data), episode.as_mut()) {
            (Ok(action), Some(episode)) => {
                let graded = episode
                    .judge(&app.judging, action, Some(SOCKET_WAIT_S))
                    .await;
                graded.and_then(|graded| episode.step(&graded))
            }
            (Ok(_), None) => return error("SESSION_ERROR", "reset comes before step".to_owned()),
            (Err(wrong), _) => return error("VALIDATION_ERROR", wrong),
        },
        other => {
            return error(
                "UNKNOWN_TYPE",
                format!("`{}` is not known here", tame(other)),
            );
        }
    };
    match seen {
        Ok(seen) => Some(json!({"type": "observation", "data": seen})),
        Err(fault) => error("EXECUTION_ERROR", fault.what),
    }
}
