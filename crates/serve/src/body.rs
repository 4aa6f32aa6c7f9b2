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

/// A body that was read as JSON. Its share of the memory is given back when this is dropped.
pub(crate) struct Received<T> {
    pub(crate) value: T,
    _share: OwnedSemaphorePermit,
}

/// How many units all bodies together may have.
pub(crate) fn units(bytes: usize) -> usize {
    bytes.div_ceil(UNIT)
}

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Received<T> {
    type Rejection = Fault;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Fault> {
        let limit = app.settings.limits.body;
        let too_large = || {
            Fault::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body is larger than {limit} bytes"))
                .hint("send fewer candidates at once")
        };
        let length = request.headers().get(header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        if length.is_some_and(|length| length > limit) {
            return Err(too_large());
        }
        // Who does not say how long it is may take as much as is allowed.
        let share = units(length.unwrap_or(limit)).max(1) as u32;
        let share = Arc::clone(&app.bodies)
            .try_acquire_many_owned(share)
            .map_err(|_| Fault::later("too many bodies are being read", std::time::Duration::from_secs(1)))?;
        let reading = read(request.into_body(), limit);
        let bytes = tokio::time::timeout(app.settings.limits.patience, reading)
            .await
            .map_err(|_| Fault::new(StatusCode::REQUEST_TIMEOUT, "the body did not come in time"))?
            .map_err(|too_long| if too_long { too_large() } else { Fault::bad("the body was cut off") })?;
        let bytes = if bytes.is_empty() { b"{}".as_slice() } else { &bytes };
        // To the reader of JSON a list is as good as an object; to a person it is a mistake.
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(Fault::bad("the body is not what is expected here: not a JSON object"));
        }
        let value = serde_json::from_slice(bytes)
            .map_err(|error| Fault::bad(format!("the body is not what is expected here: {error}")))?;
        Ok(Self { value, _share: share })
    }
}

/// The whole body; `true` when it is longer than `limit`.
async fn read(body: Body, limit: usize) -> Result<body::Bytes, bool> {
    body::to_bytes(body, limit).await.map_err(|error| {
        let error: &(dyn std::error::Error + 'static) = &error;
        std::iter::successors(Some(error), |error| error.source())
            .any(|error| error.to_string().contains("length limit"))
    })
}
