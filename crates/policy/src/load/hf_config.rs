//! `config.json` as transformers writes it, old and new.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::load_error::{LoadError, Problem};
use crate::model::{Config, Family, RopeScaling};

#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the file has them")]
struct Raw {
    model_type: String,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    intermediate_size: usize,
    vocab_size: usize,
    rms_norm_eps: f64,
    max_position_embeddings: usize,
    /// Up to transformers 4.
    rope_theta: Option<f64>,
    rope_scaling: Option<Value>,
    /// From transformers 5 on: theta and scaling together.
    rope_parameters: Option<Value>,
    #[serde(default)]
    tie_word_embeddings: bool,
    hidden_act: Option<String>,
    bos_token_id: Option<u32>,
    eos_token_id: Option<OneOrMany>,
    #[serde(default)]
    attention_bias: bool,
    #[serde(default)]
    mlp_bias: bool,
    #[serde(default)]
    use_sliding_window: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(u32),
    Many(Vec<u32>),
}

impl OneOrMany {
    fn into_vec(self) -> Vec<u32> {
        match self {
            Self::One(token) => vec![token],
            Self::Many(tokens) => tokens,
        }
    }
}

/// Reads `config.json`, and the end tokens from `generation_config.json` if it exists.
pub(super) fn read(directory: &Path) -> Result<Config, LoadError> {
    let path = directory.join("config.json");
    let mut config = read_config(&path).map_err(|problem| problem.at(&path))?;
    let path = directory.join("generation_config.json");
    if path.exists() {
        let more = read_eos(&path).map_err(|problem| problem.at(&path))?;
        let new: Vec<u32> = more
            .into_iter()
            .filter(|token| !config.eos.contains(token))
            .collect();
        config.eos.extend(new);
    }
    Ok(config)
}

fn read_eos(path: &Path) -> Result<Vec<u32>, Problem> {
    #[derive(Deserialize)]
    struct Generation {
        eos_token_id: Option<OneOrMany>,
    }
    let generation: Generation = serde_json::from_str(&fs_err::read_to_string(path)?)?;
    Ok(generation
        .eos_token_id
        .map(OneOrMany::into_vec)
        .unwrap_or_default())
}

fn read_config(path: &Path) -> Result<Config, Problem> {
    let text = fs_err::read_to_string(path)?;
    // The architecture comes first, so that the error for an unknown model names its architecture
    // and not a missing key.
    let value: Value = serde_json::from_str(&text)?;
    let model_type = value["model_type"]
        .as_str()
        .ok_or_else(|| Problem::MissingKey("model_type".into()))?;
    let family = Family::named(model_type)
        .ok_or_else(|| Problem::UnknownArchitecture(model_type.to_owned()))?;
    let raw: Raw = serde_json::from_str(&text)?;
    debug_assert_eq!(raw.model_type, family.model_type());
    refuse_variants(&raw)?;
    let rope = raw.rope_parameters.as_ref().or(raw.rope_scaling.as_ref());
    let theta = raw
        .rope_theta
        .or_else(|| rope.and_then(|rope| rope["rope_theta"].as_f64()))
        .unwrap_or(10000.0);
    let config = Config {
        family,
        hidden: raw.hidden_size,
        layers: raw.num_hidden_layers,
        heads: raw.num_attention_heads,
        kv_heads: raw.num_key_value_heads.unwrap_or(raw.num_attention_heads),
        head_dim: raw
            .head_dim
            .unwrap_or(raw.hidden_size / raw.num_attention_heads.max(1)),
        ffn: raw.intermediate_size,
        vocab: raw.vocab_size,
        norm_eps: raw.rms_norm_eps,
        rope_theta: theta,
        rope_scaling: rope.map(scaling).transpose()?.flatten(),
        tied: raw.tie_word_embeddings,
        context: raw.max_position_embeddings,
        bos: raw.bos_token_id,
        eos: raw
            .eos_token_id
            .map(OneOrMany::into_vec)
            .unwrap_or_default(),
    };
    config
        .fault()
        .map_or(Ok(config), |fault| Err(Problem::BadShape(fault)))
}

/// Refuses variants of the families that the engine does not compute.
fn refuse_variants(raw: &Raw) -> Result<(), Problem> {
    let refuse = |key: &str, found: &str, wanted: &str| {
        Err(Problem::BadKey {
            key: key.into(),
            found: found.into(),
            wanted: wanted.into(),
        })
    };
    if let Some(act) = raw.hidden_act.as_deref().filter(|act| *act != "silu") {
        return refuse("hidden_act", act, "the engine computes silu only");
    }
    if raw.attention_bias {
        return refuse(
            "attention_bias",
            "true",
            "the engine knows qwen2's biases only",
        );
    }
    if raw.mlp_bias {
        return refuse("mlp_bias", "true", "the engine's MLP has no biases");
    }
    if raw.use_sliding_window {
        return refuse(
            "use_sliding_window",
            "true",
            "the engine attends to the whole context; set it to false",
        );
    }
    Ok(())
}

fn scaling(rope: &Value) -> Result<Option<RopeScaling>, Problem> {
    let kind = rope["rope_type"]
        .as_str()
        .or_else(|| rope["type"].as_str())
        .unwrap_or("default");
    match kind {
        "default" => Ok(None),
        "llama3" => Ok(Some(serde_json::from_value(rope.clone())?)),
        other => Err(Problem::BadKey {
            key: "rope_type".into(),
            found: other.into(),
            wanted: "the engine knows `default` and `llama3`".into(),
        }),
    }
}

/// `config.json` that transformers 4 and 5 both read.
pub(crate) fn to_json(config: &Config) -> Value {
    let mut rope = json!({"rope_theta": config.rope_theta, "rope_type": "default"});
    if let Some(scaling) = &config.rope_scaling {
        rope = json!({
            "rope_theta": config.rope_theta,
            "rope_type": "llama3",
            "factor": scaling.factor,
            "low_freq_factor": scaling.low_freq_factor,
            "high_freq_factor": scaling.high_freq_factor,
            "original_max_position_embeddings": scaling.original_max_position_embeddings as u64,
        });
    }
    let mut out = json!({
        "architectures": [config.family.architecture()],
        "model_type": config.family.model_type(),
        "hidden_size": config.hidden,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads,
        "head_dim": config.head_dim,
        "intermediate_size": config.ffn,
        "vocab_size": config.vocab,
        "rms_norm_eps": config.norm_eps,
        "max_position_embeddings": config.context,
        "rope_theta": config.rope_theta,
        "rope_parameters": rope,
        "tie_word_embeddings": config.tied,
        "hidden_act": "silu",
        "attention_bias": false,
        "use_sliding_window": false,
        "bos_token_id": config.bos,
        "eos_token_id": config.eos,
    });
    if config.rope_scaling.is_some() {
        out["rope_scaling"] = out["rope_parameters"].clone();
    }
    out
}
