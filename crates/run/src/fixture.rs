//! Handmade steps for tests of code that reads steps.

use hotloop_flow::advantage::Fate;
use hotloop_flow::verdict::{Measured, Mismatch};
use hotloop_flow::{Role, Stage, Verdict};

use crate::event::{Asked, StepSeconds, Watched};
use crate::state::{Group, Member, Step};

pub(crate) fn correct(gflops: f64) -> Verdict {
    Verdict::Correct(Measured::steady(gflops, 1.0 / gflops))
}

pub(crate) fn suspect(gflops: f64) -> Verdict {
    Verdict::Suspect {
        why: "too fast".to_owned(),
        measured: Measured::steady(gflops, 1.0 / gflops),
    }
}

pub(crate) fn wrong() -> Verdict {
    Verdict::Wrong(Mismatch {
        why: "C[0] is 1".to_owned(),
        error: 1.0,
        paper: false,
    })
}

pub(crate) fn asked(task: Option<&str>, stage: Stage) -> Asked {
    Asked {
        task: task.map(str::to_owned),
        role: Role::Explore,
        stage: Some(stage),
        parent: None,
        variant: 0,
        beside: Vec::new(),
    }
}

/// A group of candidates that all have the hash `hash`.
pub(crate) fn group(
    asked: Asked,
    hash: &str,
    verdicts: impl IntoIterator<Item = Verdict>,
) -> Group {
    let member = |verdict: Verdict| Member {
        hash: Some(hash.to_owned()),
        normal: Some(hash.to_owned()),
        tokens: 1,
        speed: verdict.correct().and_then(Measured::gflops),
        verdict: Some(verdict),
        reward: None,
        advantage: None,
    };
    Group {
        asked,
        members: verdicts.into_iter().map(member).collect(),
        fate: Fate::Live,
        noise: 0.0,
    }
}

pub(crate) fn step(number: u64, groups: Vec<Group>) -> Step {
    let (groups, practised) = groups
        .into_iter()
        .partition(|group| group.asked.task.is_none());
    Step {
        number,
        iteration: None,
        groups,
        practised,
        lag: 0,
        temperature: 1.0,
        updated: None,
        watched: Watched {
            entropy: None,
            distinct: 1.0,
            live: 1.0,
            kl: None,
        },
        warnings: Vec::new(),
        seconds: StepSeconds::default(),
        at_s: 0.0,
    }
}
