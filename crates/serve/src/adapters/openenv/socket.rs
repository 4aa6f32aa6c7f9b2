//! An episode on a connection of its own.

use std::sync::Arc;

use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};

use super::episode::{Action, Begin, Episode};
use crate::app::App;
use crate::body::Body;
use crate::notice::tame;
use crate::places::Places;
use crate::settings::Limits;

/// Clients wait 60 s for an answer on a socket.
const SOCKET_WAIT_S: f64 = 50.0;
/// The longest message on a socket: much more than a candidate.
const MESSAGE: usize = 1 << 20;

/// What comes over a socket.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Frame {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    data: Value,
}

/// Talks on a socket until it is closed, and then gives back what was `held` for it.
pub(super) fn open(
    app: &Arc<App>,
    upgrade: WebSocketUpgrade,
    held: impl Send + 'static,
) -> Response {
    let app = Arc::clone(app);
    let most = message_bytes(&app.limits);
    upgrade
        .max_message_size(most)
        .max_frame_size(most)
        .on_upgrade(async move |socket| {
            talk(app, socket).await;
            drop(held);
        })
}

/// The longest message on a socket.
fn message_bytes(limits: &Limits) -> usize {
    limits.body.clamp(1, MESSAGE)
}

/// Messages that are still coming may take as much memory as all bodies: so many sockets may be
/// open, half of them from one address.
pub(super) fn places(limits: &Limits) -> Arc<Places> {
    let sockets = (limits.bodies / message_bytes(limits)).max(2);
    Places::new(sockets, sockets / 2)
}

async fn talk(app: Arc<App>, mut socket: WebSocket) {
    let mut episode = None;
    // Someone who says nothing for long keeps a place from others.
    let patience = app.limits.keep;
    while let Ok(Some(Ok(message))) = tokio::time::timeout(patience, socket.recv()).await {
        let text = match &message {
            Message::Text(text) => text.as_str(),
            Message::Close(_) => break,
            Message::Binary(_) | Message::Ping(_) | Message::Pong(_) => continue,
        };
        let Some(reply) = answer(&app, &mut episode, text).await else {
            break;
        };
        let sent = tokio::time::timeout(
            app.limits.patience,
            socket.send(Message::text(reply.to_string())),
        );
        if !matches!(sent.await, Ok(Ok(()))) {
            break;
        }
    }
}

/// The reply to one frame; `None` when the client takes its leave.
async fn answer(app: &App, episode: &mut Option<Episode>, text: &str) -> Option<Value> {
    let error = |code: &str, what: String| {
        Some(json!({"type": "error", "data": {"message": what, "code": code}}))
    };
    let _share = match app.bodies.room_with(text.as_bytes()) {
        Ok(room) => room,
        Err(fault) => return error("EXECUTION_ERROR", fault.what),
    };
    let frame: Frame = match serde_json::from_str(text) {
        Ok(frame) => frame,
        Err(wrong) => return error("INVALID_JSON", wrong.to_string()),
    };
    let seen = match frame.kind.as_str() {
        "close" => return None,
        "state" => return Some(json!({"type": "state", "data": episode})),
        "reset" => match read::<Begin>(if frame.data.is_null() {
            json!({})
        } else {
            frame.data
        }) {
            Ok(begin) => Episode::begin(&app.judging, begin).map(|(begun, seen)| {
                *episode = Some(begun);
                seen
            }),
            Err(wrong) => return error("VALIDATION_ERROR", wrong),
        },
        "step" => match (read::<Action>(frame.data), episode.as_mut()) {
            (Ok(action), Some(episode)) => {
                let graded = episode
                    .judge(&app.judging, action, Some(SOCKET_WAIT_S))
                    .await;
                graded.and_then(|graded| episode.step(&graded))
            }
            (Ok(_), None) => return error("SESSION_ERROR", "reset comes before step".to_owned()),
            (Err(wrong), _) => return error("VALIDATION_ERROR", wrong),
        },
        other => {
            return error(
                "UNKNOWN_TYPE",
                format!("`{}` is not known here", tame(other)),
            );
        }
    };
    match seen {
        Ok(seen) => Some(json!({"type": "observation", "data": seen})),
        Err(fault) => error("EXECUTION_ERROR", fault.what),
    }
}

/// What came over a socket, read like a body.
fn read<T: Body>(data: Value) -> Result<T, String> {
    let unknown = T::unknown_key(&data);
    serde_json::from_value(data)
        .map_err(|error| unknown.map_or_else(|| error.to_string(), |fault| fault.told()))
}
