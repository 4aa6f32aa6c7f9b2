//! `AdamW` with f32 moments and masters, and clipping by the norm of the whole gradient.

use crate::model::Tensor;

/// The constants of `AdamW`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptimConfig {
    /// Decay rate of the mean.
    pub beta1: f64,
    /// Decay rate of the square.
    pub beta2: f64,
    /// Added to the root of the square.
    pub eps: f64,
    /// Decoupled decay of matrices; norms and biases do not decay.
    pub weight_decay: f64,
    /// Maximum norm of the gradient; 0 disables clipping.
    pub max_norm: f64,
}

/// Running mean and square of one tensor's gradient.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// Of the gradient.
    pub mean: Vec<f32>,
    pub square: Vec<f32>,
}

/// `AdamW` and its state.
#[derive(Debug, Clone, PartialEq)]
pub struct AdamW {
    /// Its constants.
    pub config: OptimConfig,
    /// Steps taken.
    pub steps: u64,
    /// One entry per trained tensor.
    pub moments: Vec<Moments>,
}

impl AdamW {
    /// A fresh state for tensors of these sizes.
    pub fn new(config: OptimConfig, sizes: impl Iterator<Item = usize>) -> Self {
        let zero = |size| Moments {
            mean: vec![0.0; size],
            square: vec![0.0; size],
        };
        Self {
            config,
            steps: 0,
            moments: sizes.map(zero).collect(),
        }
    }

    /// Takes one step against the gradient at this rate. `norm` is the norm of the whole gradient.
    pub fn step(&mut self, rate: f64, norm: f64, values: Vec<&mut Tensor>, gradients: &[&Tensor]) {
        assert_eq!(
            values.len(),
            self.moments.len(),
            "the optimiser was made for other tensors"
        );
        assert_eq!(values.len(), gradients.len(), "one gradient a tensor");
        self.steps += 1;
        let OptimConfig {
            beta1,
            beta2,
            eps,
            weight_decay,
            max_norm,
        } = self.config;
        let power = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let shorten = if max_norm > 0.0 && norm > max_norm {
            (max_norm / (norm + 1e-6)) as f32
        } else {
            1.0
        };
        let size = (rate / (1.0 - beta1.powi(power))) as f32;
        let root = (1.0 / (1.0 - beta2.powi(power)).sqrt()) as f32;
        let (beta1, beta2, eps) = (beta1 as f32, beta2 as f32, eps as f32);
        for ((value, gradient), moments) in values.into_iter().zip(gradients).zip(&mut self.moments)
        {
            let keep = if value.shape.len() > 1 {
                (1.0 - rate * weight_decay) as f32
            } else {
                1.0
            };
            let state = moments.mean.iter_mut().zip(&mut moments.square);
            for ((value, gradient), (mean, square)) in
                value.data.iter_mut().zip(&gradient.data).zip(state)
            {
                let gradient = gradient * shorten;
                *mean = beta1 * *mean + (1.0 - beta1) * gradient;
                *square = beta2 * *square + (1.0 - beta2) * gradient * gradient;
                *value = *value * keep - size * *mean / (square.sqrt() * root + eps);
            }
        }
    }
}

/// Euclidean norm over all tensors, summed in f64.
pub(crate) fn norm(gradients: &[&Tensor]) -> f64 {
    let square = |tensor: &&Tensor| {
        tensor
            .data
            .iter()
            .map(|value| f64::from(*value).powi(2))
            .sum::<f64>()
    };
    gradients.iter().map(square).sum::<f64>().sqrt()
}
