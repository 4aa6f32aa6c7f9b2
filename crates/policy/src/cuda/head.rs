//! From the last hidden states to logprobs of given tokens, and back, a chunk of rows at a time.
//!
//! The loss stays on the host. It maps each token's logprob to a slope, so that every loss is one
//! pure function that the CPU uses, too. A chunk has thousands of rows, so the round trip is
//! negligible.

use super::device::{Address, Launch, args};
use super::error::Result;
use super::layer::Pass;
use super::product::{Dims, Operand, Target as To};
use super::workspace::{HeadSpace, Workspace};
use crate::pack::{Coefficient, Scored, Target};

impl Pass<'_> {
    fn head(&self) -> Operand {
        Operand::rows(
            self.model.arena.at(self.model.head_offset()),
            self.model.config.hidden,
        )
    }

    /// Computes f32 logits of gathered rows of `hidden` into `space.logits`. The row numbers are at
    /// `space.rows`.
    pub(super) fn logits(&self, hidden: Address, rows: usize, space: &HeadSpace) -> Result<()> {
        let (width, vocab) = (self.model.config.hidden, self.model.config.vocab);
        let arguments = args![hidden, &space.rows, &space.gathered, width as i32];
        self.device
            .launch("gather_rows", Launch::rows(rows, width), arguments)?;
        self.norm(
            space.gathered.address,
            self.model.plan.norm.offset,
            space.normed.address,
            rows,
        )?;
        self.logits_of(space.normed.address, rows, space.logits.address, vocab)
    }

    /// f32 logits of normed rows.
    pub(super) fn logits_of(
        &self,
        normed: Address,
        rows: usize,
        to: Address,
        vocab: usize,
    ) -> Result<()> {
        let width = self.model.config.hidden;
        let dims = Dims(rows, vocab, width);
        self.blas.product(
            Operand::rows(normed, width),
            self.head().t(),
            To::wide(to, vocab),
            dims,
            1.0,
        )
    }

    /// Scores a chunk of targets. The logits stay in `space`.
    fn score_chunk(
        &self,
        hidden: Address,
        targets: &[Target],
        temperature: f32,
        space: &HeadSpace,
    ) -> Result<Vec<Scored>> {
        let rows: Vec<i32> = targets.iter().map(|target| target.row as i32).collect();
        let tokens: Vec<i32> = targets.iter().map(|target| target.token as i32).collect();
        self.device.write(space.rows.address, &rows)?;
        self.device.write(space.tokens.address, &tokens)?;
        self.logits(hidden, targets.len(), space)?;
        let (vocab, factor) = (self.model.config.vocab as i32, 1.0 / temperature);
        let arguments = args![
            &space.logits,
            &space.tokens,
            &space.scores,
            &space.facts,
            vocab,
            factor
        ];
        self.device.launch(
            "score_rows",
            Launch::grid(targets.len(), 1, 1, 512),
            arguments,
        )?;
        let scores: Vec<[f32; 2]> = self.device.read(space.scores.address, targets.len())?;
        Ok(scores
            .into_iter()
            .map(|[logprob, entropy]| Scored { logprob, entropy })
            .collect())
    }

    /// Scores every target.
    pub(super) fn scores(
        &self,
        hidden: Address,
        targets: &[Target],
        temperature: f32,
        space: &HeadSpace,
    ) -> Result<Vec<Scored>> {
        let mut scores = Vec::with_capacity(targets.len());
        for chunk in targets.chunks(space.chunk) {
            scores.extend(self.score_chunk(hidden, chunk, temperature, space)?);
        }
        Ok(scores)
    }

    /// Scores every target, gets its slope, and leaves the gradient of the hidden states in
    /// `space.backward`.
    pub(super) fn head_gradient(
        &self,
        hidden: Address,
        targets: &[Target],
        temperature: f32,
        coefficient: &mut Coefficient,
        space: &Workspace,
    ) -> Result<()> {
        let backward = space.backward.as_ref().expect("reserved to learn");
        let space = &space.head;
        let (width, vocab) = (self.model.config.hidden, self.model.config.vocab);
        self.device
            .clear(backward.d.address, self.device.reals(self.rows * width))?;
        for (nth, chunk) in targets.chunks(space.chunk).enumerate() {
            let (first, rows) = (nth * space.chunk, chunk.len());
            let scores = self.score_chunk(hidden, chunk, temperature, space)?;
            let slopes: Vec<f32> = scores
                .iter()
                .enumerate()
                .map(|(index, scored)| coefficient(first + index, *scored))
                .collect();
            self.device.write(space.slopes.address, &slopes)?;
            let Some(d_logits) = &space.d_logits else {
                unreachable!("a workspace that learns has gradients")
            };
            let (count, factor) = (vocab as i32, 1.0 / temperature);
            let arguments = args![
                &space.logits,
                &space.tokens,
                &space.facts,
                &space.slopes,
                d_logits,
                count,
                factor
            ];
            self.device.launch(
                "logit_gradient",
                Launch::grid(vocab.div_ceil(4096), rows, 1, 256),
                arguments,
            )?;
            let d = Operand::rows(d_logits.address, vocab);
            let d_normed = To::set(space.d_normed.address, width);
            self.blas
                .product(d, self.head(), d_normed, Dims(rows, width, vocab), 1.0)?;
            if let Some(gradient) = self.model.arena.gradient(self.model.head_offset()) {
                let normed = Operand::rows(space.normed.address, width);
                let to = To::gradient(gradient, width);
                self.blas
                    .product(d.t(), normed, to, Dims(vocab, width, rows), 1.0)?;
            }
            // The normed rows are not needed any more, so their memory takes the gradient of the
            // gathered rows.
            let d_gathered = space.normed.address;
            self.backward_final_norm(
                space.gathered.address,
                space.d_normed.address,
                d_gathered,
                rows,
                backward,
            )?;
            let arguments = args![d_gathered, &space.rows, &backward.d, width as i32];
            self.device
                .launch("scatter_rows", Launch::rows(rows, width), arguments)?;
        }
        Ok(())
    }
}
