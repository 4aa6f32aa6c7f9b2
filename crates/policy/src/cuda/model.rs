//! A model on the device: its weights in one arena, and the angles of its rotation.

use super::arena::{Arena, Part, slices};
use super::device::{Buffer, Device};
use super::error::{Error, Result};
use super::plan::ModelPlan;
use crate::model::{Config, Weights};

/// A model on the device.
pub(super) struct Model {
    pub(super) config: Config,
    pub(super) plan: ModelPlan,
    pub(super) arena: Arena,
    /// (context, `head_dim` / 2) each.
    pub(super) cosines: Buffer,
    pub(super) sines: Buffer,
}

impl Model {
    /// Room for a model; the weights are still zero.
    pub(super) fn empty(device: &Device, config: &Config, trained: bool) -> Result<Self> {
        check(config)?;
        let plan = ModelPlan::new(config);
        let arena = Arena::new(
            device,
            "the model's weights",
            plan.matrices,
            plan.total,
            trained,
        )?;
        let frequencies = config.rope_frequencies();
        let angles =
            (0..config.context).flat_map(|at| frequencies.iter().map(move |f| at as f64 * f));
        let (sines, cosines): (Vec<f32>, Vec<f32>) = angles
            .map(|angle| (angle.sin() as f32, angle.cos() as f32))
            .unzip();
        let (cosines, sines) = (
            device.upload("angles", &cosines)?,
            device.upload("angles", &sines)?,
        );
        Ok(Self {
            config: config.clone(),
            plan,
            arena,
            cosines,
            sines,
        })
    }

    /// A model with these weights.
    pub(super) fn upload(
        device: &Device,
        config: &Config,
        weights: &Weights,
        trained: bool,
    ) -> Result<Self> {
        let model = Self::empty(device, config, trained)?;
        model.arena.push(
            Part::Value,
            &model.plan.places(),
            &slices(&weights.tensors()),
        )?;
        Ok(model)
    }

    /// The offset of the head's matrix in the arena.
    pub(super) fn head_offset(&self) -> usize {
        self.plan.head.unwrap_or(self.plan.embed).offset
    }

    /// Values in a qkv row.
    pub(super) fn qkv_width(&self) -> usize {
        self.config.q_width() + 2 * self.config.kv_width()
    }
}

/// Checks that the kernels support a shape. They read eight values at a time, and a warp holds one
/// head.
fn check(config: &Config) -> Result<()> {
    let widths = [
        ("hidden_size", config.hidden),
        ("intermediate_size", config.ffn),
        ("head_dim", config.head_dim),
    ];
    for (name, width) in widths {
        if !width.is_multiple_of(8) {
            return Err(Error::Shape(format!(
                "{name} is {width}, not a multiple of 8"
            )));
        }
    }
    if config.head_dim > 256 {
        return Err(Error::Shape(format!(
            "head_dim is {}, more than 256",
            config.head_dim
        )));
    }
    Ok(())
}
