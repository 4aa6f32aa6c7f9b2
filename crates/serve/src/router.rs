//! Which request goes where.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::adapters::{kernelgym, openenv, openrlhf, sandbox_fusion, slime};
use crate::api::{about, judge, prompts, runs, tasks};
use crate::app::App;
use crate::fault::Fault;
use crate::guard::{self, Guard};

pub(crate) fn router(app: Arc<App>, run_folder: PathBuf, guard: Arc<Guard>) -> Router {
    Router::new()
        .route("/health", get(about::health))
        .route("/metrics", get(about::metrics))
        .route("/openapi.json", get(about::openapi))
        .route("/v1/judge", post(judge::judge))
        .route("/v1/tasks", get(tasks::list))
        .route("/v1/tasks/{task}", get(tasks::show))
        .route("/v1/prompts", post(prompts::next))
        .route("/get_reward", post(openrlhf::get_reward))
        .route("/rm", post(slime::rm))
        .route("/run_code", post(sandbox_fusion::run_code))
        .with_state(Arc::clone(&app))
        .merge(runs::routes(run_folder))
        .merge(kernelgym::routes(Arc::clone(&app)))
        .merge(openenv::routes(app))
        .fallback(nowhere)
        .layer(axum::middleware::from_fn_with_state(guard, guard::guard))
}

async fn nowhere() -> Fault {
    Fault::unknown("there is nothing here").hint("GET /openapi.json describes what there is")
}
