//! A model on one GPU that scores, learns and answers.

use super::arena::{Arena, Part, StepSize, slices};
use super::batch::Batch;
use super::blas::Blas;
use super::decoder::Decoder;
use super::decoding::Decoding;
use super::device::{Address, Device, DeviceFacts, Launch, args};
use super::error::Result;
use super::head::Coefficient;
use super::layer::{Pass, Sight};
use super::linear::{Adapted, DeviceAdapter};
use super::model::Model;
use super::plan::{AdapterPlan, Place};
use super::workspace::{Purpose, Size, Workspace};
use crate::Precision;
use crate::cpu::{Network, Recompute, Scored};
use crate::model::{Adapter, Config, LoraConfig, Tensor};
use crate::pack::Pack;

/// What an engine on the device trains.
#[derive(Debug, Clone, Copy)]
pub enum Trains<'a> {
    /// This adapter.
    Lora(&'a Adapter),
    /// All weights.
    Full,
}

/// With which adapter a pass runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum With {
    /// None.
    Nothing,
    /// The one in training, if an adapter is what is trained.
    Trained,
    /// The frozen one of the reference.
    Reference,
    /// None, on the frozen copy of all weights.
    Copy,
}

/// How a pass that learns is run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Learn {
    /// The temperature that tokens are scored at.
    pub temperature: f32,
    /// Whether layers are computed again on the way back.
    pub recompute: Recompute,
    /// Seed of the adapter's dropout; none switches it off.
    pub dropout_seed: Option<u64>,
}

/// One step of the optimiser.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stepping {
    /// Its constants.
    pub config: crate::train::OptimConfig,
    /// Which step, counted from 1.
    pub step: u64,
    /// The learning rate.
    pub rate: f64,
    /// The gradient's norm.
    pub norm: f64,
}

/// A model on one GPU.
pub struct Engine {
    pub(super) model: Model,
    adapter: Option<DeviceAdapter>,
    reference: Option<DeviceAdapter>,
    copy: Option<Model>,
    pub(super) workspace: Option<Workspace>,
    pub(super) decoder: Option<Decoder>,
    pub(super) decoding: Decoding,
    pub(super) blas: Blas,
    pub(super) device: Device,
}

impl Engine {
    /// Brings a model over.
    pub fn new(network: &Network, trains: Trains, precision: Precision) -> Result<Self> {
        let device = Device::open(precision, network.config.head_dim)?;
        let blas = Blas::new(&device)?;
        let full = matches!(trains, Trains::Full);
        let model = Model::upload(&device, &network.config, &network.weights, full)?;
        let adapter = match trains {
            Trains::Lora(adapter) => Some(place(&device, &network.config, adapter, true)?),
            Trains::Full => None,
        };
        let decoding = Decoding::from_environment(&device, &model.config)?;
        Ok(Self {
            model,
            adapter,
            reference: None,
            copy: None,
            workspace: None,
            decoder: None,
            decoding,
            blas,
            device,
        })
    }

    /// A model of random weights made on the device, for measurements; with a fresh adapter or fully trained.
    pub fn random(
        config: &Config,
        lora: Option<&LoraConfig>,
        precision: Precision,
    ) -> Result<Self> {
        let device = Device::open(precision, config.head_dim)?;
        let blas = Blas::new(&device)?;
        let model = Model::empty(&device, config, lora.is_none())?;
        model.arena.randomise(1)?;
        let adapter = lora.map(|lora| {
            let plan = AdapterPlan::new(config, lora);
            let arena = Arena::new(&device, "the adapter", plan.total, plan.total, true)?;
            arena.randomise(2)?;
            Ok(DeviceAdapter { plan, arena })
        });
        let adapter = adapter.transpose()?;
        let decoding = Decoding::from_environment(&device, &model.config)?;
        Ok(Self {
            model,
            adapter,
            reference: None,
            copy: None,
            workspace: None,
            decoder: None,
            decoding,
            blas,
            device,
        })
    }

    /// What the GPU is, and how long its kernels took to compile.
    pub fn facts(&self) -> Result<DeviceFacts> {
        self.device.facts()
    }

    /// The most bytes held at once since the last call.
    pub fn take_peak(&self) -> u64 {
        self.device.take_peak()
    }

    /// Waits until the device has come to rest.
    pub fn wait(&self) -> Result<()> {
        self.device.wait()
    }

    /// Trains this adapter from now on, with fresh moments.
    pub fn adopt(&mut self, adapter: &Adapter) -> Result<()> {
        self.device.enter()?;
        self.adapter = None;
        self.decoder = None;
        self.adapter = Some(place(&self.device, &self.model.config, adapter, true)?);
        Ok(())
    }

    /// Makes this adapter the frozen reference.
    pub fn set_reference(&mut self, adapter: &Adapter) -> Result<()> {
        self.device.enter()?;
        self.reference = None;
        self.reference = Some(place(&self.device, &self.model.config, adapter, false)?);
        Ok(())
    }

    /// Makes these weights the frozen copy; the first call does the work.
    pub fn set_copy(&mut self, network: &Network) -> Result<()> {
        if self.copy.is_none() {
            self.copy = Some(Model::upload(
                &self.device,
                &network.config,
                &network.weights,
                false,
            )?);
        }
        Ok(())
    }

    fn size(&self, rows: usize, purpose: Purpose, drops: bool) -> Size<'_> {
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

    /// Makes room for a pass. What is there serves as long as it is large enough.
    pub(super) fn reserve(&mut self, rows: usize, purpose: Purpose, drops: bool) -> Result<()> {
        self.device.enter()?;
        let rows = rows.next_multiple_of(64);
        if self
            .workspace
            .as_ref()
            .is_some_and(|have| have.serves(self.size(rows, purpose, drops)))
        {
            return Ok(());
        }
        self.workspace = None;
        let bytes = Workspace::bytes(
            self.size(rows, purpose, drops),
            self.device.precision().bytes(),
        );
        if bytes > self.device.memory()?.0 {
            // Answers are not drawn while this runs: their cache can be made again.
            self.decoder = None;
        }
        let made = match Workspace::new(&self.device, self.size(rows, purpose, drops)) {
            Err(error) if error.is_out_of_memory() && self.decoder.is_some() => {
                self.decoder = None;
                Workspace::new(&self.device, self.size(rows, purpose, drops))
            }
            made => made,
        };
        self.workspace = Some(made?);
        Ok(())
    }

    /// Whether backward keeps all inner values: as asked, or where they leave a tenth of the free memory alone.
    fn keeps(&self, recompute: Recompute, rows: usize, drops: bool) -> Result<bool> {
        match recompute {
            Recompute::Off => Ok(true),
            Recompute::On => Ok(false),
            Recompute::Auto => {
                let size = self.size(
                    rows.next_multiple_of(64),
                    Purpose::Learn { keep: true },
                    drops,
                );
                if self
                    .workspace
                    .as_ref()
                    .is_some_and(|have| have.serves(size))
                {
                    return Ok(true);
                }
                let held = self.workspace.as_ref().map_or(0, |have| {
                    let purpose = Purpose::Learn {
                        keep: have.saved.len() > 1,
                    };
                    Workspace::bytes(
                        Size {
                            rows: have.rows,
                            purpose,
                            ..size
                        },
                        self.device.precision().bytes(),
                    )
                });
                let free = self.device.memory()?.0 + if self.has_backward() { held } else { 0 };
                Ok(Workspace::bytes(size, self.device.precision().bytes()) <= free / 10 * 9)
            }
        }
    }

    fn has_backward(&self) -> bool {
        self.workspace
            .as_ref()
            .is_some_and(|have| have.backward.is_some())
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

    fn space(&self) -> &Workspace {
        self.workspace.as_ref().expect("reserved before every pass")
    }

    /// Runs all layers; the hidden states after the last are where the answer says.
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

    /// Logits of every row: for checks of small models.
    pub fn logits(&mut self, with: With, pack: &Pack) -> Result<Vec<f32>> {
        self.reserve(pack.rows(), Purpose::Score, false)?;
        let space = self.space();
        let batch = Batch::upload(&self.device, space.ints.address, pack, &[])?;
        let pass = self.pass(with, &batch, space);
        let hidden = self.forward(&pass, batch.tokens, space)?;
        let rows: Vec<i32> = (0..pack.rows() as i32).collect();
        let mut logits = Vec::new();
        for chunk in rows.chunks(space.head.chunk) {
            self.device.write(space.head.rows.address, chunk)?;
            pass.logits(hidden, chunk.len(), &space.head)?;
            let count = chunk.len() * self.model.config.vocab;
            logits.extend(self.device.read::<f32>(space.head.logits.address, count)?);
        }
        Ok(logits)
    }

    /// Scores every target of the pack at that temperature.
    pub fn score(&mut self, with: With, pack: &Pack, temperature: f32) -> Result<Vec<Scored>> {
        self.reserve(pack.rows(), Purpose::Score, false)?;
        let space = self.space();
        let batch = Batch::upload(&self.device, space.ints.address, pack, &[])?;
        let pass = self.pass(with, &batch, space);
        let hidden = self.forward(&pass, batch.tokens, space)?;
        pass.scores(hidden, &pack.targets, temperature, &space.head)
    }

    /// Scores every target, asks `coefficient` for d loss / d logprob, and adds the gradient of the loss.
    pub fn learn(
        &mut self,
        learn: Learn,
        pack: &Pack,
        coefficient: &mut Coefficient,
    ) -> Result<()> {
        self.device.enter()?;
        let rate = self
            .adapter
            .as_ref()
            .map_or(0.0, |adapter| adapter.plan.config.dropout);
        let drops = learn.dropout_seed.is_some() && rate > 0.0;
        let keep = self.keeps(learn.recompute, pack.rows(), drops)?;
        self.reserve(pack.rows(), Purpose::Learn { keep }, drops)?;
        let space = self.space();
        let batch = Batch::upload(&self.device, space.ints.address, pack, &[])?;
        let adapted = self.adapted(With::Trained, learn.dropout_seed);
        let pass = Pass {
            adapted,
            ..self.pass(With::Trained, &batch, space)
        };
        let hidden = self.forward(&pass, batch.tokens, space)?;
        let backward = space.backward.as_ref().expect("reserved to learn");
        pass.head_gradient(
            hidden,
            &pack.targets,
            learn.temperature,
            coefficient,
            (&space.head, backward),
        )?;
        let layers = self.model.config.layers;
        for layer in (0..layers).rev() {
            let (x, saved) = (space.stream(layer), space.saved(layer));
            // The one shared set still holds the last layer's values when the way back begins.
            if !keep && layer + 1 < layers {
                pass.forward(layer, x, space.stream(layer + 1), saved)?;
            }
            pass.backward(layer, x, saved, &batch, backward)?;
        }
        pass.embed_gradient(&batch, backward)
    }

    fn trained(&self) -> (&Arena, Vec<Place>) {
        match &self.adapter {
            Some(adapter) => (&adapter.arena, adapter.plan.places()),
            None => (&self.model.arena, self.model.plan.places()),
        }
    }

    /// Forgets the gradient.
    pub fn clear_gradient(&self) -> Result<()> {
        self.device.enter()?;
        self.trained().0.clear_gradient()
    }

    /// The gradient's norm.
    pub fn gradient_norm(&self) -> Result<f64> {
        self.device.enter()?;
        self.trained().0.gradient_norm()
    }

    /// One step of `AdamW` against the gradient, with the same arithmetic as on the CPU.
    pub fn step(&self, stepping: Stepping) -> Result<()> {
        self.device.enter()?;
        let Stepping {
            config,
            step,
            rate,
            norm,
        } = stepping;
        let power = i32::try_from(step).unwrap_or(i32::MAX);
        let clips = config.max_norm > 0.0 && norm > config.max_norm;
        self.trained().0.step(StepSize {
            shorten: if clips {
                (config.max_norm / (norm + 1e-6)) as f32
            } else {
                1.0
            },
            keep: (1.0 - rate * config.weight_decay) as f32,
            size: (rate / (1.0 - config.beta1.powi(power))) as f32,
            root: (1.0 / (1.0 - config.beta2.powi(power)).sqrt()) as f32,
            beta1: config.beta1 as f32,
            beta2: config.beta2 as f32,
            eps: config.eps as f32,
        })
    }

    /// The trained tensors, in their order.
    pub fn pull_values(&self) -> Result<Vec<Vec<f32>>> {
        self.pull(Part::Value)
    }

    /// Their gradients.
    pub fn pull_gradients(&self) -> Result<Vec<Vec<f32>>> {
        self.pull(Part::Gradient)
    }

    /// Their moments: means and squares.
    pub fn pull_moments(&self) -> Result<[Vec<Vec<f32>>; 2]> {
        Ok([self.pull(Part::Mean)?, self.pull(Part::Square)?])
    }

    fn pull(&self, part: Part) -> Result<Vec<Vec<f32>>> {
        self.device.enter()?;
        let (arena, places) = self.trained();
        arena.pull(part, &places)
    }

    /// Replaces the trained tensors.
    pub fn push_values(&self, tensors: &[&Tensor]) -> Result<()> {
        self.device.enter()?;
        let (arena, places) = self.trained();
        arena.push(Part::Value, &places, &slices(tensors))
    }

    /// Replaces their moments.
    pub fn push_moments(&self, means: &[&[f32]], squares: &[&[f32]]) -> Result<()> {
        self.device.enter()?;
        let (arena, places) = self.trained();
        arena.push(Part::Mean, &places, means)?;
        arena.push(Part::Square, &places, squares)
    }
}

/// Brings an adapter over.
fn place(
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
