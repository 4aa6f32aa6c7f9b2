//! A model on one GPU that scores, learns and answers.

use super::arena::{Arena, Part, StepSize, slices};
use super::batch::Batch;
use super::blas::Blas;
use super::decoder::Decoder;
use super::decoding;
use super::device::{Device, DeviceFacts};
use super::error::Result;
use super::layer::Pass;
use super::linear::DeviceAdapter;
use super::model::Model;
use super::plan::AdapterPlan;
use super::resident::{Resident, Trains, With, place};
use super::way::DecodeWay;
use super::workspace::{Purpose, Size, Workspace};
use crate::memory::Recompute;
use crate::model::{Adapter, Config, LoraConfig, Tensor, Weights};
use crate::optim::OptimConfig;
use crate::pack::{Coefficient, Pack, Scored};
use crate::precision::Precision;

/// Settings of a learning pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Learn {
    /// The temperature for scoring tokens.
    pub temperature: f32,
    /// Whether backward recomputes layers.
    pub recompute: Recompute,
    /// Seed of the adapter's dropout; `None` switches it off.
    pub dropout_seed: Option<u64>,
}

/// One step of the optimiser.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stepping {
    /// Its constants.
    pub config: OptimConfig,
    /// The step's number, from 1.
    pub step: u64,
    /// The learning rate.
    pub rate: f64,
    /// The gradient's norm.
    pub norm: f64,
}

/// A model on one GPU.
pub struct Engine {
    pub(super) workspace: Option<Workspace>,
    pub(super) decoder: Option<Decoder>,
    pub(super) resident: Resident,
}

impl Engine {
    /// Copies a model to the GPU.
    pub fn new(
        config: &Config,
        weights: &Weights,
        trains: Trains,
        precision: Precision,
    ) -> Result<Self> {
        let device = Device::open(precision, config.head_dim)?;
        let blas = Blas::new(&device)?;
        let full = matches!(trains, Trains::Full);
        let model = Model::upload(&device, config, weights, full)?;
        let adapter = match trains {
            Trains::Lora(adapter) => Some(place(&device, config, adapter, true)?),
            Trains::Full => None,
        };
        Self::with(device, blas, model, adapter)
    }

    /// A model with random weights made on the device, for measurements. It trains a fresh adapter
    /// or all weights.
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
        Self::with(device, blas, model, adapter.transpose()?)
    }

    /// Sets the decode way from the environment.
    fn with(
        device: Device,
        blas: Blas,
        model: Model,
        adapter: Option<DeviceAdapter>,
    ) -> Result<Self> {
        let chain = decoding::chain(&device, &model.config, DecodeWay::from_environment()?)?;
        Ok(Self {
            workspace: None,
            decoder: None,
            resident: Resident {
                model,
                adapter,
                reference: None,
                copy: None,
                chain,
                blas,
                device,
            },
        })
    }

    /// The decode way in use. It is the plain way if the requested one does not support the model
    /// or the device.
    pub fn decode_way(&self) -> DecodeWay {
        if self.resident.chain.is_some() {
            DecodeWay::Auto
        } else {
            DecodeWay::Plain
        }
    }

    /// Changes the decode way.
    pub fn set_decode_way(&mut self, way: DecodeWay) -> Result<()> {
        // The decoder's graphs contain the old kernels.
        self.decoder = None;
        let Resident { device, model, .. } = &self.resident;
        self.resident.chain = decoding::chain(device, &model.config, way)?;
        Ok(())
    }

    /// Facts about the GPU, and the compile time of its kernels.
    pub fn facts(&self) -> Result<DeviceFacts> {
        self.resident.device.facts()
    }

    /// The most bytes held at once since the last call.
    pub fn take_peak(&self) -> u64 {
        self.resident.device.take_peak()
    }

    /// Waits until the device is idle.
    pub fn wait(&self) -> Result<()> {
        self.resident.device.wait()
    }

    /// Trains this adapter from now on, with fresh moments.
    pub fn adopt(&mut self, adapter: &Adapter) -> Result<()> {
        self.resident.device.enter()?;
        self.resident.adapter = None;
        self.decoder = None;
        self.resident.adapter = Some(place(
            &self.resident.device,
            &self.resident.model.config,
            adapter,
            true,
        )?);
        Ok(())
    }

    /// Makes this adapter the frozen reference.
    pub fn set_reference(&mut self, adapter: &Adapter) -> Result<()> {
        self.resident.device.enter()?;
        self.resident.reference = None;
        self.resident.reference = Some(place(
            &self.resident.device,
            &self.resident.model.config,
            adapter,
            false,
        )?);
        Ok(())
    }

    /// Makes these weights the frozen copy. Only the first call does something.
    pub fn set_copy(&mut self, config: &Config, weights: &Weights) -> Result<()> {
        if self.resident.copy.is_none() {
            self.resident.copy = Some(Model::upload(
                &self.resident.device,
                config,
                weights,
                false,
            )?);
        }
        Ok(())
    }

    /// Makes room for a pass. Existing room is reused if it is large enough.
    pub(super) fn reserve(&mut self, rows: usize, purpose: Purpose, drops: bool) -> Result<()> {
        self.resident.device.enter()?;
        let rows = rows.next_multiple_of(64);
        if self
            .workspace
            .as_ref()
            .is_some_and(|have| have.serves(self.resident.size(rows, purpose, drops)))
        {
            return Ok(());
        }
        self.workspace = None;
        let bytes = Workspace::bytes(
            self.resident.size(rows, purpose, drops),
            self.resident.device.precision().bytes(),
        );
        if bytes > self.resident.device.memory()?.0 {
            // No answers are sampled meanwhile, so their cache can be freed and allocated again
            // later.
            self.decoder = None;
        }
        let made = match Workspace::new(
            &self.resident.device,
            self.resident.size(rows, purpose, drops),
        ) {
            Err(error) if error.is_out_of_memory() && self.decoder.is_some() => {
                self.decoder = None;
                Workspace::new(
                    &self.resident.device,
                    self.resident.size(rows, purpose, drops),
                )
            }
            made => made,
        };
        self.workspace = Some(made?);
        Ok(())
    }

    /// Whether to keep all activations for backward: as requested, or if they leave a tenth of the
    /// free memory.
    fn keeps(&self, recompute: Recompute, rows: usize, drops: bool) -> Result<bool> {
        match recompute {
            Recompute::Off => Ok(true),
            Recompute::On => Ok(false),
            Recompute::Auto => {
                let size = self.resident.size(
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
                        self.resident.device.precision().bytes(),
                    )
                });
                let free =
                    self.resident.device.memory()?.0 + if self.has_backward() { held } else { 0 };
                Ok(
                    Workspace::bytes(size, self.resident.device.precision().bytes())
                        <= free / 10 * 9,
                )
            }
        }
    }

    fn has_backward(&self) -> bool {
        self.workspace
            .as_ref()
            .is_some_and(|have| have.backward.is_some())
    }

    fn space(&self) -> &Workspace {
        self.workspace.as_ref().expect("reserved before every pass")
    }

    /// Logits of every row, for checks of small models.
    pub fn logits(&mut self, with: With, pack: &Pack) -> Result<Vec<f32>> {
        self.reserve(pack.rows(), Purpose::Score, false)?;
        let space = self.space();
        let batch = Batch::upload(&self.resident.device, space.ints.address, pack, &[])?;
        let pass = self.resident.pass(with, &batch, space);
        let hidden = self.resident.forward(&pass, batch.tokens, space)?;
        let rows: Vec<i32> = (0..pack.rows() as i32).collect();
        let mut logits = Vec::new();
        for chunk in rows.chunks(space.head.chunk) {
            self.resident.device.write(space.head.rows.address, chunk)?;
            pass.logits(hidden, chunk.len(), &space.head)?;
            let count = chunk.len() * self.resident.model.config.vocab;
            logits.extend(
                self.resident
                    .device
                    .read::<f32>(space.head.logits.address, count)?,
            );
        }
        Ok(logits)
    }

    /// Scores every target of the pack at that temperature.
    pub fn score(&mut self, with: With, pack: &Pack, temperature: f32) -> Result<Vec<Scored>> {
        self.reserve(pack.rows(), Purpose::Score, false)?;
        let space = self.space();
        let batch = Batch::upload(&self.resident.device, space.ints.address, pack, &[])?;
        let pass = self.resident.pass(with, &batch, space);
        let hidden = self.resident.forward(&pass, batch.tokens, space)?;
        pass.scores(hidden, &pack.targets, temperature, &space.head)
    }

    /// Scores every target, gets d loss / d logprob from `coefficient`, and adds the gradient of
    /// the loss.
    pub fn learn(
        &mut self,
        learn: Learn,
        pack: &Pack,
        coefficient: &mut Coefficient,
    ) -> Result<()> {
        self.resident.device.enter()?;
        let rate = self
            .resident
            .adapter
            .as_ref()
            .map_or(0.0, |adapter| adapter.plan.config.dropout);
        let drops = learn.dropout_seed.is_some() && rate > 0.0;
        let keep = self.keeps(learn.recompute, pack.rows(), drops)?;
        self.reserve(pack.rows(), Purpose::Learn { keep }, drops)?;
        let space = self.space();
        let batch = Batch::upload(&self.resident.device, space.ints.address, pack, &[])?;
        let adapted = self.resident.adapted(With::Trained, learn.dropout_seed);
        let pass = Pass {
            adapted,
            ..self.resident.pass(With::Trained, &batch, space)
        };
        let hidden = self.resident.forward(&pass, batch.tokens, space)?;
        let backward = space.backward.as_ref().expect("reserved to learn");
        pass.head_gradient(hidden, &pack.targets, learn.temperature, coefficient, space)?;
        let layers = self.resident.model.config.layers;
        for layer in (0..layers).rev() {
            let (x, saved) = (space.stream(layer), space.saved(layer));
            // The shared set still holds the last layer's activations when backward begins.
            if !keep && layer + 1 < layers {
                pass.forward(layer, x, space.stream(layer + 1), saved)?;
            }
            pass.backward(layer, x, saved, &batch, backward)?;
        }
        pass.embed_gradient(&batch, backward)
    }

    /// Sets the gradient to zero.
    pub fn clear_gradient(&self) -> Result<()> {
        self.resident.device.enter()?;
        self.resident.trained().0.clear_gradient()
    }

    pub fn gradient_norm(&self) -> Result<f64> {
        self.resident.device.enter()?;
        self.resident.trained().0.gradient_norm()
    }

    /// Takes one step of `AdamW`, with the same arithmetic as on the CPU.
    pub fn step(&self, stepping: Stepping) -> Result<()> {
        self.resident.device.enter()?;
        let Stepping {
            config,
            step,
            rate,
            norm,
        } = stepping;
        let power = i32::try_from(step).unwrap_or(i32::MAX);
        let clips = config.max_norm > 0.0 && norm > config.max_norm;
        self.resident.trained().0.step(StepSize {
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

    /// The trained tensors, in order.
    pub fn pull_values(&self) -> Result<Vec<Vec<f32>>> {
        self.pull(Part::Value)
    }

    pub fn pull_gradients(&self) -> Result<Vec<Vec<f32>>> {
        self.pull(Part::Gradient)
    }

    /// Their moments: means and squares.
    pub fn pull_moments(&self) -> Result<[Vec<Vec<f32>>; 2]> {
        Ok([self.pull(Part::Mean)?, self.pull(Part::Square)?])
    }

    fn pull(&self, part: Part) -> Result<Vec<Vec<f32>>> {
        self.resident.device.enter()?;
        let (arena, places) = self.resident.trained();
        arena.pull(part, &places)
    }

    /// Replaces the trained tensors.
    pub fn push_values(&self, tensors: &[&Tensor]) -> Result<()> {
        self.resident.device.enter()?;
        let (arena, places) = self.resident.trained();
        arena.push(Part::Value, &places, &slices(tensors))
    }

    /// Replaces their moments.
    pub fn push_moments(&self, means: &[&[f32]], squares: &[&[f32]]) -> Result<()> {
        self.resident.device.enter()?;
        let (arena, places) = self.resident.trained();
        arena.push(Part::Mean, &places, means)?;
        arena.push(Part::Square, &places, squares)
    }
}
