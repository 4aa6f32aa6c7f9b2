//! The Hugging Face hub: what a model's repository holds, and downloading its files.
//!
//! `select` says which files a model needs, `fetch` downloads one file however often the connection
//! breaks, and `place` knows where files lie on this machine.

mod client;
mod error;
mod fetch;
mod listing;
mod place;
mod select;
#[cfg(test)]
mod tests;

pub use client::Hub;
pub use error::HubError;
pub use fetch::{Wanted, Watch};
pub use listing::{Entry, Listing};
pub use place::{Place, snapshots};
pub use select::{Unfit, select};
