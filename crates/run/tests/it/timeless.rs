//! Facts without times, to compare two runs.

use hotloop_flow::bench::Seconds;
use hotloop_run::Event;
use hotloop_run::event::StepSeconds;

pub(crate) fn event(mut event: Event) -> Event {
    match &mut event {
        Event::SeedJudged { judgement, .. } | Event::CandidateJudged { judgement, .. } => {
            judgement.seconds = Seconds::default();
        }
        Event::CandidateConfirmed { judgements, .. } => {
            for judgement in judgements {
                judgement.seconds = Seconds::default();
            }
        }
        Event::ProbeJudged(probe) => {
            for judgement in probe.judgements.iter_mut().flatten() {
                judgement.seconds = Seconds::default();
            }
        }
        Event::StepFinished(finished) => finished.seconds = StepSeconds::default(),
        Event::RunStarted(_)
        | Event::RunResumed { .. }
        | Event::ParentsChosen { .. }
        | Event::ParentProfiled { .. }
        | Event::StepSampled(_)
        | Event::CandidateMasked { .. }
        | Event::CandidateReviewed(_)
        | Event::CheckpointSaved { .. }
        | Event::RunPaused { .. }
        | Event::RunEnded { .. } => {}
    }
    event
}

/// Whether this event describes a process rather than the run.
pub(crate) fn is_interruption(event: &Event) -> bool {
    matches!(event, Event::RunResumed { .. } | Event::RunPaused { .. })
}
