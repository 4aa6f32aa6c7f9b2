//! Records where the device's time goes, by an event after each queued piece of work and the times
//! between them.

use cudarc::driver::CudaEvent;

use super::error::{Error, Result};

/// The queued work, with the event after each.
pub(super) struct Trace {
    start: CudaEvent,
    queued: Vec<(String, CudaEvent)>,
}

/// All queued work of one kind, in the order of first use.
#[derive(Debug, Clone, PartialEq)]
pub struct Spent {
    /// The kernel, or the product and its size.
    pub what: String,
    /// How often.
    pub times: usize,
    /// Total milliseconds.
    pub ms: f64,
}

impl Trace {
    pub(super) fn begin(start: CudaEvent) -> Self {
        Self {
            start,
            queued: Vec::new(),
        }
    }

    /// Notes what was queued before this event.
    pub(super) fn note(&mut self, what: String, behind: CudaEvent) {
        self.queued.push((what, behind));
    }

    pub(super) fn spent(self) -> Result<Vec<Spent>> {
        let mut all: Vec<Spent> = Vec::new();
        let mut last = self.start;
        for (what, event) in self.queued {
            let elapsed = last.elapsed_ms(&event).map_err(|source| Error::Driver {
                at: "timing",
                source,
            })?;
            let ms = f64::from(elapsed);
            match all.iter_mut().find(|spent| spent.what == what) {
                Some(spent) => {
                    spent.times += 1;
                    spent.ms += ms;
                }
                None => all.push(Spent { what, times: 1, ms }),
            }
            last = event;
        }
        Ok(all)
    }
}
