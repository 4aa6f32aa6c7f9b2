//! Reads a request's body without letting a client fill the memory or hold a connection for ever.

use std::sync::Arc;

use axum::body;
use axum::extract::{FromRef, FromRequest, Request};
use axum::http::{StatusCode, header};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::fault::Fault;
use crate::keys;
use crate::settings::Limits;

/// Bytes of one permit.
const UNIT: usize = 1024;
/// The most memory that a value takes for each mark in its JSON. Two bytes may become a hundred:
/// `{}` is a candidate.
const MARK: usize = 256;

/// A body that was read as JSON. Dropping it gives its share of the memory back.
pub(crate) struct Received<T> {
    pub(crate) value: T,
    _share: OwnedSemaphorePermit,
}

/// What a request's body may hold. It refuses keys that it does not know.
pub(crate) trait Body: DeserializeOwned {
    /// Names a key in `body` that is not known here, if that is why it cannot be read.
    fn unknown_key(body: &Value) -> Option<Fault> {
        keys::unknown(body, keys::of::<Self>())
    }
}

/// Why a body cannot be read.
fn unreadable<T: Body>(json: &[u8], error: &serde_json::Error) -> Fault {
    serde_json::from_slice(json)
        .ok()
        .and_then(|body| T::unknown_key(&body))
        .unwrap_or_else(|| Fault::bad(format!("the body is not what is expected here: {error}")))
}

/// The memory that all bodies share, and what one of them may take.
#[derive(Clone)]
pub(crate) struct Bodies {
    units: Arc<Semaphore>,
    limits: Arc<Limits>,
}

fn units(bytes: usize) -> usize {
    bytes.div_ceil(UNIT).max(1)
}

impl Bodies {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            units: Arc::new(Semaphore::new(units(limits.bodies))),
            limits: Arc::new(limits),
        }
    }

    fn take(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Fault> {
        self.take_units(units(bytes))
    }

    fn take_units(&self, units: usize) -> Result<OwnedSemaphorePermit, Fault> {
        Arc::clone(&self.units)
            .try_acquire_many_owned(units as u32)
            .map_err(|_| {
                Fault::later(
                    "too many bodies are being read or judged",
                    std::time::Duration::from_secs(1),
                )
            })
    }

    /// Reserves memory for the values in this JSON before they are made.
    pub(crate) fn room(&self, json: &[u8]) -> Result<OwnedSemaphorePermit, Fault> {
        let (needed, most) = (marks(json).saturating_mul(MARK), self.limits.bodies);
        if units(needed) + units(json.len()) > units(most) {
            let what = format!(
                "the body holds too many values: they take {needed} bytes, and all bodies have {most}"
            );
            return Err(Fault::new(StatusCode::PAYLOAD_TOO_LARGE, what)
                .hint("send fewer candidates at once"));
        }
        self.take(needed)
    }

    /// Reserves memory for a text and for the values in it.
    pub(crate) fn room_with(&self, json: &[u8]) -> Result<OwnedSemaphorePermit, Fault> {
        let mut share = self.take(json.len())?;
        share.merge(self.room(json)?);
        Ok(share)
    }

    fn too_large(&self) -> Fault {
        let what = format!("the body is larger than {} bytes", self.limits.body);
        Fault::new(StatusCode::PAYLOAD_TOO_LARGE, what).hint("send fewer candidates at once")
    }

    /// The whole body and its share of the memory.
    async fn read(&self, request: Request) -> Result<(Vec<u8>, OwnedSemaphorePermit), Fault> {
        let length = request.headers().get(header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        if length.is_some_and(|length| length > self.limits.body) {
            return Err(self.too_large());
        }
        tokio::time::timeout(self.limits.patience, self.collect(request.into_body()))
            .await
            .map_err(|_| Fault::new(StatusCode::REQUEST_TIMEOUT, "the body did not come in time"))?
    }

    /// The share grows with what has come, so that promises take nothing from others.
    async fn collect(
        &self,
        mut body: body::Body,
    ) -> Result<(Vec<u8>, OwnedSemaphorePermit), Fault> {
        let mut bytes = Vec::new();
        let mut share = self.take(0)?;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| Fault::bad("the body was cut off"))?;
            // Trailers are no part of it.
            let Ok(data) = frame.into_data() else {
                continue;
            };
            let needed = bytes.len() + data.len();
            if needed > self.limits.body {
                return Err(self.too_large());
            }
            if needed > bytes.capacity() {
                // A quarter more, so that a long body is not moved for each of its parts.
                let capacity = (needed + needed / 4).min(self.limits.body);
                let missing = units(capacity).saturating_sub(share.num_permits());
                share.merge(self.take_units(missing)?);
                bytes.reserve_exact(capacity - bytes.len());
            }
            bytes.extend_from_slice(&data);
        }
        bytes.shrink_to_fit();
        drop(share.split(share.num_permits().saturating_sub(units(bytes.len()))));
        Ok((bytes, share))
    }
}

impl<S: Send + Sync, T: Body> FromRequest<S> for Received<T>
where
    Bodies: FromRef<S>,
{
    type Rejection = Fault;

    async fn from_request(request: Request, state: &S) -> Result<Self, Fault> {
        let bodies = Bodies::from_ref(state);
        let (mut bytes, mut share) = bodies.read(request).await?;
        if bytes.is_empty() {
            bytes.extend(b"{}");
        }
        let bytes = bytes.as_slice();
        // serde reads a list where an object is meant; a person who sends one made a mistake.
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(Fault::bad(
                "the body is not what is expected here: not a JSON object",
            ));
        }
        share.merge(bodies.room(bytes)?);
        let value =
            serde_json::from_slice(bytes).map_err(|error| unreadable::<T>(bytes, &error))?;
        Ok(Self {
            value,
            _share: share,
        })
    }
}

/// How many brackets, commas and colons stand outside of JSON's strings.
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
