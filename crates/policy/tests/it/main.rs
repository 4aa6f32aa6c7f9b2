//! Tests of the engine as its users see it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod fixture;
mod golden;
mod loading;
mod saving;
