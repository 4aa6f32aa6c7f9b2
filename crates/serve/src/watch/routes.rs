//! What the page asks for. All routes read, and none changes anything.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use futures_util::stream;
use hotloop_flow::{Label, Role};
use hotloop_run::event::Place;
use hotloop_run::report::detail::{self, Detail};
use hotloop_run::report::listing::{self, Listing, Order, Wanted};
use hotloop_run::report::page;
use hotloop_run::report::view::Head;
use hotloop_run::store::StoreError;
use serde::Deserialize;
use serde_json::Value;

use super::follower::{Follower, Run};
use super::hooks::{Decode, Fleet};
use crate::fault::Fault;
use crate::hosts::Hosts;
use crate::notice::tame;

/// Maximum number of candidates in an answer.
const MOST: usize = 500;
/// How often the page hears of changes at most, and that the connection lives.
const PACE: std::time::Duration = std::time::Duration::from_millis(500);
const ALIVE: std::time::Duration = std::time::Duration::from_secs(15);

/// Only the page's own files run, and nothing from elsewhere is loaded.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

struct Page {
    follower: Arc<Follower>,
    decode: Decode,
    fleet: Option<Fleet>,
}

type Shared = State<Arc<Page>>;

pub(super) fn router(
    follower: Arc<Follower>,
    hosts: Hosts,
    decode: Decode,
    fleet: Option<Fleet>,
) -> Router {
    let page = Page {
        follower,
        decode,
        fleet,
    };
    Router::new()
        .route("/", get(|| async { text("text/html", page::live()) }))
        .route(
            "/page.js",
            get(|| async { text("text/javascript", page::script()) }),
        )
        .route(
            "/page.css",
            get(|| async { text("text/css", page::style()) }),
        )
        .route("/events", get(events))
        .route("/data/runs", get(runs))
        .route("/data/run", get(run))
        .route("/data/candidates", get(candidates))
        .route("/data/candidate", get(candidate))
        .route("/data/fleet", get(fleet_status))
        .with_state(Arc::new(page))
        .fallback(async || Fault::unknown("there is nothing here"))
        .layer(axum::middleware::from_fn_with_state(Arc::new(hosts), admit))
}

/// Answers only requests for a name of this machine, and keeps answers out of other hands.
async fn admit(State(hosts): State<Arc<Hosts>>, request: Request, next: Next) -> Response {
    let mut response = if hosts.admit(&request) {
        next.run(request).await
    } else {
        Fault::new(
            StatusCode::FORBIDDEN,
            "only requests to a name of this machine are served",
        )
        .hint("ask for localhost")
        .into_response()
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn text(kind: &str, text: String) -> Response {
    (
        [(header::CONTENT_TYPE, format!("{kind}; charset=utf-8"))],
        text,
    )
        .into_response()
}

async fn runs(State(page): Shared) -> Json<Vec<Head>> {
    Json(page.follower.heads())
}

/// All runs now, and again whenever one of them changed.
async fn events(State(page): Shared) -> Response {
    let mut changes = page.follower.changes();
    changes.mark_changed();
    let told = stream::unfold(
        (page, changes, String::new()),
        async |(page, mut changes, last)| {
            let next = loop {
                match tokio::time::timeout(ALIVE, changes.changed()).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return None,
                    Err(_) => break ": alive\n\n".to_owned(),
                }
                changes.mark_unchanged();
                let heads = serde_json::to_string(&page.follower.heads()).unwrap_or_default();
                let event = format!("event: runs\ndata: {heads}\n\n");
                if event != last {
                    break event;
                }
            };
            if !last.is_empty() {
                tokio::time::sleep(PACE).await;
            }
            let bytes = next.clone().into_bytes();
            Some((Ok::<_, Infallible>(bytes), (page, changes, next)))
        },
    );
    (
        [(header::CONTENT_TYPE, "text/event-stream")],
        Body::from_stream(told),
    )
        .into_response()
}

#[derive(Deserialize)]
struct Named {
    run: String,
}

impl Page {
    fn named(&self, name: &str) -> Result<Arc<Run>, Fault> {
        let run = self.follower.run_named(name);
        run.ok_or_else(|| Fault::unknown(format!("there is no run `{}`", tame(name))))
    }
}

async fn run(State(page): Shared, Query(asked): Query<Named>) -> Result<Response, Fault> {
    let run = page.named(&asked.run)?;
    let view = reading(move || run.view().map_err(|error| unreadable(&error))).await?;
    Ok(text("application/json", view.to_string()))
}

#[derive(Deserialize)]
struct Asked {
    run: String,
    #[serde(default)]
    verdict: String,
    #[serde(default)]
    stage: String,
    #[serde(default)]
    role: String,
    #[serde(default)]
    words: String,
    #[serde(default)]
    order: String,
    #[serde(default)]
    from: usize,
    #[serde(default)]
    count: usize,
}

impl Asked {
    fn wanted(&self) -> Result<Wanted, Fault> {
        let unknown =
            |key: &str, value: &str| Fault::bad(format!("{key}: `{}` is unknown", tame(value)));
        let some = |value: &str| (!value.is_empty()).then(|| value.to_owned());
        let label = some(&self.verdict).map(|name| {
            let named = Label::ALL.into_iter().find(|label| label.name() == name);
            named.ok_or_else(|| unknown("verdict", &name))
        });
        let role = some(&self.role).map(|name| {
            let named = Role::ALL.into_iter().find(|role| role.name() == name);
            named.ok_or_else(|| unknown("role", &name))
        });
        let stage = some(&self.stage).map(|text| text.parse().map_err(|_| unknown("stage", &text)));
        Ok(Wanted {
            labels: label.transpose()?.into_iter().collect(),
            role: role.transpose()?,
            stage: stage.transpose()?,
            words: self.words.clone(),
            order: match self.order.as_str() {
                "" | "newest" => Order::Newest,
                "fastest" => Order::Fastest,
                "rewarded" => Order::BestRewarded,
                other => return Err(unknown("order", other)),
            },
            from: self.from,
            count: self.count.min(MOST),
        })
    }
}

async fn candidates(
    State(page): Shared,
    Query(asked): Query<Asked>,
) -> Result<Json<Listing>, Fault> {
    let run = page.named(&asked.run)?;
    let wanted = asked.wanted()?;
    reading(move || Ok(listing::of(run.followed().state(), &wanted)))
        .await
        .map(Json)
}

#[derive(Deserialize)]
struct At {
    run: String,
    /// A place, `STEP-GROUP-MEMBER` counted from 0, or a candidate's hash.
    at: String,
}

fn place(text: &str) -> Option<Place> {
    let mut numbers = text.splitn(3, '-');
    Some(Place {
        step: numbers.next()?.parse().ok()?,
        group: numbers.next()?.parse().ok()?,
        member: numbers.next()?.parse().ok()?,
    })
}

async fn candidate(State(page): Shared, Query(asked): Query<At>) -> Result<Json<Detail>, Fault> {
    let run = page.named(&asked.run)?;
    let whole = move || {
        let followed = run.followed();
        let unknown = || Fault::unknown(format!("there is no candidate `{}`", tame(&asked.at)));
        let at = place(&asked.at).or_else(|| detail::birth(followed.state(), &asked.at));
        let at = at.ok_or_else(unknown)?;
        let found = detail::of(followed.state(), run.directory(), at)
            .map_err(|error| unreadable(&error))?;
        let mut detail = found.ok_or_else(unknown)?;
        let tokens = followed
            .tokens(at)
            .map_err(|error| unreadable(&error.into()))?;
        drop(followed);
        if let Some(tokens) = tokens {
            let decode = |tokens: &[u32]| (page.decode)(run.directory(), tokens);
            detail.prompt = decode(&tokens.prompt);
            detail.answer = decode(&tokens.answer);
        }
        Ok(detail)
    };
    reading(whole).await.map(Json)
}

async fn fleet_status(State(page): Shared) -> Result<Json<Value>, Fault> {
    reading(move || Ok(page.fleet.as_ref().map_or(Value::Null, |fleet| fleet())))
        .await
        .map(Json)
}

fn unreadable(error: &StoreError) -> Fault {
    Fault::new(StatusCode::CONFLICT, error.to_string()).hint(error.hint())
}

/// Reads and computes on a thread that may wait.
async fn reading<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    tokio::task::spawn_blocking(read)
        .await
        .map_err(|_| Fault::bug())?
}
