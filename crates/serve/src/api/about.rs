//! What a service says about itself.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use serde::Serialize;

use crate::app::App;
use crate::metrics::Look;
use crate::modules::Modules;

/// What the service offers, for programs.
const OPENAPI: &str = include_str!("../openapi.json");

#[derive(Serialize)]
struct Health {
    /// As `OpenEnv`'s clients expect it.
    status: &'static str,
    bench: String,
    waiting: usize,
    /// How the bench of modules does, where there is one.
    modules: Option<String>,
    version: &'static str,
}

/// 200 while the bench judges, 503 while it does not. It needs no token and reveals nothing else.
pub(crate) async fn health(State(app): State<Arc<App>>) -> impl IntoResponse {
    let look = app.judging.desk.look();
    let waiting = waiting(&app, &look);
    let (code, status, bench) = match look.bench {
        Ok(_) => (StatusCode::OK, "healthy", "judges".to_owned()),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, "unhealthy", error.what),
    };
    (
        code,
        Json(Health {
            status,
            bench,
            waiting,
            modules: app
                .modules
                .as_ref()
                .map(|modules| modules.trouble().unwrap_or_else(|| "judges".to_owned())),
            version: env!("CARGO_PKG_VERSION"),
        }),
    )
}

/// What waits for either bench.
fn waiting(app: &App, look: &Look) -> usize {
    look.waiting + app.modules.as_ref().map_or(0, Modules::waiting)
}

/// For Prometheus.
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    let mut look = app.judging.desk.look();
    look.waiting = waiting(&app, &look);
    (
        [(header::CONTENT_TYPE, "text/plain; version=0.0.4")],
        app.metrics.text(&look),
    )
}

/// What the service offers, for programs.
pub(crate) async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI)
}
