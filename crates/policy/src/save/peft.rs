//! Adapters in PEFT's format: `adapter_config.json` and `adapter_model.safetensors`.
//!
//! The base's fingerprint is in the metadata of the safetensors file. PEFT warns about unknown keys
//! in its settings and advises an upgrade that would not help.

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::atomic::{self, SaveError};
use super::tensors::{self, Storage};
use crate::load::TensorFiles;
use crate::load_error::{LoadError, Problem};
use crate::model::{Adapter, Config, LoraConfig, Module};

/// The metadata key of the base's fingerprint.
const BASE_NOTE: &str = "base_model_blake3";

/// The model that an adapter was trained on. It fits no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// Its name or path.
    pub name: String,
    /// Its weights' fingerprint.
    pub hash: String,
}

/// PEFT's keys for adapters that compute something other than plain `LoRA`. `fan_in_fan_out` is not
/// among them, because PEFT ignores it for the linear layers of these models.
const VARIANTS: [&str; 10] = [
    "use_rslora",
    "use_dora",
    "rank_pattern",
    "alpha_pattern",
    "modules_to_save",
    "lora_bias",
    "trainable_token_indices",
    "layer_replication",
    "alora_invocation_tokens",
    "use_qalora",
];

#[derive(Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the file has them")]
struct Settings {
    peft_type: String,
    task_type: Option<String>,
    base_model_name_or_path: Option<String>,
    r: usize,
    lora_alpha: f32,
    lora_dropout: f32,
    target_modules: Value,
    bias: String,
    #[serde(default)]
    use_rslora: bool,
    #[serde(default)]
    use_dora: bool,
    #[serde(default)]
    rank_pattern: Value,
    #[serde(default)]
    alpha_pattern: Value,
    #[serde(default)]
    modules_to_save: Value,
    inference_mode: bool,
    fan_in_fan_out: bool,
}

/// Writes an adapter.
pub fn adapter(directory: &Path, adapter: &Adapter, base: &Base) -> Result<(), SaveError> {
    atomic::directory(directory, |to| write(to, adapter, base))
}

pub(super) fn write(to: &Path, adapter: &Adapter, base: &Base) -> std::io::Result<()> {
    let config = &adapter.config;
    let settings = Settings {
        peft_type: "LORA".into(),
        task_type: Some("CAUSAL_LM".into()),
        base_model_name_or_path: Some(base.name.clone()),
        r: config.rank,
        lora_alpha: config.alpha,
        lora_dropout: config.dropout,
        target_modules: config.targets.iter().map(|module| module.name()).collect(),
        bias: "none".into(),
        use_rslora: false,
        use_dora: false,
        rank_pattern: Value::Object(serde_json::Map::new()),
        alpha_pattern: Value::Object(serde_json::Map::new()),
        modules_to_save: Value::Null,
        inference_mode: true,
        fan_in_fan_out: false,
    };
    let json = serde_json::to_string_pretty(&settings).map_err(std::io::Error::other)?;
    fs_err::write(to.join("adapter_config.json"), json)?;
    let all = adapter
        .tensors()
        .into_iter()
        .map(|tensor| (tensor.name.clone(), &tensor.shape[..], &tensor.data[..]));
    tensors::write(
        &to.join("adapter_model.safetensors"),
        all,
        &[(BASE_NOTE, &base.hash)],
        Storage::F32,
    )
}

/// The settings of an adapter.
pub fn adapter_config(directory: &Path) -> Result<LoraConfig, LoadError> {
    let path = directory.join("adapter_config.json");
    atomic::settle(directory).map_err(|error| Problem::from(error).at(directory))?;
    read_settings(&path)
        .map(|(config, _)| config)
        .map_err(|problem| problem.at(&path))
}

/// Reads an adapter for that model. An adapter with another base is refused.
pub fn load_adapter(
    directory: &Path,
    model: &Config,
    base_hash: &str,
) -> Result<Adapter, LoadError> {
    let path = directory.join("adapter_config.json");
    atomic::settle(directory).map_err(|error| Problem::from(error).at(directory))?;
    let (config, base_name) = read_settings(&path).map_err(|problem| problem.at(&path))?;
    let path = directory.join("adapter_model.safetensors");
    let files = TensorFiles::open_files(directory, std::slice::from_ref(&path))?;
    // Adapters from PEFT have no fingerprint.
    if let Some(hash) = files.note(BASE_NOTE).filter(|hash| *hash != base_hash) {
        let (key, found) = (BASE_NOTE.to_owned(), hash.to_owned());
        let wanted = format!(
            "the loaded model's is {base_hash}: this adapter was trained on `{base_name}` and fits \
             no other"
        );
        return Err(Problem::BadKey { key, found, wanted }.at(&path));
    }
    let adapter = Adapter::build(model, &config, |name, shape| files.tensor(name, shape))?;
    let asked: HashSet<&str> = adapter
        .tensors()
        .iter()
        .map(|tensor| tensor.name.as_str())
        .collect();
    if let Some(name) = files.names().filter(|name| !asked.contains(name)).min() {
        let wanted =
            "the engine's adapters are the two factors of each target and nothing else".into();
        return Err(Problem::BadKey {
            key: name.into(),
            found: "among the tensors".into(),
            wanted,
        }
        .at(&path));
    }
    Ok(adapter)
}

/// The settings, and the name of the base.
fn read_settings(path: &Path) -> Result<(LoraConfig, String), Problem> {
    let json: Value = serde_json::from_str(&fs_err::read_to_string(path)?)?;
    let settings = Settings::deserialize(&json)?;
    let bad = |key: &str, found: String, wanted: &str| Problem::BadKey {
        key: key.into(),
        found,
        wanted: wanted.into(),
    };
    if settings.peft_type != "LORA" {
        return Err(bad("peft_type", settings.peft_type, "only LORA is known"));
    }
    if settings.bias != "none" {
        return Err(bad(
            "bias",
            settings.bias,
            "the engine's adapters have no biases",
        ));
    }
    let is_set = |key: &&str| match &json[*key] {
        Value::Null | Value::Bool(false) => false,
        Value::Object(entries) => !entries.is_empty(),
        Value::Array(entries) => !entries.is_empty(),
        _ => true,
    };
    if let Some(key) = VARIANTS.into_iter().find(is_set) {
        return Err(bad(key, "set".into(), "the engine knows plain LoRA only"));
    }
    let mut targets: Vec<Module> = serde_json::from_value(settings.target_modules.clone())
        .map_err(|_| {
            bad(
                "target_modules",
                settings.target_modules.to_string(),
                "a list of q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj is needed",
            )
        })?;
    // PEFT stores a set in any order. A fixed order here makes tensors and optimiser state match.
    targets.sort_by_key(|module| *module as usize);
    let config = LoraConfig {
        rank: settings.r,
        alpha: settings.lora_alpha,
        dropout: settings.lora_dropout,
        targets,
    };
    Ok((config, settings.base_model_name_or_path.unwrap_or_default()))
}
