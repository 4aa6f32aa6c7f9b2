//! `KernelGYM`'s `/evaluate`, which cannot be answered yet.
//!
//! Its client sends only `PyTorch` modules, `class Model` and `class ModelNew`, and no bench here
//! judges those. It tries again at 429 and 503, and shows any other status with its reason. So the
//! reason says what is missing.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use hyper::ext::ReasonPhrase;

use crate::fault::Fault;

const UNSUPPORTED: &str = "KernelGYM evaluates PyTorch modules, which hotloop does not judge";

/// Says that evaluations are not supported.
pub(crate) async fn evaluate() -> Response {
    let fault = Fault::new(StatusCode::NOT_IMPLEMENTED, UNSUPPORTED)
        .hint("POST /v1/judge takes candidates in C");
    let mut response = fault.into_response();
    response
        .extensions_mut()
        .insert(ReasonPhrase::from_static(UNSUPPORTED.as_bytes()));
    response
}
