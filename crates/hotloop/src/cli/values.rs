//! Values on the command line that several commands take.

use std::str::FromStr;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use hotloop_flow::Reward;
use hotloop_flow::how::UnknownName;

/// Accepts one of the names, which the help lists.
pub(super) fn one_of<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = UnknownName> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}

/// Layers of the sandbox that may be left out.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LayerName {
    /// File access rules (Landlock).
    #[value(help = None)]
    Landlock,
    /// User and IPC namespaces.
    #[value(help = None)]
    Namespaces,
    /// A look at candidates as they run.
    #[value(help = None)]
    Watch,
}

/// A number of threads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Threads {
    /// One per physical core.
    All,
    /// That many.
    Number(u32),
}

pub(super) fn parse_threads(text: &str) -> Result<Threads, String> {
    if text == "all" {
        return Ok(Threads::All);
    }
    match text.parse() {
        Ok(0) | Err(_) => Err("is neither a number from 1 on nor `all`".to_owned()),
        Ok(number) => Ok(Threads::Number(number)),
    }
}

pub(super) fn parse_count(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|count| *count > 0)
        .ok_or("is not a whole number above 0".to_owned())
}

pub(super) fn parse_limit(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|limit| (0.001..=600.0).contains(limit))
        .ok_or("is not between 0.001 and 600".to_owned())
}

pub(super) fn above_zero(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|number: &f64| *number > 0.0 && number.is_finite())
        .ok_or("is not a number above 0".to_owned())
}

pub(super) fn parse_reward(text: &str) -> Result<Reward, String> {
    text.parse()
        .map_err(|error: hotloop_flow::reward::RewardError| error.to_string())
}
