//! `GET /v1/tasks`: the tasks of the service.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use hotloop_flow::Task;
use serde::Serialize;

use crate::app::App;
use crate::fault::Fault;

/// A task in a line.
#[derive(Debug, Serialize)]
pub(crate) struct Listed {
    name: String,
    summary: String,
    signature: String,
    hash: String,
}

/// A task as a trainer needs it.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    #[serde(flatten)]
    listed: Listed,
    prompt: String,
    seed: String,
}

fn listed(task: &Task) -> Listed {
    Listed {
        name: task.spec.name.clone(),
        summary: task.spec.summary.clone(),
        signature: task.signature(),
        hash: task.hash.clone(),
    }
}

/// All tasks.
pub(crate) async fn list(State(app): State<Arc<App>>) -> Json<Vec<Listed>> {
    Json(
        app.judging
            .catalogue
            .all()
            .map(|task| listed(task))
            .collect(),
    )
}

/// One task: its prompt, and the candidate that a search starts from.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Json<Shown>, Fault> {
    let task = app.judging.catalogue.find(Some(&name))?;
    Ok(Json(Shown {
        listed: listed(&task),
        prompt: task.prompt.clone(),
        seed: task.seed.clone(),
    }))
}
