//! The memory of all weights of a model or an adapter, and of their training state.
//!
//! Every part has the same offsets, so the optimiser walks one range instead of hundreds of
//! tensors. In bf16 a trained value is the rounded weight and a 16-bit remainder, which together
//! form the f32 master. This takes 4 bytes instead of the usual 6.

use super::device::{Address, Buffer, Device, Launch, args};
use super::error::{Result, gib};
use super::plan::Place;
use crate::model::Tensor;
use crate::precision::Precision;

/// Values copied at a time.
const STAGE: usize = 16 << 20;

/// Blocks of the sum of squares.
const SUM_BLOCKS: usize = 1024;

/// The training state, in f32.
struct State {
    gradient: Buffer,
    mean: Buffer,
    square: Buffer,
}

/// Weights, and their masters, gradients and moments if they are trained.
pub(super) struct Arena {
    device: Device,
    high: Buffer,
    low: Option<Buffer>,
    state: Option<State>,
    total: usize,
    matrices: usize,
}

/// The numbers of one step, as `train::AdamW` computes them.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepSize {
    pub(super) shorten: f32,
    pub(super) keep: f32,
    pub(super) size: f32,
    pub(super) root: f32,
    pub(super) beta1: f32,
    pub(super) beta2: f32,
    pub(super) eps: f32,
}

/// The parts of a trained value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The master.
    Value,
    Gradient,
    /// Running mean of the gradient.
    Mean,
    /// Running square of the gradient.
    Square,
}

/// Advice if there is too little memory to train `total` values.
fn training_advice(total: usize, halves: bool) -> String {
    let bytes = total * (12 + if halves { 2 } else { 0 });
    format!(
        "training takes {:.1} GiB besides the weights: train an adapter, or a smaller model",
        gib(bytes as u64)
    )
}

impl Arena {
    /// Room for `total` values, the first `matrices` of which decay.
    pub(super) fn new(
        device: &Device,
        what: &str,
        matrices: usize,
        total: usize,
        trained: bool,
    ) -> Result<Self> {
        let high = device.zeros(what, device.reals(total))?;
        let halves = trained && device.precision() == Precision::Bf16;
        let fitting = |_, _| training_advice(total, halves);
        let masters = || {
            device
                .zeros("masters", total * 2)
                .map_err(|error| error.advise(fitting))
        };
        let low = halves.then(masters).transpose()?;
        let state = |()| -> Result<State> {
            let part = |name| {
                device
                    .zeros(name, total * 4)
                    .map_err(|error| error.advise(fitting))
            };
            Ok(State {
                gradient: part("gradients")?,
                mean: part("moments")?,
                square: part("moments")?,
            })
        };
        let state = trained.then_some(()).map(state).transpose()?;
        Ok(Self {
            device: device.clone(),
            high,
            low,
            state,
            total,
            matrices,
        })
    }

    /// The address of a value for products.
    pub(super) fn at(&self, offset: usize) -> Address {
        self.high.address.plus(self.device.reals(offset))
    }

    /// Where a value's gradient is added; `None` if nothing is trained.
    pub(super) fn gradient(&self, offset: usize) -> Option<Address> {
        self.state
            .as_ref()
            .map(|state| state.gradient.address.plus(offset * 4))
    }

    fn low(&self, offset: usize) -> Address {
        self.low
            .as_ref()
            .map_or(Address::NULL, |low| low.address.plus(offset * 2))
    }

    fn part(&self, part: Part, offset: usize) -> Option<Address> {
        let state = self.state.as_ref()?;
        let buffer = match part {
            Part::Value => return None,
            Part::Gradient => &state.gradient,
            Part::Mean => &state.mean,
            Part::Square => &state.square,
        };
        Some(buffer.address.plus(offset * 4))
    }

    /// Copies values from the host.
    pub(super) fn push(&self, part: Part, places: &[Place], tensors: &[&[f32]]) -> Result<()> {
        let stage = self.device.alloc("staging", STAGE * 4)?;
        for (place, data) in places.iter().zip(tensors) {
            assert_eq!(
                place.len,
                data.len(),
                "a tensor of another size than its place"
            );
            for (nth, chunk) in data.chunks(STAGE).enumerate() {
                let offset = place.offset + nth * STAGE;
                if let Some(to) = self.part(part, offset) {
                    self.device.write(to, chunk)?;
                } else if part == Part::Value {
                    self.device.write(stage.address, chunk)?;
                    let arguments = args![
                        &stage,
                        self.at(offset),
                        self.low(offset),
                        chunk.len() as i64
                    ];
                    self.device.launch(
                        "split_masters",
                        Launch::strided(chunk.len(), 4096),
                        arguments,
                    )?;
                }
            }
        }
        self.device.wait()
    }

    /// Copies values to the host.
    pub(super) fn pull(&self, part: Part, places: &[Place]) -> Result<Vec<Vec<f32>>> {
        let stage = self.device.alloc("staging", STAGE * 4)?;
        let mut tensors = Vec::with_capacity(places.len());
        for place in places {
            let mut data = Vec::with_capacity(place.len);
            for first in (0..place.len).step_by(STAGE) {
                let (offset, count) = (place.offset + first, STAGE.min(place.len - first));
                let from = if let Some(from) = self.part(part, offset) {
                    from
                } else {
                    let arguments = args![self.at(offset), self.low(offset), &stage, count as i64];
                    self.device
                        .launch("join_masters", Launch::strided(count, 4096), arguments)?;
                    stage.address
                };
                data.extend(self.device.read::<f32>(from, count)?);
            }
            tensors.push(data);
        }
        Ok(tensors)
    }

    /// Fills weights with random values on the device, and norms with ones, for speed tests without
    /// model files.
    pub(super) fn randomise(&self, seed: u64) -> Result<()> {
        let matrices = args![&self.high, self.matrices as i64, 0.02f32, seed];
        self.device.launch(
            "fill_random",
            Launch::strided(self.matrices, 4096),
            matrices,
        )?;
        let rest = self.total - self.matrices;
        let vectors = args![self.at(self.matrices), rest as i64, 0.0f32, seed];
        self.device
            .launch("fill_random", Launch::strided(rest, 4096), vectors)
    }

    /// Sets the gradients to zero.
    pub(super) fn clear_gradient(&self) -> Result<()> {
        match &self.state {
            Some(state) => self.device.clear(state.gradient.address, self.total * 4),
            None => Ok(()),
        }
    }

    /// The norm of all gradients.
    pub(super) fn gradient_norm(&self) -> Result<f64> {
        let Some(state) = &self.state else {
            return Ok(0.0);
        };
        let launch = Launch::strided(self.total, SUM_BLOCKS);
        let parts = self.device.alloc("norm", launch.grid.0 * 8)?;
        self.device.launch(
            "square_sum",
            launch,
            args![&state.gradient, &parts, self.total as i64],
        )?;
        let parts: Vec<f64> = self.device.read(parts.address, launch.grid.0)?;
        Ok(parts.iter().sum::<f64>().sqrt())
    }

    /// One step of `AdamW` on everything; vectors do not decay.
    pub(super) fn step(&self, step: StepSize) -> Result<()> {
        let Some(state) = &self.state else {
            return Ok(());
        };
        let ranges = [
            (0, self.matrices, step.keep),
            (self.matrices, self.total, 1.0),
        ];
        for (begin, end, keep) in ranges {
            let count = end - begin;
            if count == 0 {
                continue;
            }
            let f32s = |buffer: &Buffer| buffer.address.plus(begin * 4);
            let StepSize {
                shorten,
                size,
                root,
                beta1,
                beta2,
                eps,
                ..
            } = step;
            let arguments = args![
                self.at(begin),
                self.low(begin),
                f32s(&state.gradient),
                f32s(&state.mean),
                f32s(&state.square),
                count as i64,
                shorten,
                keep,
                size,
                root,
                beta1,
                beta2,
                eps,
            ];
            self.device
                .launch("adamw", Launch::strided(count, 8192), arguments)?;
        }
        Ok(())
    }
}

/// The values of tensors, one slice each.
pub(super) fn slices<'a>(tensors: &[&'a Tensor]) -> Vec<&'a [f32]> {
    tensors.iter().map(|tensor| &tensor.data[..]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_for_training_is_reported_if_it_does_not_fit() {
        assert!(
            training_advice(1 << 30, true)
                .starts_with("training takes 14.0 GiB besides the weights: train an")
        );
        assert!(training_advice(1 << 30, false).starts_with("training takes 12.0 GiB"));
    }
}
