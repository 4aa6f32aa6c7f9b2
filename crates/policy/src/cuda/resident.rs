//! The state that stays on the device between passes: the model, its adapters, and the objects that
//! compute with them.

use super::arena::{Arena, Part, slices};
use super::batch::Batch;
use super::blas::Blas;
use super::chain::Chain;
use super::device::{Address, Device, Launch, args};
use super::error::Result;
use super::layer::{Pass, Sight};
use super::linear::{Adapted, DeviceAdapter};
use super::model::Model;
use super::plan::{AdapterPlan, Place};
use super::workspace::{Purpose, Size, Workspace};
use crate::model::{Adapter, Config};

/// What an engine on the device trains.
#[derive(Debug, Clone, Copy)]
pub enum Trains<'a> {
    Lora(&'a Adapter),
    /// All weights.
    Full,
}

/// The adapter of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum With {
    /// None.
    Nothing,
    /// The adapter in training, if an adapter is trained.
    Trained,
    /// The frozen adapter of the reference.
    Reference,
    /// No adapter, with the frozen copy of all weights.
    Copy,
}

/// The state that stays on the device between passes.
pub(super) struct Resident {
    pub(super) model: Model,
    pub(super) adapter: Option<DeviceAdapter>,
    pub(super) reference: Option<DeviceAdapter>,
    pub(super) copy: Option<Model>,
    /// The kernels of a decode step. Without them steps are decoded the plain way.
    pub(super) chain: Option<Chain>,
    pub(super) blas: Blas,
    pub(super) device: Device,
}

impl Resident {
    pub(super) fn size(&self, rows: usize, purpose: Purpose, drops: bool) -> Size<'_> {
        let widest = |adapter: &DeviceAdapter| adapter.plan.widest();
        let low = self
            .adapter
            .iter()
            .chain(&self.reference)
            .map(widest)
            .max()
            .unwrap_or(0);
        Size {
            config: &self.model.config,
            rows,
            low,
            drops,
            purpose,
        }
    }

    pub(super) fn adapted(&self, with: With, dropout_seed: Option<u64>) -> Option<Adapted<'_>> {
        let adapter = match with {
            With::Nothing | With::Copy => None,
            With::Trained => self.adapter.as_ref(),
            With::Reference => self.reference.as_ref(),
        };
        adapter.map(|adapter| Adapted {
            adapter,
            dropout_seed,
        })
    }

    pub(super) fn pass<'a>(
        &'a self,
        with: With,
        batch: &'a Batch,
        space: &'a Workspace,
    ) -> Pass<'a> {
        let model = match (with, &self.copy) {
            (With::Copy, Some(copy)) => copy,
            _ => &self.model,
        };
        Pass {
            device: &self.device,
            blas: &self.blas,
            model,
            adapted: self.adapted(with, None),
            rows: batch.rows,
            positions: batch.positions,
            sight: Sight::Pack(batch, None),
            d_low: space
                .backward
                .as_ref()
                .map_or(Address::NULL, |backward| backward.d_low.address),
            dropped: space.dropped(),
        }
    }

    /// Runs all layers and returns the address of the last hidden states.
    pub(super) fn forward(
        &self,
        pass: &Pass,
        tokens: Address,
        space: &Workspace,
    ) -> Result<Address> {
        let width = self.model.config.hidden;
        let embed = pass.model.arena.at(pass.model.plan.embed.offset);
        let arguments = args![tokens, embed, space.stream(0), width as i32];
        self.device
            .launch("embed", Launch::rows(pass.rows, width), arguments)?;
        let layers = self.model.config.layers;
        for layer in 0..layers {
            pass.forward(
                layer,
                space.stream(layer),
                space.stream(layer + 1),
                space.saved(layer),
            )?;
        }
        Ok(space.stream(layers))
    }

    pub(super) fn trained(&self) -> (&Arena, Vec<Place>) {
        match &self.adapter {
            Some(adapter) => (&adapter.arena, adapter.plan.places()),
            None => (&self.model.arena, self.model.plan.places()),
        }
    }
}

/// Copies an adapter to the device.
pub(super) fn place(
    device: &Device,
    config: &Config,
    adapter: &Adapter,
    trained: bool,
) -> Result<DeviceAdapter> {
    let plan = AdapterPlan::of(config, adapter);
    let arena = Arena::new(device, "the adapter", plan.total, plan.total, trained)?;
    arena.push(Part::Value, &plan.places(), &slices(&adapter.tensors()))?;
    Ok(DeviceAdapter { plan, arena })
}
