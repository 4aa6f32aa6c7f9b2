//! Reading a request's body without letting a client fill the memory or hold a place for ever.

use std::sync::Arc;

use axum::body::{self, Body};
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use serde::de::DeserializeOwned;
use tokio::sync::OwnedSemaphorePermit;

use crate::app::App;
use crate::fault::Fault;

/// Bodies are counted in these.
const UNIT: usize = 1024;
/// What is made of JSON takes so much for each of its marks at most. Two bytes may become a hundred: `{}` is a candidate.
const MARK: usize = 256;

/// A body that was read as JSON. Its share of the memory is given back when this is dropped.
pub(crate) struct Received<T> {
    pub(crate) value: T,
    _share: OwnedSemaphorePermit,
}

/// How many units all bodies together may have.
pub(crate) fn units(bytes: usize) -> usize {
    bytes.div_ceil(UNIT).max(1)
}

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Received<T> {
    type Rejection = Fault;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Fault> {
        let limit = app.settings.limits.body;
        let too_large = || {
            Fault::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("the body is larger than {limit} bytes"),
            )
            .hint("send fewer candidates at once")
        };
        let length = request.headers().get(header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        if length.is_some_and(|length| length > limit) {
            return Err(too_large());
        }
        // Who does not say how long it is may take as much as is allowed.
        let mut share = take(app, length.unwrap_or(limit))?;
        let reading = read(request.into_body(), limit);
        let bytes = tokio::time::timeout(app.settings.limits.patience, reading)
            .await
            .map_err(|_| Fault::new(StatusCode::REQUEST_TIMEOUT, "the body did not come in time"))?
            .map_err(|too_long| {
                if too_long {
                    too_large()
                } else {
                    Fault::bad("the body was cut off")
                }
            })?;
        let bytes = if bytes.is_empty() {
            b"{}".as_slice()
        } else {
            &bytes
        };
        // To the reader of JSON a list is as good as an object; to a person it is a mistake.
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(Fault::bad(
                "the body is not what is expected here: not a JSON object",
            ));
        }
        drop(share.split(share.num_permits().saturating_sub(units(bytes.len()))));
        share.merge(room(app, bytes)?);
        let value = serde_json::from_slice(bytes).map_err(|error| {
            Fault::bad(format!("the body is not what is expected here: {error}"))
        })?;
        Ok(Self {
            value,
            _share: share,
        })
    }
}

/// A share of the memory that all bodies have together.
fn take(app: &App, bytes: usize) -> Result<OwnedSemaphorePermit, Fault> {
    Arc::clone(&app.bodies)
        .try_acquire_many_owned(units(bytes) as u32)
        .map_err(|_| {
            Fault::later(
                "too many bodies are being read or judged",
                std::time::Duration::from_secs(1),
            )
        })
}

/// Room for what is made of JSON, taken before it is made.
pub(crate) fn room(app: &App, json: &[u8]) -> Result<OwnedSemaphorePermit, Fault> {
    let (needed, most) = (marks(json).saturating_mul(MARK), app.settings.limits.bodies);
    if units(needed) + units(json.len()) > units(most) {
        let what = format!(
            "the body holds too many values: they take {needed} bytes, and all bodies have {most}"
        );
        return Err(
            Fault::new(StatusCode::PAYLOAD_TOO_LARGE, what).hint("send fewer candidates at once")
        );
    }
    take(app, needed)
}

/// How often values of JSON begin or are told apart, outside of its texts.
fn marks(json: &[u8]) -> usize {
    let (mut count, mut in_text, mut escaped) = (0, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            b'[' | b'{' | b',' | b':' if !in_text => count += 1,
            _ => {}
        }
    }
    count
}

/// The whole body; `true` when it is longer than `limit`.
async fn read(body: Body, limit: usize) -> Result<body::Bytes, bool> {
    body::to_bytes(body, limit).await.map_err(|error| {
        let error: &(dyn std::error::Error + 'static) = &error;
        std::iter::successors(Some(error), |error| error.source())
            .any(<dyn std::error::Error>::is::<http_body_util::LengthLimitError>)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_counted_outside_of_texts() {
        assert_eq!(marks(b"{}"), 1);
        assert_eq!(marks(br#"{"a": [1, 2], "b": {}}"#), 7);
        assert_eq!(marks(br#"{"{,[:\\\",[\\": "," }"#), 2);
    }
}
