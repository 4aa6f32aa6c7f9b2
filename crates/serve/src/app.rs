//! What all requests share, and which request goes where.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::routing::{get, post};
use hotloop_flow::{Reward, Task};
use tokio::sync::Semaphore;

use crate::adapters::{kernelgym, openenv, openrlhf, sandbox_fusion, slime};
use crate::api::{about, judge, prompts, runs, tasks};
use crate::body;
use crate::desk::{Desk, Factory};
use crate::fault::Fault;
use crate::guard::{self, Rates, Tokens};
use crate::metrics::Metrics;
use crate::notice::{Listener, patient, tame};
use crate::searches::Searches;
use crate::settings::Settings;
use crate::worth::Worth;

/// What all requests share.
pub(crate) struct App {
    pub(crate) settings: Settings,
    pub(crate) tokens: Tokens,
    pub(crate) rates: Rates,
    pub(crate) bodies: Arc<Semaphore>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) listener: Listener,
    pub(crate) desk: Desk,
    pub(crate) worth: Worth,
    pub(crate) searches: Searches,
    pub(crate) read: runs::Read,
    pub(crate) evaluations: Mutex<kernelgym::Evaluations>,
    pub(crate) episodes: Mutex<openenv::Episodes>,
}

impl App {
    pub(crate) fn new(settings: Settings, factory: Factory, listener: Listener) -> Self {
        let metrics = Arc::new(Metrics::default());
        let listener = patient(listener);
        Self {
            tokens: Tokens::new(&settings.tokens),
            rates: Rates::default(),
            bodies: Arc::new(Semaphore::new(body::units(settings.limits.bodies))),
            desk: Desk::start(
                settings.limits.clone(),
                factory,
                Arc::clone(&metrics),
                Arc::clone(&listener),
            ),
            worth: Worth::default(),
            searches: Searches::new(&settings),
            read: runs::Read::default(),
            evaluations: Mutex::default(),
            episodes: Mutex::default(),
            settings,
            metrics,
            listener,
        }
    }

    /// A task by its name. Names are only ever looked up among those that the service was started with.
    pub(crate) fn task(&self, name: Option<&str>) -> Result<Arc<Task>, Fault> {
        let names = || {
            self.settings
                .tasks
                .keys()
                .cloned()
                .collect::<Vec<_>>()
                .join(", ")
        };
        let Some(name) = name
            .filter(|name| !name.is_empty())
            .or(self.settings.task.as_deref())
        else {
            return Err(Fault::bad("no task is named").hint(format!("there are {}", names())));
        };
        let task = self.settings.tasks.get(name).cloned();
        task.ok_or_else(|| {
            Fault::unknown(format!("there is no task `{}`", tame(name)))
                .hint(format!("there are {}", names()))
        })
    }

    /// The reward that a request asks for, or the service's own.
    pub(crate) fn reward(&self, asked: Option<Reward>) -> Reward {
        asked.unwrap_or(self.settings.reward)
    }

    /// Refuses what was judged in part before the bench came back on another class of machine, and in part after.
    /// `since` is what [`Desk::changes`] said before the first part.
    pub(crate) fn one_class(&self, since: u64) -> Result<(), Fault> {
        if self.desk.changes() == since {
            return Ok(());
        }
        let what = "the bench came back on another class of machine meanwhile, and timings do not compare across classes";
        Err(Fault::later(what, std::time::Duration::from_secs(1))
            .hint("send the same request again: all of it is judged there"))
    }

    /// When a request that comes now must have its answer.
    pub(crate) fn deadline(&self, wait_s: Option<f64>) -> tokio::time::Instant {
        let most = self.settings.limits.wait;
        let wait = wait_s.filter(|wait| wait.is_finite()).map_or(most, |wait| {
            std::time::Duration::from_secs_f64(wait.clamp(0.0, most.as_secs_f64()))
        });
        tokio::time::Instant::now() + wait
    }
}

/// Which request goes where.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/health", get(about::health))
        .route("/metrics", get(about::metrics))
        .route("/openapi.json", get(about::openapi))
        .route("/v1/judge", post(judge::judge))
        .route("/v1/tasks", get(tasks::list))
        .route("/v1/tasks/{task}", get(tasks::show))
        .route("/v1/runs", get(runs::list))
        .route("/v1/runs/{run}", get(runs::show))
        .route("/v1/prompts", get(prompts::next))
        .route("/get_reward", post(openrlhf::get_reward))
        .route("/rm", post(slime::rm))
        .route("/run_code", post(sandbox_fusion::run_code))
        .route("/evaluate", post(kernelgym::evaluate))
        .route("/status/{id}", get(kernelgym::status))
        .route("/results/{id}", get(kernelgym::results))
        .route("/reset", post(openenv::reset))
        .route("/step", post(openenv::step))
        .route("/state", get(openenv::state))
        .route("/schema", get(openenv::schema))
        .route("/metadata", get(openenv::metadata))
        .route("/ws", get(openenv::ws))
        .fallback(nowhere)
        .layer(axum::middleware::from_fn_with_state(
            Arc::clone(&app),
            guard::guard,
        ))
        .with_state(app)
}

async fn nowhere() -> Fault {
    Fault::unknown("there is nothing here").hint("GET /openapi.json describes what there is")
}
