//! Where the device's time goes: an event behind everything that is queued, and the times between neighbours.

use cudarc::driver::CudaEvent;

use super::decoder::SlotState;
use super::device::Device;
use super::engine::{Engine, With};
use super::error::{Error, Result};

/// Products queued ahead of a traced decode step, so that the host is never what the device waits for.
const AHEAD: usize = 200;

/// What was queued, with the event behind each.
pub(super) struct Trace {
    start: CudaEvent,
    queued: Vec<(String, CudaEvent)>,
}

/// Everything of one kind that was queued, in the order of first use.
#[derive(Debug, Clone, PartialEq)]
pub struct Spent {
    /// The kernel, or the product and its size.
    pub what: String,
    /// How often.
    pub times: usize,
    /// Milliseconds in all.
    pub ms: f64,
}

impl Trace {
    fn begin(device: &Device) -> Result<Self> {
        Ok(Self {
            start: device.event()?,
            queued: Vec::new(),
        })
    }

    pub(super) fn note(&mut self, device: &Device, what: String) -> Result<()> {
        self.queued.push((what, device.event()?));
        Ok(())
    }

    fn spent(self) -> Result<Vec<Spent>> {
        let mut all: Vec<Spent> = Vec::new();
        let mut last = self.start;
        for (what, event) in self.queued {
            let elapsed = last.elapsed_ms(&event).map_err(|source| Error::Driver {
                at: "timing",
                source,
            })?;
            let ms = f64::from(elapsed);
            match all.iter_mut().find(|spent| spent.what == what) {
                Some(spent) => (spent.times, spent.ms) = (spent.times + 1, spent.ms + ms),
                None => all.push(Spent { what, times: 1, ms }),
            }
            last = event;
        }
        Ok(all)
    }
}

impl Engine {
    /// Notes from now on where the device's time goes. Events cost a microsecond or so each; graphs are not looked into.
    pub fn begin_trace(&self) -> Result<()> {
        self.device.enter()?;
        self.device.set_trace(Some(Trace::begin(&self.device)?));
        Ok(())
    }

    /// Where it went since; nothing where nothing was noted.
    pub fn end_trace(&self) -> Result<Vec<Spent>> {
        let trace = self.device.set_trace(None);
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

    /// Where the time of one decode step of `rows` answers goes, each `position` tokens long. Room must have been
    /// made for them.
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
                &self.device,
                slot,
                SlotState {
                    seed: slot as u64,
                    ..state
                },
            )?;
        }
        decoder.queue(self, with, rows)?;
        decoder.keep_busy(self, with, rows, AHEAD)?;
        let spent = self.trace(|engine| decoder.queue(engine, with, rows));
        self.decoder = Some(decoder);
        spent
    }
}
