//! A module to judge, and what became of it.

use serde::{Deserialize, Serialize};

use crate::gpu::examine::work::Answer;
use crate::gpu::image::Image;
use crate::gpu::plan::Plan;
use crate::torch::worker::{Baselines, TorchPython};

/// An answer to a problem for torch, compiled and planned.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ModuleWork {
    /// The text of the problem, which torch runs.
    pub(crate) problem: String,
    /// The device halves of its extensions. The plan names them by their places.
    pub(crate) images: Vec<Image>,
    /// What one call of `forward` does.
    pub(crate) plan: Plan,
    /// What each argument of the plan is.
    pub(crate) given: Vec<Given>,
    pub(crate) outputs: Vec<Returned>,
    /// Whether to time `torch.compile` as well.
    pub(crate) with_compiled: bool,
    /// Seconds that one call may take.
    pub(crate) limit_s: f64,
    /// Runs on plain inputs that are timed at least.
    pub(crate) runs: u32,
}

/// What a module is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Given {
    /// By its place among the arguments of `forward`.
    Input(usize),
    /// By its name in `Model`.
    Parameter(String),
}

/// A tensor that a module returns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Returned {
    /// Its memory, by its place among the plan's.
    pub(crate) buffer: usize,
    /// Bytes from the memory's begin.
    pub(crate) offset: u64,
    /// The name of its element type.
    pub(crate) dtype: String,
    pub(crate) shape: Vec<u64>,
    /// In elements.
    pub(crate) strides: Vec<u64>,
}

impl Returned {
    pub(crate) fn elements(&self) -> u64 {
        self.shape
            .iter()
            .fold(1, |product, length| product.saturating_mul(*length))
    }

    /// Whether two of its elements may be one.
    pub(super) fn overlaps(&self) -> bool {
        if self.elements() == 0 {
            return false;
        }
        let dimensions = self.shape.iter().zip(&self.strides);
        let mut dimensions: Vec<(u64, u64)> = dimensions
            .filter(|(length, _)| **length > 1)
            .map(|(length, stride)| (*stride, *length))
            .collect();
        dimensions.sort_unstable();
        let mut reach: u64 = 0;
        dimensions.into_iter().any(|(stride, length)| {
            let meets = stride <= reach;
            reach = reach.saturating_add(stride.saturating_mul(length - 1));
            meets
        })
    }
}

/// What became of a module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ModuleAnswer {
    pub(crate) answer: Answer,
    /// What torch takes; nothing if the answer never ran.
    pub(crate) torch: Option<Baselines>,
}

/// The torch that knows what is right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TorchSite {
    pub(crate) python: TorchPython,
    /// `cuda`, or `cpu` for tests whose GPU is emulated.
    pub(crate) device: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_may_be_one_are_seen() {
        let overlaps = |shape: &[u64], strides: &[u64]| {
            let returned = Returned {
                buffer: 0,
                offset: 0,
                dtype: "float32".to_owned(),
                shape: shape.to_vec(),
                strides: strides.to_vec(),
            };
            returned.overlaps()
        };
        assert!(!overlaps(&[2, 3], &[3, 1]));
        assert!(!overlaps(&[2, 3], &[1, 2]), "transposed");
        assert!(!overlaps(&[2, 3], &[8, 2]), "with gaps");
        assert!(!overlaps(&[1, 3], &[0, 1]));
        assert!(!overlaps(&[], &[]));
        assert!(!overlaps(&[0, 5], &[0, 0]));
        assert!(overlaps(&[2, 3], &[0, 1]), "expanded");
        assert!(overlaps(&[2, 3], &[2, 1]));
        assert!(overlaps(&[2], &[0]));
    }
}
