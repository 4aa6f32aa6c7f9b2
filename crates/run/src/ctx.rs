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

/// Receives every event and the state after it.
pub type Observer<'a> = dyn FnMut(&Event, &RunState) + 'a;

pub(crate) struct Ctx<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) policy: &'a mut dyn Policy,
    pub(crate) reviewer: Option<&'a mut dyn Policy>,
    pub(crate) bench: &'a mut dyn Bench,
    pub(crate) render: &'a dyn Render,
    pub(crate) store: &'a mut Store,
    pub(crate) state: RunState,
    pub(crate) observer: &'a mut Observer<'a>,
    /// Seconds since 1970.
    pub(crate) clock: &'a dyn Fn() -> f64,
    /// Monotonic seconds.
    pub(crate) stopwatch: &'a dyn Fn() -> f64,
    pub(crate) stop: &'a AtomicBool,
    /// Job numbers are unique within a process, so that a late reply cannot match a later job.
    pub(crate) jobs: u64,
}

impl Ctx<'_> {
    /// Records an event: first in the journal, then in the state, then with the observer. Nothing
    /// else changes the state.
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

    /// Reads the stopwatch. Only differences between two readings are meaningful.
    pub(crate) fn now(&self) -> f64 {
        (self.stopwatch)()
    }

    /// The share of the budget that is spent, by the limit that is nearest.
    pub(crate) fn spent_share(&self) -> f64 {
        let (budget, state) = (&self.plan.config.budget, &self.state);
        let limits = [
            (state.finished() as f64, budget.steps as f64),
            (state.stepping_s(), budget.seconds),
            (state.iterations.len() as f64, f64::from(budget.iterations)),
            (state.judged_answers() as f64, budget.answers as f64),
        ];
        let limited = limits.into_iter().filter(|(_, limit)| *limit > 0.0);
        limited
            .map(|(spent, limit)| spent / limit)
            .fold(0.0, f64::max)
    }

    /// Renders the prompt for the policy.
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

    /// Repeats the updates that the journal lists after the last checkpoint.
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
