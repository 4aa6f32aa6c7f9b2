//! The Hugging Face hub: lists a model's repository and downloads its files.
//!
//! `select` chooses the files that a model needs. `fetch` downloads one file, however often the
//! connection breaks. `place` knows where files are on this machine.

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
