//! `KernelGYM`'s `/evaluate`, `/status` and `/results`.
//!
//! `reference_code` names the task, or is its reference or its seed. Its client counts every
//! status but `completed` as a penalty, so `/evaluate` answers only when there is a verdict, and
//! says 503 until then and when the machine failed: that is what the client tries again at.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{FromRef, Path, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use hotloop_flow::Verdict;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Graded, grade_one};
use crate::app::App;
use crate::asked::{Submission, What};
use crate::body::{Bodies, Received};
use crate::catalogue::Catalogue;
use crate::fault::Fault;
use crate::notice::tame;

/// Evaluations that are kept at most for those who fetch them.
const KEPT: usize = 10_000;
/// The longest name of an evaluation.
const NAME: usize = 256;

/// The adapter's own state.
struct Gym {
    app: Arc<App>,
    evaluations: Mutex<Evaluations>,
}

impl FromRef<Arc<Gym>> for Bodies {
    fn from_ref(gym: &Arc<Gym>) -> Self {
        gym.app.bodies.clone()
    }
}

pub(crate) fn routes(app: Arc<App>) -> Router {
    let gym = Gym {
        app,
        evaluations: Mutex::default(),
    };
    Router::new()
        .route("/evaluate", post(evaluate))
        .route("/status/{id}", get(status))
        .route("/results/{id}", get(results))
        .with_state(Arc::new(gym))
}

/// What its client sends, as far as it matters.
#[derive(Debug, Deserialize)]
struct Asked {
    task_id: String,
    #[serde(default)]
    reference_code: String,
    kernel_code: String,
    #[serde(default)]
    timeout: Option<f64>,
}

/// What its client reads.
#[derive(Debug, Clone, Serialize)]
struct Answered {
    task_id: String,
    status: &'static str,
    compiled: bool,
    correctness: bool,
    decoy_kernel: bool,
    reference_runtime: Option<f64>,
    kernel_runtime: Option<f64>,
    speedup: f64,
    metadata: Map<String, Value>,
    error_message: Option<String>,
    error_code: Option<&'static str>,
    processing_time: f64,
}

/// Evaluations by name, the oldest forgotten first.
#[derive(Default)]
struct Evaluations {
    by_name: HashMap<String, Answered>,
    order: VecDeque<String>,
}

impl Evaluations {
    fn keep(&mut self, answered: Answered) {
        let name = answered.task_id.clone();
        if self.by_name.insert(name.clone(), answered).is_none() {
            self.order.push_back(name);
        }
        if self.order.len() > KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_name.remove(&oldest);
        }
    }
}

/// Judges a candidate in `KernelGYM`'s words.
async fn evaluate(
    State(gym): State<Arc<Gym>>,
    asked: Received<Asked>,
) -> Result<Json<Answered>, Fault> {
    let asked = asked.value;
    if asked.task_id.is_empty() || asked.task_id.len() > NAME {
        return Err(Fault::bad(format!("task_id has 1 to {NAME} characters")));
    }
    let judging = &gym.app.judging;
    let what = what(&judging.catalogue, &asked.reference_code)?;
    let deadline = judging.deadline(asked.timeout);
    let one = Submission::completion(what, asked.kernel_code);
    let graded = grade_one(judging, one, Some(&asked.task_id), deadline).await?;
    let answered = answer(asked.task_id, &graded);
    gym.evaluations
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .keep(answered.clone());
    Ok(Json(answered))
}

/// The task that a reference stands for.
fn what(catalogue: &Catalogue, reference: &str) -> Result<What, Fault> {
    let reference = reference.trim();
    let is = |text: &str| text.trim() == reference;
    let by_code = catalogue
        .all()
        .find(|task| is(&task.reference) || is(&task.seed));
    match by_code {
        Some(task) if !reference.is_empty() => Ok(What {
            task: Some(task.spec.name.clone()),
            ..What::default()
        }),
        _ => What::of(&Value::String(reference.to_owned())),
    }
}

fn answer(task_id: String, graded: &Graded) -> Answered {
    let verdict = graded.verdict();
    let (compiled, error_code) = match verdict {
        Verdict::Malformed { .. } | Verdict::Refused { .. } => (false, Some("VALIDATION_ERROR")),
        Verdict::NotCompiled { .. } => (false, Some("COMPILATION_ERROR")),
        Verdict::TimedOut { during, .. } => (
            *during == hotloop_flow::verdict::Phase::Run,
            Some("TIMEOUT_ERROR"),
        ),
        Verdict::Crashed { .. } => (true, Some("RUNTIME_ERROR")),
        Verdict::Wrong(_) => (true, Some("CORRECTNESS_ERROR")),
        Verdict::Suspect { .. } | Verdict::Correct(_) => (true, None),
    };
    let right = matches!(verdict, Verdict::Correct(_) | Verdict::Suspect { .. });
    let metadata = json!({
        "verdict": verdict.label(),
        "reward": graded.reward,
        "task": graded.work.task.spec.name,
        "gflops": verdict.measured().and_then(hotloop_flow::Measured::gflops),
        "timing": verdict.measured().map(|measured| measured.timing.clone()),
    });
    Answered {
        task_id,
        status: "completed",
        compiled,
        correctness: right,
        decoy_kernel: false,
        reference_runtime: graded.context.seed_s.map(|seconds| seconds * 1e3),
        kernel_runtime: verdict.measured().map(|measured| measured.seconds * 1e3),
        // A suspect one is worth what the seed is.
        speedup: graded.speedup().unwrap_or(if right { 1.0 } else { 0.0 }),
        metadata: metadata.as_object().cloned().unwrap_or_default(),
        error_message: Some(verdict.detail()).filter(|detail| !detail.is_empty()),
        error_code,
        processing_time: graded.judgement.seconds.total,
    }
}

fn kept(gym: &Gym, id: &str) -> Result<Answered, Fault> {
    let evaluations = gym
        .evaluations
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    evaluations
        .by_name
        .get(id)
        .cloned()
        .ok_or_else(|| Fault::unknown(format!("there is no evaluation `{}`", tame(id))))
}

/// Whether an evaluation is there; those under way are unknown until they are.
async fn status(State(gym): State<Arc<Gym>>, Path(id): Path<String>) -> Result<Json<Value>, Fault> {
    let answered = kept(&gym, &id)?;
    Ok(Json(
        json!({"task_id": answered.task_id, "status": answered.status}),
    ))
}

/// An evaluation once more.
async fn results(
    State(gym): State<Arc<Gym>>,
    Path(id): Path<String>,
) -> Result<Json<Answered>, Fault> {
    Ok(Json(kept(&gym, &id)?))
}
