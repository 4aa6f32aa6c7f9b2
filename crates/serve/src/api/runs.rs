//! `GET /v1/runs`: the runs in the service's folder, read through their journals.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use hotloop_run::report::Report;
use hotloop_run::{RunState, store};
use serde::Serialize;
use serde_json::Value;

use crate::fault::Fault;
use crate::notice::tame;
use crate::searches::is_name;

/// Maximum number of runs in the list.
const MOST: usize = 1000;

/// The service's folder of runs.
struct Runs {
    folder: PathBuf,
    /// Runs that were read earlier, with the length of their journals at that time. Journals only
    /// grow.
    read: Mutex<HashMap<PathBuf, (u64, Listed)>>,
}

pub(crate) fn routes(folder: PathBuf) -> Router {
    let runs = Runs {
        folder,
        read: Mutex::default(),
    };
    Router::new()
        .route("/v1/runs", get(list))
        .route("/v1/runs/{run}", get(show))
        .with_state(Arc::new(runs))
}

/// A run in a line.
#[derive(Debug, Clone, Default, Serialize)]
struct Listed {
    name: String,
    task: Option<String>,
    model: Option<String>,
    status: String,
    steps: u64,
    iterations: usize,
    seed_gflops: Option<f64>,
    best_gflops: Option<f64>,
    /// The unit of the speeds below: GFLOPS, or multiples of the seed's speed.
    unit: Option<&'static str>,
    seed_speed: Option<f64>,
    best_speed: Option<f64>,
}

/// All runs, by name.
async fn list(State(runs): State<Arc<Runs>>) -> Result<Json<Vec<Listed>>, Fault> {
    reading(move || {
        let Ok(entries) = fs_err::read_dir(&runs.folder) else {
            return Ok(Vec::new());
        };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut folders: Vec<PathBuf> = paths
            .filter(|path| store::journal_path(path).is_file())
            .collect();
        folders.sort();
        Ok(folders
            .iter()
            .take(MOST)
            .filter_map(|path| runs.remembered(path))
            .collect())
    })
    .await
    .map(Json)
}

impl Runs {
    /// A run in a line. It is read again only if its journal has grown.
    fn remembered(&self, path: &std::path::Path) -> Option<Listed> {
        let length = std::fs::metadata(store::journal_path(path)).ok()?.len();
        let lock = || self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, listed)) = lock().get(path).filter(|(then, _)| *then == length) {
            return Some(listed.clone());
        }
        let listed = listed(path)?;
        let mut read = lock();
        if read.len() >= MOST {
            read.clear();
        }
        read.insert(path.to_owned(), (length, listed.clone()));
        Some(listed)
    }
}

fn listed(path: &std::path::Path) -> Option<Listed> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let state = match RunState::read(path) {
        Ok(state) => state,
        Err(error) => {
            let status = format!("cannot be read: {error}");
            return Some(Listed {
                name,
                status,
                ..Listed::default()
            });
        }
    };
    let status = match (&state.ended, &state.paused) {
        (Some(why), _) => format!("ended: {why}"),
        (None, Some(why)) => format!("paused: {why}"),
        (None, None) => "open".to_owned(),
    };
    let gflops = |verdict: Option<&hotloop_flow::Verdict>| verdict?.measured()?.gflops();
    Some(Listed {
        name,
        task: state.started.as_ref().map(|started| started.task.clone()),
        model: state
            .started
            .as_ref()
            .map(|started| started.policy.model.clone()),
        status,
        steps: state.finished(),
        iterations: state.iterations.len(),
        seed_gflops: gflops(state.seed.as_ref().map(|seed| &seed.verdict)),
        best_gflops: gflops(state.best.as_ref().map(|best| &best.verdict)),
        unit: state.seed.as_ref().map(|_| state.pace().unit()),
        seed_speed: state.seed_speed(),
        best_speed: state.best.as_ref().map(|best| best.speed),
    })
}

/// One run, as `hotloop report --json` prints it.
async fn show(
    State(runs): State<Arc<Runs>>,
    Path(name): Path<String>,
) -> Result<Json<Value>, Fault> {
    let unknown = || Fault::unknown(format!("there is no run `{}`", tame(&name)));
    if !is_name(&name) {
        return Err(unknown());
    }
    let path = runs.folder.join(&name);
    if !store::journal_path(&path).is_file() {
        return Err(unknown());
    }
    reading(move || {
        let report = Report::read(&[path])
            .map_err(|error| Fault::new(StatusCode::CONFLICT, error.to_string()))?;
        let mut told = serde_json::to_value(report).unwrap_or_default();
        Ok(told
            .pointer_mut("/runs/0")
            .map(Value::take)
            .unwrap_or_default())
    })
    .await
    .map(Json)
}

/// Reads files on a thread that may wait for the disk.
async fn reading<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    tokio::task::spawn_blocking(read)
        .await
        .map_err(|_| Fault::bug())?
}
