//! Why a run cannot go on for now. None of these loses anything: the run waits and resumes.

use hotloop_flow::reward::RewardError;
use hotloop_flow::seed::SeedError;
use hotloop_flow::{BenchError, ErrorKind, PolicyError, Remedy};

use crate::store::StoreError;

/// Why a run cannot go on for now.
#[derive(Debug, thiserror::Error)]
pub enum Interrupt {
    /// Someone asked it to stop.
    #[error("stopped on request")]
    Stopped,
    /// The bench as a whole failed.
    #[error("the bench failed: {0}")]
    Bench(#[from] BenchError),
    /// Too many candidates could not be judged: something is wrong with the machine.
    #[error("the bench failed on {failed} of {}; the last error: {last}", hotloop_flow::count(*.of, "candidate"))]
    Storm {
        /// Candidates that could not be judged.
        failed: usize,
        /// Candidates submitted.
        of: usize,
        /// What failed last.
        last: BenchError,
    },
    /// The bench did not answer.
    #[error("the bench gave no verdict for {0:.0} s")]
    Silent(f64),
    /// The policy failed.
    #[error("{}", policy_failure(.0))]
    Policy(PolicyError),
    /// The run directory cannot be read or written.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The reward needs something that was not measured.
    #[error("{0}")]
    Reward(#[from] RewardError),
    /// A task's own seed fails here.
    #[error(transparent)]
    Seed(#[from] SeedError),
    /// The policy should learn, but cannot.
    #[error("{0} cannot learn")]
    Unteachable(String),
    /// The run in this directory has another configuration.
    #[error("the run in this directory began with other values of {0}")]
    Reconfigured(String),
    /// The configuration of the run in this directory cannot be read.
    #[error("cannot read the configuration of the run in this directory: {}", .0.join("; "))]
    Unreadable(Vec<String>),
    /// The run belongs to another task, machine or model.
    #[error("this run began with {was}, but {is} is in use now: their results cannot be compared")]
    Foreign {
        /// What it began with.
        was: String,
        /// What is here now.
        is: String,
    },
}

/// A full disk is no failure of the policy, although the policy writes the file.
fn policy_failure(error: &PolicyError) -> String {
    match error {
        PolicyError::File { what, .. } => what.clone(),
        other => format!("the policy failed: {other}"),
    }
}

impl Interrupt {
    /// Whose fault it is. A run that the machine interrupted continues when it is resumed.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Unteachable(_) | Self::Reconfigured(_) | Self::Foreign { .. } => ErrorKind::User,
            Self::Policy(PolicyError::Unanswerable(_) | PolicyError::ContextExceeded { .. }) => {
                ErrorKind::User
            }
            Self::Stopped
            | Self::Bench(_)
            | Self::Storm { .. }
            | Self::Silent(_)
            | Self::Policy(_)
            | Self::Store(_)
            | Self::Reward(_)
            | Self::Seed(_)
            | Self::Unreadable(_) => ErrorKind::Machine,
        }
    }

    /// How the user may fix it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Bench(error) | Self::Storm { last: error, .. } => return error.hint.clone(),
            Self::Store(error) => error.hint(),
            Self::Reward(_) => "choose another reward, or install what measures it",
            Self::Unteachable(_) => "set learning.rate to 0 to search with it",
            Self::Reconfigured(_) => {
                "set them in its run.toml as they were, or start a new run in another directory"
            }
            Self::Unreadable(_) => "fix run.toml there, or start a new run in another directory",
            Self::Foreign { .. } => "start a new run",
            Self::Policy(PolicyError::ContextExceeded { .. }) => {
                "start a new run with a smaller sampling.max-tokens, or a model with a larger context"
            }
            Self::Stopped | Self::Silent(_) | Self::Policy(_) | Self::Seed(_) => return None,
        };
        Some(hint.to_owned())
    }

    /// The remedies in the hint, which the program turns into flags, keys or commands.
    pub fn remedies(&self) -> &[Remedy] {
        match self {
            Self::Bench(error) | Self::Storm { last: error, .. } => &error.remedies,
            _ => &[],
        }
    }
}

impl From<PolicyError> for Interrupt {
    fn from(error: PolicyError) -> Self {
        match error {
            PolicyError::Stopped => Self::Stopped,
            other => Self::Policy(other),
        }
    }
}
