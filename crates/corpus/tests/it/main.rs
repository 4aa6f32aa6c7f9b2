//! The whole corpus: the properties of every candidate and record.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod candidates;
mod compiler;
mod cuda;
mod files;
mod pairs;
mod records;
mod runs; // folders of pairs whose sides were judged
mod tokens;

use hotloop_corpus::{Options, Pool};

/// A small corpus with all tasks, stages and roles.
const SMALL: Options = Options {
    seed: 7,
    programs: 4000,
    records: 4000,
    validation_percent: 10,
};

fn pool() -> &'static Pool {
    static POOL: std::sync::OnceLock<Pool> = std::sync::OnceLock::new();
    POOL.get_or_init(|| Pool::draw(SMALL.seed, SMALL.programs))
}
