//! What a step works with: the plan, the two traits, the journal and the state.

use std::sync::atomic::{AtomicBool, Ordering};

use hotloop_flow::policy::Chat;
use hotloop_flow::{Bench, Policy, Render, WeightedTokens};

use crate::event::{Asked, Event, Line};
use crate::interrupt::Interrupt;
use crate::plan::Plan;
use crate::prompt::Prompts;
use crate::state::RunState;
use crate::store::Store;

/// Hears of every event, with the state that it led to.
pub type Observer<'a> = dyn FnMut(&Event, &RunState) + 'a;

pub(crate) struct Ctx<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) policy: &'a mut dyn Policy,
    pub(crate) bench: &'a mut dyn Bench,
    pub(crate) render: &'a dyn Render,
    pub(crate) store: &'a mut Store,
    pub(crate) state: RunState,
    pub(crate) observer: &'a mut Observer<'a>,
    /// Seconds since 1970.
    pub(crate) clock: &'a dyn Fn() -> f64,
    /// Seconds that never leap.
    pub(crate) stopwatch: &'a dyn Fn() -> f64,
    pub(crate) stop: &'a AtomicBool,
    /// Jobs are numbered through a process, so that late replies name no later job.
    pub(crate) jobs: u64,
}

impl Ctx<'_> {
    /// The one way in which anything becomes true: journal, then state, then whoever watches.
    pub(crate) fn record(&mut self, event: Event) -> Result<(), Interrupt> {
        let line = Line::new(event, (self.clock)());
        self.store.append(&line)?;
        self.state.apply(&line.event, line.at_s);
        (self.observer)(&line.event, &self.state);
        Ok(())
    }

    pub(crate) fn check_stop(&self) -> Result<(), Interrupt> {
        if self.stop.load(Ordering::Relaxed) {
            Err(Interrupt::Stopped)
        } else {
            Ok(())
        }
    }

    /// Where the stopwatch stands: only differences mean something.
    pub(crate) fn now(&self) -> f64 {
        (self.stopwatch)()
    }

    /// Puts what is asked into the policy's language.
    pub(crate) fn chat(&self, asked: &Asked) -> Result<Chat, Interrupt> {
        let Self {
            plan,
            state,
            render,
            store,
            ..
        } = self;
        Ok(Prompts {
            plan,
            state,
            render: *render,
            directory: store.directory(),
        }
        .chat(asked, state.finished())?)
    }

    /// Lets the policy learn again what the journal says it learned after its checkpoint.
    pub(crate) fn replay(&mut self) -> Result<(), Interrupt> {
        let updates: Vec<Vec<WeightedTokens>> = self
            .state
            .replay
            .iter()
            .map(|(_, batch)| batch.clone())
            .collect();
        for batch in updates {
            self.check_stop()?;
            self.policy.update(&batch)?;
        }
        Ok(())
    }
}
