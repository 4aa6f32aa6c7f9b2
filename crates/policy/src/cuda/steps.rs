//! Decoding without the host: one step of all slots, captured as a graph and replayed.

use super::decoder::{Decoder, Draws};
use super::error::Result;
use super::resident::{Resident, With};
use super::way::DecodeWay;

impl Decoder {
    /// Queues one step of the first `rows` slots.
    pub(super) fn queue(&self, resident: &Resident, with: With, rows: usize) -> Result<()> {
        let lora = resident
            .adapted(with, None)
            .map(|adapted| &adapted.adapter.plan.config);
        let fuses = DecodeWay::fuses(resident.model.config.hidden, lora);
        let queued = (fuses && self.queue_fused(resident, with, rows)?)
            || self.queue_joined(resident, with, rows)?;
        if queued {
            return Ok(());
        }
        self.queue_plain(resident, with, rows)?;
        let identity = self.cache.identity.address;
        let draws = Draws {
            rows: identity,
            slots: identity,
            count: rows,
        };
        self.sample(resident, self.logits.address, draws)
    }

    /// Runs `steps` steps of the first `rows` slots. The first step with a number of rows runs
    /// without a graph, because libraries load their kernels then, which a capture does not allow.
    /// Every later step is one graph.
    pub(super) fn steps(
        &mut self,
        resident: &Resident,
        with: With,
        rows: usize,
        steps: usize,
    ) -> Result<()> {
        let key = (rows, with);
        let mut left = steps;
        if left > 0 && !self.graphs.contains_key(&key) {
            self.queue(resident, with, rows)?;
            left -= 1;
            let graph = resident
                .device
                .capture(|| self.queue(resident, with, rows))?;
            self.graphs.insert(key, graph);
        }
        for _ in 0..left {
            resident.device.replay(&self.graphs[&key])?;
        }
        Ok(())
    }
}
/// The number of rows that a step is captured for: the next power of two, so that few graphs are
/// enough.
pub(super) fn bucket(rows: usize, slots: usize) -> usize {
    rows.next_power_of_two().min(slots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_few_and_never_exceed_the_slots() {
        assert_eq!(
            [1, 2, 3, 64, 65].map(|rows| bucket(rows, 96)),
            [1, 2, 4, 64, 96]
        );
    }
}
