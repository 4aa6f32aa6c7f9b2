//! Answers to requests that fail.
//!
//! 4xx is the caller's to fix; 503 and 504 say that the same request may be sent again.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hotloop_flow::BenchError;
use serde::Serialize;

/// Why a request fails.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) status: StatusCode,
    pub(crate) what: String,
    hint: Option<String>,
    retry: Option<Duration>,
}

/// A fault as it is written on the wire.
#[derive(Serialize)]
struct Told<'a> {
    error: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

impl Fault {
    pub(crate) fn new(status: StatusCode, what: impl Into<String>) -> Self {
        Self {
            status,
            what: what.into(),
            hint: None,
            retry: None,
        }
    }

    /// The caller's mistake.
    pub(crate) fn bad(what: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, what)
    }

    /// Well formed, but its parts contradict each other or what is there.
    pub(crate) fn conflict(what: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, what)
    }

    /// There is no such thing.
    pub(crate) fn unknown(what: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, what)
    }

    /// Not now: the same request may be sent again, and joins what is under way.
    pub(crate) fn later(what: impl Into<String>, after: Duration) -> Self {
        Self {
            retry: Some(after),
            ..Self::new(StatusCode::SERVICE_UNAVAILABLE, what)
        }
    }

    /// The machine failed; never a reward.
    pub(crate) fn machine(error: &BenchError) -> Self {
        let fault = Self::later(
            format!("the machine failed: {}", error.what),
            Duration::from_secs(2),
        );
        Self {
            hint: error.hint.clone(),
            ..fault
        }
    }

    /// A bug in this service: a task panicked.
    pub(crate) fn bug() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "a bug in hotloop")
    }

    /// What failed and what may help, in one sentence.
    pub(crate) fn told(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{} ({hint})", self.what),
            None => self.what.clone(),
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let told = Told {
            error: &self.what,
            hint: self.hint.as_deref(),
        };
        let mut response = (self.status, Json(told)).into_response();
        let headers = response.headers_mut();
        if let Some(after) = self.retry {
            headers.insert(
                header::RETRY_AFTER,
                HeaderValue::from(after.as_secs().max(1)),
            );
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
