//! A projection with its bias and its adapter: `y = W x + bias + scale * B A drop(x)`.

use super::gemm::{Dims, View, product};
use super::matrix;
use super::onto::{Onto, Strided};
use crate::math;
use crate::model::{Linear, LoraPair};
use crate::noise;

/// Which inputs of an adapter are dropped. It is a function of a key, so that backward drops the
/// same ones.
#[derive(Clone, Copy)]
pub(super) struct Dropout {
    pub(super) rate: f32,
    pub(super) key: u64,
}

impl Dropout {
    fn apply(self, x: &mut [f32]) {
        let keep = 1.0 / (1.0 - self.rate);
        for (index, x) in x.iter_mut().enumerate() {
            *x = if noise::uniform(self.key, index as u64) < self.rate {
                0.0
            } else {
                *x * keep
            };
        }
    }
}

/// An adapter on this projection.
#[derive(Clone, Copy)]
pub(super) struct LoraPart<'a> {
    pub(super) pair: &'a LoraPair,
    pub(super) scale: f32,
    pub(super) dropout: Option<Dropout>,
}

/// A projection as one pass uses it.
#[derive(Clone, Copy)]
pub(super) struct Projection<'a> {
    pub(super) linear: &'a Linear,
    pub(super) lora: Option<LoraPart<'a>>,
}

/// Where gradients are added; `None` for untrained parts.
#[derive(Default)]
pub(super) struct ProjectionGradient<'a> {
    pub(super) linear: Option<&'a mut Linear>,
    pub(super) pair: Option<&'a mut LoraPair>,
}

impl Projection<'_> {
    fn outputs(&self) -> usize {
        self.linear.weight.rows()
    }

    fn inputs(&self) -> usize {
        self.linear.weight.cols()
    }

    /// Projects rows of x into y.
    pub(super) fn forward(&self, x: &[f32], y: &mut [f32], onto: Onto) {
        let (outputs, inputs) = (self.outputs(), self.inputs());
        let rows = x.len() / inputs;
        matrix::forward(&self.linear.weight, x, y, onto);
        if let Some(bias) = &self.linear.bias {
            for row in y.chunks_exact_mut(outputs) {
                math::add(row, &bias.data);
            }
        }
        if let Some(lora) = &self.lora {
            let rank = lora.pair.a.rows();
            let low = lora.down(x);
            let b = View::rows(&lora.pair.b.data, rank);
            product(
                Strided::rows(y, outputs),
                View::rows(&low, rank),
                b.t(),
                Dims(rows, outputs, rank),
                lora.scale,
                Onto::Add,
            );
        }
    }

    /// Computes the gradient of x from that of y, and adds those of trained parts.
    pub(super) fn backward(
        &self,
        x: &[f32],
        dy: &[f32],
        dx: &mut [f32],
        onto: Onto,
        gradient: ProjectionGradient,
    ) {
        let (outputs, inputs) = (self.outputs(), self.inputs());
        let rows = x.len() / inputs;
        let d_out = View::rows(dy, outputs);
        matrix::backward(&self.linear.weight, dy, dx, onto);
        if let Some(linear) = gradient.linear {
            let dw = Strided::rows(&mut linear.weight.data[..], inputs);
            product(
                dw,
                d_out.t(),
                View::rows(x, inputs),
                Dims(outputs, inputs, rows),
                1.0,
                Onto::Add,
            );
            if let Some(bias) = &mut linear.bias {
                for row in dy.chunks_exact(outputs) {
                    math::add(&mut bias.data, row);
                }
            }
        }
        if let Some(lora) = &self.lora {
            lora.backward(x, dy, dx, gradient.pair);
        }
    }
}

impl LoraPart<'_> {
    /// `A drop(x)`.
    fn down(&self, x: &[f32]) -> Vec<f32> {
        let (rank, inputs) = (self.pair.a.rows(), self.pair.a.cols());
        let rows = x.len() / inputs;
        let mut low = vec![0.0; rows * rank];
        let dropped = self.dropped(x);
        let x = View::rows(dropped.as_deref().unwrap_or(x), inputs);
        let a = View::rows(&self.pair.a.data, inputs);
        product(
            Strided::rows(&mut low, rank),
            x,
            a.t(),
            Dims(rows, rank, inputs),
            1.0,
            Onto::Set,
        );
        low
    }

    fn dropped(&self, x: &[f32]) -> Option<Vec<f32>> {
        let dropout = self.dropout?;
        let mut dropped = x.to_vec();
        dropout.apply(&mut dropped);
        Some(dropped)
    }

    fn backward(&self, x: &[f32], dy: &[f32], dx: &mut [f32], gradient: Option<&mut LoraPair>) {
        let (rank, inputs, outputs) = (self.pair.a.rows(), self.pair.a.cols(), self.pair.b.rows());
        let rows = x.len() / inputs;
        let d_out = View::rows(dy, outputs);
        let mut d_low = vec![0.0; rows * rank];
        let b = View::rows(&self.pair.b.data, rank);
        product(
            Strided::rows(&mut d_low, rank),
            d_out,
            b,
            Dims(rows, rank, outputs),
            self.scale,
            Onto::Set,
        );
        if let Some(gradient) = gradient {
            let low = self.down(x);
            let db = Strided::rows(&mut gradient.b.data[..], rank);
            product(
                db,
                d_out.t(),
                View::rows(&low, rank),
                Dims(outputs, rank, rows),
                self.scale,
                Onto::Add,
            );
            let dropped = self.dropped(x);
            let x = View::rows(dropped.as_deref().unwrap_or(x), inputs);
            let da = Strided::rows(&mut gradient.a.data[..], inputs);
            product(
                da,
                View::rows(&d_low, rank).t(),
                x,
                Dims(rank, inputs, rows),
                1.0,
                Onto::Add,
            );
        }
        let (d_low, a) = (
            View::rows(&d_low, rank),
            View::rows(&self.pair.a.data, inputs),
        );
        let dims = Dims(rows, inputs, rank);
        match self.dropout {
            None => product(Strided::rows(dx, inputs), d_low, a, dims, 1.0, Onto::Add),
            Some(dropout) => {
                let mut through = vec![0.0; rows * inputs];
                product(
                    Strided::rows(&mut through, inputs),
                    d_low,
                    a,
                    dims,
                    1.0,
                    Onto::Set,
                );
                dropout.apply(&mut through);
                math::add(dx, &through);
            }
        }
    }
}
