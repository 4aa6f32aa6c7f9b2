//! What every search chooses, and by which rules.

use serde::{Deserialize, Serialize};

use crate::prompt::Role;
use crate::stage::Stage;

/// The rules of the search, and switches for ablations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Maximum number of parents per iteration, including the seed.
    pub parents: usize,
    /// Whether to use stages and their rules. Otherwise the search starts with the last stage.
    pub stages: bool,
    /// Whether to repair failed candidates.
    pub repair: bool,
    /// Whether fast candidates go to the next stage. Otherwise they stay at theirs.
    pub deepening: bool,
    /// How many of each stage's fastest stay for the next iteration; 0 in the paper.
    pub elites: usize,
    /// The last stage of the task.
    pub last: Stage,
}

impl Settings {
    /// The stage of the seed's prompt.
    pub fn first_stage(self) -> Stage {
        if self.stages { Stage::FIRST } else { self.last }
    }

    /// The next stage for a good candidate. The last stage leads to itself.
    pub(super) fn deeper(self, stage: Stage) -> Stage {
        if stage < self.last {
            Stage::numbered(stage.number() + 1)
        } else {
            self.last
        }
    }

    pub(super) fn allows(self, role: Role) -> bool {
        role != Role::Repair || self.repair
    }
}

/// A node to expand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The candidate's hash; `None` for the seed.
    pub hash: Option<String>,
    /// Why it was chosen.
    pub role: Role,
    /// The stage of its children.
    pub stage: Stage,
}
