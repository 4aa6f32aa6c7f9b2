//! Stops cleanly: the first signal asks, the second one ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use crate::failure::Failure;

/// Whether the user asked to stop.
#[derive(Debug, Clone)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Listens from now on. A second signal ends the program at once; its children die with it.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_shutdown(signal, 130, Arc::clone(&asked))
                .and_then(|_| flag::register(signal, Arc::clone(&asked)))
                .map_err(|error| Failure::machine(format!("signals cannot be caught: {error}")))?;
        }
        Ok(Self(asked))
    }

    /// Whether a signal came.
    pub(crate) fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag that a signal sets.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.0
    }

    /// A shared handle to the flag.
    pub(crate) fn shared(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Clears the signal after the work that it stopped has ended.
    pub(crate) fn forget(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Sets the flag without a signal, because nobody reads the output any more.
    pub(crate) fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Counts in `asked` how often a signal asks the program to stop, whichever of them a scheduler
/// sends. The third one ends the program at once.
pub(crate) fn count_requests(asked: Arc<AtomicU32>) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2])
        .map_err(|error| Failure::machine(format!("signals cannot be caught: {error}")))?;
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if asked.fetch_add(1, Ordering::Relaxed) >= 2 {
                std::process::exit(130);
            }
        }
    });
    Ok(())
}
