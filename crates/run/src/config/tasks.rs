//! The tasks of a run: a comma-separated string, or a list, whose paths may contain commas.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// The run's own task, followed by the practised ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Tasks {
    /// Names and folders, separated by commas.
    Text(String),
    /// One name or folder per entry.
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

    /// What to write instead of a string that was split at a comma inside a folder's name.
    pub(crate) fn taken_apart(&self) -> Option<String> {
        match self {
            Self::Text(text) if text.contains(',') && Path::new(text.trim()).is_dir() => {
                let list = toml::Value::from(vec![text.trim()]);
                Some(format!(
                    "a folder whose name contains a comma must be in a list: task = {list}"
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
