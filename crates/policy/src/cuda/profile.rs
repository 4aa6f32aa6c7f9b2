//! Traces of an engine's work: where the time of a step goes.

use super::decoder::SlotState;
use super::engine::Engine;
use super::error::Result;
use super::resident::With;
use super::trace::{Spent, Trace};

/// Products queued ahead of a traced decode step, so that the device never waits for the host.
const AHEAD: usize = 200;

impl Engine {
    /// Starts to record where the device's time goes. Each event costs about a microsecond. Graphs
    /// are not resolved into kernels.
    pub fn begin_trace(&self) -> Result<()> {
        let device = &self.resident.device;
        device.enter()?;
        device.set_trace(Some(Trace::begin(device.event()?)));
        Ok(())
    }

    /// Where the time went since the start; empty if nothing was recorded.
    pub fn end_trace(&self) -> Result<Vec<Spent>> {
        let trace = self.resident.device.set_trace(None);
        self.wait()?;
        trace.map_or(Ok(Vec::new()), Trace::spent)
    }

    /// Where the time of `work` goes.
    pub fn trace(&mut self, work: impl FnOnce(&mut Self) -> Result<()>) -> Result<Vec<Spent>> {
        self.begin_trace()?;
        let worked = work(self);
        let spent = self.end_trace();
        worked.and(spent)
    }

    /// Where the time of one decode step goes, for `rows` answers of `position` tokens each. Room
    /// for them must exist already.
    pub fn trace_decode(&mut self, with: With, rows: usize, position: u32) -> Result<Vec<Spent>> {
        let Some(decoder) = self.decoder.take() else {
            return Ok(Vec::new());
        };
        let state = SlotState {
            seed: 1,
            token: 7,
            position,
            length: 1,
            limit: i32::MAX as u32,
            done: false,
        };
        for slot in 0..rows {
            decoder.set_state(
                &self.resident.device,
                slot,
                SlotState {
                    seed: slot as u64,
                    ..state
                },
            )?;
        }
        decoder.queue(&self.resident, with, rows)?;
        decoder.keep_busy(&self.resident, with, rows, AHEAD)?;
        let spent = self.trace(|engine| decoder.queue(&engine.resident, with, rows));
        self.decoder = Some(decoder);
        spent
    }
}
