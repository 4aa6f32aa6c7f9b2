//! The reward and search service for other trainers.
//!
//! ```text
//! many requests -> guard -> api | adapters -> judging -> desk -> one bench
//!                                                |
//!                                                searches -> run directories
//! ```
//!
//! - [`Settings`] say what is allowed; `check` refuses what is dangerous.
//! - `guard` admits requests by token and rate.
//! - `api` is hotloop's own interface, and `adapters` are those of other trainers.
//! - `judging` finds the code in a request and waits for verdicts.
//! - `desk` joins requests for one candidate to one job of one bench. A single thread owns the bench.
//! - `modules` has a desk of its own, for the bench that judges modules for torch.
//! - `searches` keeps the prompts and answers of other trainers in run directories.
//!
//! `watch` is a server of its own: a page that shows runs while they go on.
//!
//! A machine's failure is `null` or 5xx here, and never a number.

mod adapters;
mod api;
mod app;
mod asked;
mod board;
mod body;
mod catalogue;
mod desk;
mod fault;
mod guard;
mod hosts;
mod judging;
mod keys;
mod metrics;
mod modules;
mod notice;
mod places;
mod router;
mod searches;
mod server;
mod settings;
mod watch;
mod wire;
mod worth;

pub use desk::{Benches, Factory};
pub use notice::{Listener, Notice};
pub use server::Server;
pub use settings::{Limits, Problems, Refusal, Settings, check_token};
pub use watch::{Decode, Fleet, Watch, Watched};
