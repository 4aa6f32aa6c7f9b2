//! `GET /v1/runs`: the runs in the service's folder, read through their journals.
//!
//! A journal may hold gigabytes, and a run may go on for months. So one journal is read at a time,
//! part by part, and an answer holds a page of a run.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use hotloop_run::Followed;
use hotloop_run::report::RunReport;
use hotloop_run::store::{self, StoreError};
use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::notice::tame;
use crate::searches::is_name;

/// Maximum number of runs in the list.
const MOST: usize = 1000;
/// Maximum number of steps in an answer, and of ancestors of the fastest code.
const STEPS: usize = 1000;
const ANCESTORS: usize = 50;

/// The service's folder of runs.
struct Runs {
    folder: PathBuf,
    /// Runs that were read earlier, with the length of their journals at that time. Journals only
    /// grow.
    read: Mutex<HashMap<PathBuf, (u64, Listed)>>,
    /// The run of the last request, as far as it was read. Locked while a journal is read.
    last: Mutex<Option<Followed>>,
}

pub(crate) fn routes(folder: PathBuf) -> Router {
    let runs = Runs {
        folder,
        read: Mutex::default(),
        last: Mutex::default(),
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
        let lock = || self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let known = || {
            let length = std::fs::metadata(store::journal_path(path)).ok()?.len();
            let read = lock();
            let known = read.get(path).filter(|(then, _)| *then == length);
            Some((length, known.map(|(_, listed)| listed.clone())))
        };
        if let (_, Some(listed)) = known()? {
            return Some(listed);
        }
        let _reading = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody else may have read it meanwhile.
        let (length, listed_before) = known()?;
        if listed_before.is_some() {
            return listed_before;
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

impl Runs {
    /// The report on a run. What the last request has read of it is not read again.
    fn report(&self, path: &std::path::Path, name: String) -> Result<RunReport, StoreError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let known = last.take().filter(|known| known.directory() == path);
        let followed = last.insert(known.unwrap_or_else(|| Followed::new(path)));
        followed.catch_up()?;
        RunReport::of(path, name, followed.state())
    }
}

fn listed(path: &std::path::Path) -> Option<Listed> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let mut followed = Followed::new(path);
    if let Err(error) = followed.catch_up() {
        let status = format!("cannot be read: {error}");
        return Some(Listed {
            name,
            status,
            ..Listed::default()
        });
    }
    let state = followed.state();
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

/// Which page of a run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    /// The first step, from 0.
    #[serde(default)]
    from: u64,
}

/// A page of a run.
#[derive(Debug, Serialize)]
struct Shown {
    /// As `hotloop report --json` prints it, with the points and warnings of these steps alone.
    #[serde(flatten)]
    report: RunReport,
    /// The first step of the next page.
    next: Option<u64>,
}

impl Shown {
    fn new(mut report: RunReport, from: u64) -> Self {
        let here = page(report.points.iter().map(|point| point.step), from);
        report.points.retain(|point| here.contains(&point.step));
        report.warnings.retain(|(step, _)| here.contains(step));
        if let Some(best) = &mut report.best {
            let older = best.lineage.len().saturating_sub(ANCESTORS);
            best.lineage.drain(..older);
        }
        Self {
            report,
            next: Some(here.end).filter(|next| *next < u64::MAX),
        }
    }
}

/// The steps of a page, whose end is the next page's first; the last page has none.
fn page(steps: impl Iterator<Item = u64>, from: u64) -> Range<u64> {
    let mut later = steps.filter(|step| *step >= from);
    from..later.nth(STEPS).unwrap_or(u64::MAX)
}

/// One run, a page of it.
async fn show(
    State(runs): State<Arc<Runs>>,
    Path(name): Path<String>,
    page: Result<Query<Page>, QueryRejection>,
) -> Result<Json<Shown>, Fault> {
    let Query(page) = page.map_err(|rejection| Fault::bad(rejection.body_text()))?;
    let unknown = || Fault::unknown(format!("there is no run `{}`", tame(&name)));
    if !is_name(&name) {
        return Err(unknown());
    }
    let path = runs.folder.join(&name);
    if !store::journal_path(&path).is_file() {
        return Err(unknown());
    }
    reading(move || {
        let report = runs.report(&path, name);
        let report = report.map_err(|error| Fault::new(StatusCode::CONFLICT, error.to_string()))?;
        Ok(Shown::new(report, page.from))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_is_told_in_pages() {
        assert_eq!(page(0..2500, 0), 0..1000);
        assert_eq!(page(0..2500, 1000), 1000..2000);
        assert_eq!(page(0..2500, 2000), 2000..u64::MAX);
        assert_eq!(page(0..1000, 0), 0..u64::MAX);
        assert_eq!(page(0..0, 7), 7..u64::MAX);
    }
}
