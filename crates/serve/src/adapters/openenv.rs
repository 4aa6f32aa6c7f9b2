//! `OpenEnv`: a task as an environment. An episode asks for a task; each step hands in a candidate
//! and earns its reward; the observation tells what a repair needs.
//!
//! A connection to `/ws` has an episode of its own. Over plain HTTP an episode has a name,
//! `episode_id`, and those who name none share one.

mod episode;
mod socket;

use std::collections::{HashMap, VecDeque};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRef, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::body::{Bodies, Body, Received};
use crate::fault::Fault;
use crate::guard::Peer;
use crate::keys;
use crate::places::{Place, Places};
use episode::{Action, Begin, Episode, Seen};

/// Episodes over HTTP that are remembered at most.
const EPISODES: usize = 4096;

/// The adapter's own state.
struct Environment {
    app: Arc<App>,
    episodes: Mutex<Episodes>,
    /// Places for sockets.
    sockets: Arc<Places>,
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
        episodes: Mutex::default(),
        sockets: socket::places(&app.limits),
        app,
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

/// An episode on a connection of its own.
async fn ws(
    State(environment): State<Arc<Environment>>,
    place: Option<Extension<Arc<Place>>>,
    peer: Option<Extension<Peer>>,
    upgrade: WebSocketUpgrade,
) -> Result<Response, Fault> {
    let address = peer.map_or(Ipv4Addr::LOCALHOST.into(), |Extension(Peer(peer))| {
        peer.ip()
    });
    let seat = environment.sockets.take(address).map_err(|_| {
        Fault::later("too many sockets are open", Duration::from_secs(1))
            .hint("close those that are not used; POST /reset and /step need none")
    })?;
    Ok(socket::open(&environment.app, upgrade, (place, seat)))
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
