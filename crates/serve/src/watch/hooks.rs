//! What the page asks of the program that serves it.

use std::path::Path;

use serde_json::Value;

/// Turns an answer's tokens into text, with the tokenizer of the run's model, if that is here.
pub type Decode = Box<dyn Fn(&Path, &[u32]) -> Option<String> + Send + Sync>;
/// The state of a fleet, as its status prints it.
pub type Fleet = Box<dyn Fn() -> Value + Send + Sync>;
