//! `KernelGYM`'s evaluations of `PyTorch` modules: a problem and an answer in, runtimes out.
//!
//! Its client submits by `/evaluate`, tries again at 429 and 503, and shows the reason of any other
//! status. Then it asks `/status/{task_id}` every second, and at `completed` for
//! `/results/{task_id}`. It punishes every other end. So `completed` always means that there is a
//! verdict, and a machine's failure is told only after the client has tried again.

mod answer;
mod evaluations;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRef, Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use hotloop_flow::error::ErrorKind;
use hyper::ext::ReasonPhrase;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use tokio::time::Instant;

use crate::app::App;
use crate::asked;
use crate::body::{Bodies, Body, Received};
use crate::desk::outcome;
use crate::fault::Fault;
use answer::{Answered, Stands};
use evaluations::{Content, Evaluations};

/// Letters of an evaluation's name at most, and bytes of a problem.
const NAME: usize = 100;
const PROBLEM: usize = 100_000;

/// What its client sends.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "part of the protocol; of these keys nothing depends on most"
)]
pub(crate) struct Asked {
    task_id: String,
    reference_code: String,
    kernel_code: String,
    /// Seconds that the client gives the evaluation.
    #[serde(default, deserialize_with = "number")]
    timeout: Option<u32>,
    #[serde(default, deserialize_with = "number")]
    num_correct_trials: Option<u32>,
    #[serde(default, deserialize_with = "number")]
    num_perf_trials: Option<u32>,
    #[serde(default)]
    entry_point: Option<String>,
    #[serde(default)]
    reference_backend: Option<String>,
    #[serde(default)]
    workflow: Option<String>,
    #[serde(default)]
    toolkit: Option<String>,
    #[serde(default)]
    backend_adapter: Option<String>,
    /// The client always says `triton`.
    #[serde(default)]
    backend: Value,
    #[serde(default)]
    priority: Value,
    #[serde(default)]
    is_valid: Value,
    #[serde(default)]
    verbose_errors: Value,
    #[serde(default)]
    enable_profiling: Value,
    #[serde(default)]
    detect_decoy_kernel: Value,
    #[serde(default)]
    use_reference_cache: Value,
    #[serde(default)]
    uuid: Value,
}

impl Body for Asked {}

/// A whole number, where there is one.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    #[derive(Deserialize)]
    struct Whole(#[serde(deserialize_with = "asked::whole")] u32);
    let number: Option<Whole> = Option::deserialize(deserializer)?;
    Ok(number.map(|Whole(number)| number))
}

impl Asked {
    /// Refuses what the protocol does not allow, and what nothing here can do.
    fn check(&self) -> Result<(), Fault> {
        if !(1..=NAME).contains(&self.task_id.chars().count()) {
            return Err(Fault::bad(format!("a task_id has 1 to {NAME} letters")));
        }
        if self.reference_code.len() > PROBLEM {
            let what = format!("a reference_code has at most {PROBLEM} bytes");
            return Err(Fault::bad(what));
        }
        for (key, number, least, most) in [
            ("timeout", self.timeout, 10, 3600),
            ("num_correct_trials", self.num_correct_trials, 1, 20),
            ("num_perf_trials", self.num_perf_trials, 1, 1000),
        ] {
            if number.is_some_and(|number| !(least..=most).contains(&number)) {
                return Err(Fault::bad(format!("{key} is from {least} to {most}")));
            }
        }
        for (key, value, only) in [
            ("entry_point", &self.entry_point, "Model"),
            ("reference_backend", &self.reference_backend, "pytorch"),
            ("workflow", &self.workflow, "kernelbench"),
            ("toolkit", &self.toolkit, "kernelbench"),
            ("backend_adapter", &self.backend_adapter, "kernelbench"),
        ] {
            if value.as_ref().is_some_and(|value| value != only) {
                return Err(Fault::conflict(format!("{key} can only be {only} here")));
            }
        }
        Ok(())
    }
}

/// The adapter's own state.
struct Gym {
    app: Arc<App>,
    evaluations: Arc<Evaluations>,
}

impl FromRef<Arc<Gym>> for Bodies {
    fn from_ref(gym: &Arc<Gym>) -> Self {
        gym.app.bodies.clone()
    }
}

pub(crate) fn routes(app: Arc<App>) -> Router {
    let gym = Gym {
        evaluations: Arc::new(Evaluations::new(&app.limits)),
        app,
    };
    Router::new()
        .route("/evaluate", post(evaluate))
        .route("/status/{task_id}", get(status))
        .route("/results/{task_id}", get(results))
        .with_state(Arc::new(gym))
}

impl Gym {
    async fn evaluate(&self, asked: Asked) -> Result<Answered, Fault> {
        let Some(modules) = &self.app.modules else {
            return Err(Fault::unknown(
                "KernelGYM evaluates PyTorch modules, and this service judges none",
            )
            .hint("its operator names the problems that it judges modules for"));
        };
        asked.check()?;
        let task = modules.find(&asked.reference_code)?;
        let wait = self.app.limits.wait;
        let patience = asked.timeout.map_or(wait, |timeout| {
            wait.min(Duration::from_secs(u64::from(timeout)))
        });
        let deadline = Instant::now() + patience;
        let content = Content::of(&task, &asked.kernel_code);
        let name = asked.task_id;
        let known = self.evaluations.known(&name, &content)?;
        let ticket = if let Some(ticket) = known {
            ticket
        } else {
            let asked = modules.ask(&task, asked.kernel_code);
            let full = "too many modules are waiting";
            let ticket = asked.map_err(|_| Fault::later(full, Duration::from_secs(2)))?;
            self.evaluations.keep(&name, content, ticket.clone())?;
            ticket
        };
        match outcome(ticket, deadline).await {
            Some(Err(error)) if error.kind == ErrorKind::Machine => Err(Fault::machine(&error)),
            outcome => Ok(Answered::of(name, outcome.as_ref())),
        }
    }
}

/// Judges a module. What is not judged in time goes on, and `/status` tells how it stands.
async fn evaluate(
    State(gym): State<Arc<Gym>>,
    asked: Result<Received<Asked>, Fault>,
) -> Result<Json<Answered>, Response> {
    let answered = match asked {
        Ok(asked) => gym.evaluate(asked.value).await,
        Err(fault) => Err(fault),
    };
    answered.map(Json).map_err(reasoned)
}

/// How an evaluation stands.
async fn status(
    State(gym): State<Arc<Gym>>,
    Path(name): Path<String>,
) -> Result<Json<Stands>, Fault> {
    let outcome = gym.evaluations.outcome(&name)?;
    Ok(Json(Stands::of(name, outcome.as_ref())))
}

/// What came of an evaluation that has ended.
async fn results(
    State(gym): State<Arc<Gym>>,
    Path(name): Path<String>,
) -> Result<Json<Answered>, Fault> {
    let Some(outcome) = gym.evaluations.outcome(&name)? else {
        return Err(Fault::unknown("it is still being judged")
            .hint("GET /status/{task_id} says when it has ended"));
    };
    Ok(Json(Answered::of(name, Some(&outcome))))
}

/// A fault whose reason stands in the first line of the answer, too: all that the client shows.
fn reasoned(fault: Fault) -> Response {
    let reason: String = fault.told();
    let reason: String = reason.chars().filter(|c| matches!(c, ' '..='~')).collect();
    let mut response = fault.into_response();
    if let Ok(reason) = ReasonPhrase::try_from(reason) {
        response.extensions_mut().insert(reason);
    }
    response
}
