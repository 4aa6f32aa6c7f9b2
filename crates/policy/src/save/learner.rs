//! A learner on disk: the trained part and the optimiser's state, enough to continue bit for bit.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::atomic::{self, SaveError};
use super::peft::Base;
use super::tensors::Storage;
use super::{huggingface, peft, tensors};
use crate::load::{Checkpoint, TensorFiles};
use crate::load_error::{LoadError, Problem};
use crate::model::Tensor;
use crate::placed::Trained;
use crate::text::Text;
use crate::train::Learner;

#[derive(Serialize, Deserialize)]
struct Progress {
    steps: u64,
}

/// Writes an adapter or a full model, with the optimiser's state next to it.
pub fn learner(
    directory: &Path,
    learner: &Learner,
    base: &Base,
    text: Option<&Text>,
) -> Result<(), SaveError> {
    atomic::directory(directory, |to| {
        match &learner.model.trained {
            Trained::Lora(adapter) => peft::write(to, adapter, base)?,
            Trained::Full => {
                huggingface::write(
                    to,
                    &learner.model.network.config,
                    &learner.model.network.weights,
                    text,
                    Storage::F32,
                )?;
            }
        }
        let parameters = learner.model.parameters();
        let state =
            parameters
                .iter()
                .zip(&learner.optimiser.moments)
                .flat_map(|(tensor, moments)| {
                    let entry = |part: &str, data| {
                        (format!("{}.{part}", tensor.name), &tensor.shape[..], data)
                    };
                    [
                        entry("mean", &moments.mean[..]),
                        entry("square", &moments.square[..]),
                    ]
                });
        tensors::write(&to.join("optimiser.safetensors"), state, &[], Storage::F32)?;
        let progress = serde_json::to_string(&Progress {
            steps: learner.optimiser.steps,
        })?;
        fs_err::write(to.join("progress.json"), progress)
    })
}

/// Restores the files of `learner` into a learner of the same kind.
pub fn resume(directory: &Path, learner: &mut Learner, base_hash: &str) -> Result<(), LoadError> {
    atomic::settle(directory).map_err(|error| Problem::from(error).at(directory))?;
    let config = learner.model.network.config.clone();
    let path = directory.join("progress.json");
    let read = || -> Result<Progress, Problem> {
        Ok(serde_json::from_str(&fs_err::read_to_string(&path)?)?)
    };
    let progress = read().map_err(|problem| problem.at(&path))?;
    // Everything is read before anything changes, so a damaged checkpoint leaves the learner
    // unchanged.
    let values: Vec<Tensor> = match &learner.model.trained {
        Trained::Lora(adapter) => {
            let loaded = peft::load_adapter(directory, &config, base_hash)?;
            if loaded.config != adapter.config {
                let (found, wanted) = (
                    format!("{:?}", loaded.config),
                    format!("this run trains {:?}", adapter.config),
                );
                let problem = Problem::BadKey {
                    key: "adapter".into(),
                    found,
                    wanted,
                };
                return Err(problem.at(&directory.join("adapter_config.json")));
            }
            loaded.tensors().into_iter().cloned().collect()
        }
        Trained::Full => {
            let checkpoint = Checkpoint::open(directory)?;
            if checkpoint.config.tied != config.tied || checkpoint.config.family != config.family {
                let problem = Problem::BadShape(
                    "the checkpoint is of another kind of model than this run's".into(),
                );
                return Err(problem.at(&directory.join("config.json")));
            }
            let read = |tensor: &&Tensor| {
                let data = checkpoint.tensor(&tensor.name, &tensor.shape)?;
                Ok(Tensor {
                    name: tensor.name.clone(),
                    shape: tensor.shape.clone(),
                    data: data.into(),
                })
            };
            learner
                .model
                .network
                .weights
                .tensors()
                .iter()
                .map(read)
                .collect::<Result<_, LoadError>>()?
        }
    };
    let state = TensorFiles::open_files(directory, &[directory.join("optimiser.safetensors")])?;
    let mut moments = learner.optimiser.moments.clone();
    for (tensor, moments) in values.iter().zip(&mut moments) {
        moments.mean = state.tensor(&format!("{}.mean", tensor.name), &tensor.shape)?;
        moments.square = state.tensor(&format!("{}.square", tensor.name), &tensor.shape)?;
    }
    for (to, from) in learner.model.parameters_mut().into_iter().zip(values) {
        *to = from;
    }
    learner.optimiser.moments = moments;
    learner.optimiser.steps = progress.steps;
    Ok(())
}
