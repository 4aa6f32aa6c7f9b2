//! A full model as a Hugging Face directory.

use std::path::Path;

use super::atomic::{self, SaveError};
use super::tensors::{self, Storage};
use crate::load::config_to_json;
use crate::model::{Config, Weights};
use crate::text::Text;

/// Writes `config.json`, `model.safetensors` and, if there is one, the tokenizer.
pub fn model(
    directory: &Path,
    config: &Config,
    weights: &Weights,
    text: Option<&Text>,
    storage: Storage,
) -> Result<(), SaveError> {
    atomic::directory(directory, |to| write(to, config, weights, text, storage))
}

pub(super) fn write(
    to: &Path,
    config: &Config,
    weights: &Weights,
    text: Option<&Text>,
    storage: Storage,
) -> std::io::Result<()> {
    let mut json = config_to_json(config);
    json["torch_dtype"] = storage.torch().into();
    fs_err::write(to.join("config.json"), format!("{json:#}\n"))?;
    let values: Vec<_> = weights
        .tensors()
        .into_iter()
        .map(|tensor| (tensor, tensor.data.widened()))
        .collect();
    let all = values
        .iter()
        .map(|(tensor, data)| (tensor.name.clone(), &tensor.shape[..], &data[..]));
    tensors::write(&to.join("model.safetensors"), all, &[], storage)?;
    if let Some(text) = text {
        fs_err::write(to.join("tokenizer.json"), text.json())?;
        fs_err::write(
            to.join("tokenizer_config.json"),
            format!("{:#}\n", text.settings_json()),
        )?;
    }
    Ok(())
}
