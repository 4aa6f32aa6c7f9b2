//! One transformer layer, forward and backward.

use super::attention::{self, Attended, Inputs, Shape};
use super::norm;
use super::onto::Onto;
use super::projection::{Dropout, LoraPart, Projection, ProjectionGradient};
use super::rope::{Angles, Turn};
use super::swiglu;
use crate::model::{Config, Layer, LayerAdapter, LoraPair, Module};

/// A layer's adapter as one pass uses it.
#[derive(Clone, Copy)]
pub(super) struct LayerLora<'a> {
    pub(super) adapter: &'a LayerAdapter,
    pub(super) scale: f32,
    pub(super) dropout: Option<Dropout>,
}

/// A layer with everything that one pass over it needs.
#[derive(Clone, Copy)]
pub(super) struct LayerPass<'a> {
    pub(super) config: &'a Config,
    pub(super) layer: &'a Layer,
    pub(super) lora: Option<LayerLora<'a>>,
    pub(super) angles: &'a Angles,
}

/// Where a layer's gradients are added; `None` for untrained parts.
#[derive(Default)]
pub(super) struct LayerGradient<'a> {
    pub(super) full: Option<&'a mut Layer>,
    pub(super) lora: Option<&'a mut LayerAdapter>,
}

impl LayerGradient<'_> {
    fn of(&mut self, module: Module) -> ProjectionGradient<'_> {
        let linear = self
            .full
            .as_deref_mut()
            .map(|layer| &mut layer.linears[module as usize]);
        let pair = self
            .lora
            .as_deref_mut()
            .and_then(|lora| lora.pairs[module as usize].as_mut());
        ProjectionGradient { linear, pair }
    }
}

/// Queries, keys and values, and the intermediate values that backward needs.
pub(super) struct Projected {
    normed: Vec<f32>,
    /// q and k before their head norms, if the family has them.
    unnormed: Option<(Vec<f32>, Vec<f32>)>,
    pub(super) q: Vec<f32>,
    pub(super) k: Vec<f32>,
    pub(super) v: Vec<f32>,
}

/// The second half of a layer, with the values that backward needs.
struct Mixed {
    middle: Vec<f32>,
    normed: Vec<f32>,
    gate: Vec<f32>,
    up: Vec<f32>,
    active: Vec<f32>,
}

/// Everything that backward needs from a layer's forward pass.
pub(super) struct Saved {
    pub(super) projected: Projected,
    attended: Attended,
    mixed: Mixed,
}

impl LayerPass<'_> {
    fn projection(&self, module: Module) -> Projection<'_> {
        let part = |lora: LayerLora<'_>| -> Option<LoraPart<'_>> {
            // Every module drops different inputs.
            let dropout = lora.dropout.map(|d| Dropout {
                key: d.key.wrapping_mul(8) + module as u64,
                ..d
            });
            let pair: &LoraPair = self.lora?.adapter.pairs[module as usize].as_ref()?;
            Some(LoraPart {
                pair,
                scale: lora.scale,
                dropout,
            })
        };
        Projection {
            linear: self.layer.linear(module),
            lora: self.lora.and_then(part),
        }
    }

    fn project(&self, module: Module, x: &[f32]) -> Vec<f32> {
        let (outputs, inputs) = module.shape(self.config);
        let mut y = vec![0.0; x.len() / inputs * outputs];
        self.projection(module).forward(x, &mut y, Onto::Set);
        y
    }

    fn eps(&self) -> f32 {
        self.config.norm_eps as f32
    }

    /// Norm, q, k, v, head norms and rotation.
    pub(super) fn before_attention(&self, x: &[f32]) -> Projected {
        let mut normed = vec![0.0; x.len()];
        norm::forward(x, &self.layer.input_norm.data, self.eps(), &mut normed);
        let mut q = self.project(Module::Q, &normed);
        let mut k = self.project(Module::K, &normed);
        let v = self.project(Module::V, &normed);
        let mut unnormed = None;
        if let (Some(q_norm), Some(k_norm)) = (&self.layer.q_norm, &self.layer.k_norm) {
            let (q_raw, k_raw) = (q.clone(), k.clone());
            norm::forward(&q_raw, &q_norm.data, self.eps(), &mut q);
            norm::forward(&k_raw, &k_norm.data, self.eps(), &mut k);
            unnormed = Some((q_raw, k_raw));
        }
        self.angles.turn(&mut q, self.config.heads, Turn::Forward);
        self.angles
            .turn(&mut k, self.config.kv_heads, Turn::Forward);
        Projected {
            normed,
            unnormed,
            q,
            k,
            v,
        }
    }

    /// Output projection, residual, norm, MLP, residual. Returns the layer's output too.
    fn mix(&self, x: &[f32], y: &[f32]) -> (Vec<f32>, Mixed) {
        let mut middle = x.to_vec();
        self.projection(Module::O)
            .forward(y, &mut middle, Onto::Add);
        let mut normed = vec![0.0; x.len()];
        norm::forward(&middle, &self.layer.post_norm.data, self.eps(), &mut normed);
        let (gate, up) = (
            self.project(Module::Gate, &normed),
            self.project(Module::Up, &normed),
        );
        let mut active = vec![0.0; gate.len()];
        swiglu::forward(&gate, &up, &mut active);
        let mut out = middle.clone();
        self.projection(Module::Down)
            .forward(&active, &mut out, Onto::Add);
        (
            out,
            Mixed {
                middle,
                normed,
                gate,
                up,
                active,
            },
        )
    }

    /// The layer's output from its input and the output of attention.
    pub(super) fn after_attention(&self, x: &[f32], y: &[f32]) -> Vec<f32> {
        self.mix(x, y).0
    }

    fn shape<'a>(&self, starts: &'a [usize]) -> Shape<'a> {
        let Config {
            kv_heads, head_dim, ..
        } = *self.config;
        Shape {
            kv_heads,
            group: self.config.group(),
            dim: head_dim,
            starts,
        }
    }

    /// The layer's output, and the values that backward needs.
    pub(super) fn forward(&self, x: &[f32], starts: &[usize]) -> (Vec<f32>, Saved) {
        let projected = self.before_attention(x);
        let inputs = Inputs {
            q: &projected.q,
            k: &projected.k,
            v: &projected.v,
        };
        let attended = attention::forward(self.shape(starts), inputs);
        let (out, mixed) = self.mix(x, &attended.y);
        (
            out,
            Saved {
                projected,
                attended,
                mixed,
            },
        )
    }

    /// Turns the gradient of the output, in `d`, into that of the input.
    pub(super) fn backward(
        &self,
        x: &[f32],
        saved: Saved,
        starts: &[usize],
        d: &mut [f32],
        mut to: LayerGradient,
    ) {
        let Saved {
            projected,
            attended,
            mixed,
        } = saved;
        self.backward_mlp(&mixed, d, &mut to);
        let mut dy = vec![0.0; attended.y.len()];
        self.projection(Module::O)
            .backward(&attended.y, d, &mut dy, Onto::Set, to.of(Module::O));
        let inputs = Inputs {
            q: &projected.q,
            k: &projected.k,
            v: &projected.v,
        };
        let mut into = attention::backward(self.shape(starts), inputs, &attended, &dy);
        self.angles.turn(&mut into.q, self.config.heads, Turn::Back);
        self.angles
            .turn(&mut into.k, self.config.kv_heads, Turn::Back);
        if let (Some((q_raw, k_raw)), Some(q_norm), Some(k_norm)) =
            (&projected.unnormed, &self.layer.q_norm, &self.layer.k_norm)
        {
            let mut full = to.full.as_deref_mut();
            let dw = full
                .as_mut()
                .and_then(|layer| layer.q_norm.as_mut())
                .map(|norm| &mut norm.data[..]);
            into.q = norm_input(q_raw, &q_norm.data, self.eps(), &into.q, dw);
            let dw = full
                .as_mut()
                .and_then(|layer| layer.k_norm.as_mut())
                .map(|norm| &mut norm.data[..]);
            into.k = norm_input(k_raw, &k_norm.data, self.eps(), &into.k, dw);
        }
        let mut d_normed = vec![0.0; d.len()];
        for (module, dy, onto) in [
            (Module::Q, &into.q, Onto::Set),
            (Module::K, &into.k, Onto::Add),
            (Module::V, &into.v, Onto::Add),
        ] {
            self.projection(module).backward(
                &projected.normed,
                dy,
                &mut d_normed,
                onto,
                to.of(module),
            );
        }
        let dw = to.full.map(|layer| &mut layer.input_norm.data[..]);
        norm::backward(x, &self.layer.input_norm.data, self.eps(), &d_normed, d, dw);
    }

    fn backward_mlp(&self, mixed: &Mixed, d: &mut [f32], to: &mut LayerGradient) {
        let mut d_gate = vec![0.0; mixed.gate.len()];
        self.projection(Module::Down).backward(
            &mixed.active,
            d,
            &mut d_gate,
            Onto::Set,
            to.of(Module::Down),
        );
        let mut d_up = vec![0.0; mixed.up.len()];
        swiglu::backward(&mixed.gate, &mixed.up, &mut d_gate, &mut d_up);
        let mut d_normed = vec![0.0; d.len()];
        let gate = self.projection(Module::Gate);
        gate.backward(
            &mixed.normed,
            &d_gate,
            &mut d_normed,
            Onto::Set,
            to.of(Module::Gate),
        );
        self.projection(Module::Up).backward(
            &mixed.normed,
            &d_up,
            &mut d_normed,
            Onto::Add,
            to.of(Module::Up),
        );
        let dw = to
            .full
            .as_deref_mut()
            .map(|layer| &mut layer.post_norm.data[..]);
        norm::backward(
            &mixed.middle,
            &self.layer.post_norm.data,
            self.eps(),
            &d_normed,
            d,
            dw,
        );
    }
}

fn norm_input(x: &[f32], w: &[f32], eps: f32, dy: &[f32], dw: Option<&mut [f32]>) -> Vec<f32> {
    let mut dx = vec![0.0; x.len()];
    norm::backward(x, w, eps, dy, &mut dx, dw);
    dx
}
