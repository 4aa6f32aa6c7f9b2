//! Tests of the engine's public interface.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::print_stderr, reason = "a test without its model says so")]

mod api;
mod bf16;
mod engine;
mod fixture;
mod gguf;
mod golden;
mod learning;
mod loading;

mod real_models;
mod sampling;
mod saving;
