//! Completions of prompts by a placed model.

use hotloop_flow::policy::Completion;

use crate::cuda::{self, With};
use crate::placed::{Place, Placed, lock};
use crate::sample::Generation;

impl Placed {
    /// `count` completions of each prompt, prompt by prompt. After a halt they are incomplete.
    pub fn generate(
        &self,
        prompts: &[Vec<u32>],
        count: usize,
        how: &Generation,
    ) -> Result<Vec<Completion>, cuda::Error> {
        match &self.place {
            Place::Cpu => Ok(self.network.generate(self.adapted(), prompts, count, how)),
            Place::Cuda(engine) => lock(engine).generate(With::Trained, prompts, count, how),
        }
    }
}
