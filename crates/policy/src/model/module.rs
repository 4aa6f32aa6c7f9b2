//! The projections of a layer.

use serde::{Deserialize, Serialize};

use super::config::Config;

/// The projections of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Module {
    /// Query.
    #[serde(rename = "q_proj")]
    Q,
    /// Key.
    #[serde(rename = "k_proj")]
    K,
    /// Value.
    #[serde(rename = "v_proj")]
    V,
    /// Output of attention.
    #[serde(rename = "o_proj")]
    O,
    /// Gate of the MLP.
    #[serde(rename = "gate_proj")]
    Gate,
    /// Up of the MLP.
    #[serde(rename = "up_proj")]
    Up,
    /// Down of the MLP.
    #[serde(rename = "down_proj")]
    Down,
}

impl Module {
    /// All projections, in the order they are stored.
    pub const ALL: [Self; 7] = [
        Self::Q,
        Self::K,
        Self::V,
        Self::O,
        Self::Gate,
        Self::Up,
        Self::Down,
    ];

    /// Its name in PEFT's `target_modules`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Q => "q_proj",
            Self::K => "k_proj",
            Self::V => "v_proj",
            Self::O => "o_proj",
            Self::Gate => "gate_proj",
            Self::Up => "up_proj",
            Self::Down => "down_proj",
        }
    }

    /// Its path inside a layer.
    pub fn path(self) -> String {
        let part = match self {
            Self::Q | Self::K | Self::V | Self::O => "self_attn",
            Self::Gate | Self::Up | Self::Down => "mlp",
        };
        format!("{part}.{}", self.name())
    }

    /// Outputs and inputs.
    pub fn shape(self, config: &Config) -> (usize, usize) {
        match self {
            Self::Q => (config.q_width(), config.hidden),
            Self::K | Self::V => (config.kv_width(), config.hidden),
            Self::O => (config.hidden, config.q_width()),
            Self::Gate | Self::Up => (config.ffn, config.hidden),
            Self::Down => (config.hidden, config.ffn),
        }
    }
}

impl std::str::FromStr for Module {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = Self::ALL.into_iter().find(|module| module.name() == text);
        named.ok_or_else(|| {
            format!(
                "no such projection; there are {}",
                Self::ALL.map(Self::name).join(", ")
            )
        })
    }
}
