//! Models from files: Hugging Face directories with safetensors, and GGUF.
//!
//! Tensors are read one at a time, as f32 and under their Hugging Face names, whatever their names
//! in the file are. Frozen matrices may be kept in bf16. Each is rounded as soon as it is read.

mod gguf;
mod gguf_blocks;
mod gguf_model;
mod hf_config;
mod safetensors;

use std::collections::BTreeMap;
use std::path::Path;

pub use crate::load_error::{LoadError, Problem};
pub(crate) use hf_config::to_json as config_to_json;

use self::gguf_model::GgufModel;
pub(crate) use self::safetensors::TensorFiles;
use crate::model::{Config, Fingerprint, Values, Weights};
use crate::precision::Precision;
use crate::text::Text;

/// A model on disk: its shape, its tensors one by one, and its tokenizer.
pub struct Checkpoint {
    /// Its shape.
    pub config: Config,
    source: Source,
}

enum Source {
    HuggingFace(TensorFiles),
    Gguf(GgufModel),
}

impl Checkpoint {
    /// Opens a directory with `config.json` and safetensors, or a GGUF file.
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        if path.is_dir() {
            let config = hf_config::read(path)?;
            let files = TensorFiles::open(path)?;
            check_depth(&config, &files)?;
            return Ok(Self {
                config,
                source: Source::HuggingFace(files),
            });
        }
        let is_part = path
            .extension()
            .is_some_and(|kind| kind == "safetensors" || kind == "json");
        if is_part && path.with_file_name("config.json").exists() {
            return Err(Problem::PartOfModel.at(path));
        }
        let (config, model) = GgufModel::open(path)?;
        Ok(Self {
            config,
            source: Source::Gguf(model),
        })
    }

    /// One tensor by its Hugging Face name.
    pub fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, LoadError> {
        match &self.source {
            Source::HuggingFace(files) => files.tensor(name, shape),
            Source::Gguf(model) => model.tensor(name, shape),
        }
    }

    /// The storage formats, with the number of values in each.
    pub fn kinds(&self) -> BTreeMap<String, u64> {
        let mut kinds = BTreeMap::new();
        let mut add = |(kind, values): (String, u64)| *kinds.entry(kind).or_default() += values;
        match &self.source {
            Source::HuggingFace(files) => files.stored().for_each(&mut add),
            Source::Gguf(model) => model.stored().for_each(&mut add),
        }
        kinds
    }

    /// Whether the file stores that tensor in 16 bits or fewer.
    fn is_narrow(&self, name: &str) -> bool {
        match &self.source {
            Source::HuggingFace(files) => files.is_narrow(name),
            Source::Gguf(model) => model.is_narrow(name),
        }
    }

    /// All weights of a frozen model, and the fingerprint of the file's values. Matrices have this
    /// precision. Without one, a matrix is bf16 if the file stores it in 16 bits or fewer.
    pub fn frozen(&self, precision: Option<Precision>) -> Result<(Weights, String), LoadError> {
        let mut fingerprint = Fingerprint::default();
        let weights = Weights::build(&self.config, |name, shape| {
            let data = self.tensor(name, shape)?;
            // The fingerprint covers the values before rounding, so that an adapter fits its base
            // in either precision.
            fingerprint.add(name, shape, &data);
            let rounds = match precision {
                Some(Precision::Bf16) => true,
                Some(Precision::F32) => false,
                None => self.is_narrow(name),
            };
            let values = Values::from(data);
            Ok(if rounds && shape.len() == 2 {
                values.rounded()
            } else {
                values
            })
        })?;
        Ok((weights, fingerprint.finish()))
    }

    /// All weights in f32.
    pub fn weights(&self) -> Result<Weights, LoadError> {
        Weights::build(&self.config, |name, shape| self.tensor(name, shape))
    }

    /// The tokenizer and the chat template.
    pub fn text(&self) -> Result<Text, LoadError> {
        match &self.source {
            Source::HuggingFace(files) => Text::from_directory(files.directory()),
            Source::Gguf(model) => model.text(),
        }
    }
}

/// Refuses a configuration with fewer layers than the files, because such a model would answer
/// badly.
fn check_depth(config: &Config, files: &TensorFiles) -> Result<(), LoadError> {
    let further = format!("model.layers.{}.", config.layers);
    let Some(name) = files
        .names()
        .filter(|name| name.starts_with(&further))
        .min()
    else {
        return Ok(());
    };
    let (key, found) = ("num_hidden_layers".to_owned(), config.layers.to_string());
    let problem = Problem::BadKey {
        key,
        found,
        wanted: format!("there is a tensor `{name}`"),
    };
    Err(problem.at(&files.directory().join("config.json")))
}
