//! The tasks of a run: a string with commas between, or a list, in which a path may hold a comma.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// The run's own task, and behind it those that it practises.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Tasks {
    /// Names and folders, separated by commas.
    Text(String),
    /// Each by itself.
    List(Vec<String>),
}

impl Tasks {
    /// The names and folders, in order.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Text(text) => text.split(',').map(str::trim).collect(),
            Self::List(names) => names.iter().map(|name| name.trim()).collect(),
        }
    }

    /// What to write instead of a text that was taken apart at the comma of a folder's name.
    pub(crate) fn taken_apart(&self) -> Option<String> {
        match self {
            Self::Text(text) if text.contains(',') && Path::new(text.trim()).is_dir() => {
                let list = toml::Value::from(vec![text.trim()]);
                Some(format!(
                    "a folder whose name holds a comma is written in a list: task = {list}"
                ))
            }
            Self::Text(_) | Self::List(_) => None,
        }
    }
}

impl std::fmt::Display for Tasks {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => formatter.write_str(text),
            Self::List(names) => formatter.write_str(&names.join(", ")),
        }
    }
}
