//! The candidates of a run as a list that is filtered, sorted and read in parts.

use hotloop_flow::{Label, Role, Stage};
use serde::Serialize;

use crate::event::Place;
use crate::state::{Group, Member, RunState};

/// Which candidates are wanted. The default wants all of them, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// With one of these verdicts; any if it is empty.
    pub labels: Vec<Label>,
    /// Asked for at this stage, counted from 1.
    pub stage: Option<u8>,
    /// Asked for in this role.
    pub role: Option<Role>,
    /// Whose hash begins with these letters, or whose verdict contains them.
    pub words: String,
    pub order: Order,
    /// How many to leave out at the beginning.
    pub from: usize,
    /// How many to list.
    pub count: usize,
}

/// What comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    #[default]
    Newest,
    Fastest,
    BestRewarded,
}

/// A part of the list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listing {
    /// How many candidates are wanted.
    pub total: usize,
    /// How many there are.
    pub all: usize,
    pub rows: Vec<Row>,
}

/// A candidate in a line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    pub step: u64,
    pub group: u32,
    pub member: u32,
    /// None for malformed answers.
    pub hash: Option<String>,
    /// None where the machine failed.
    pub label: Option<Label>,
    pub speed: Option<f64>,
    pub reward: Option<f64>,
    pub stage: Option<u8>,
    pub role: Role,
    /// None for the seed.
    pub parent: Option<String>,
}

impl Row {
    pub(super) fn place(&self) -> Place {
        Place {
            step: self.step,
            group: self.group,
            member: self.member,
        }
    }

    pub(super) fn of(at: Place, group: &Group, member: &Member) -> Self {
        Self {
            step: at.step,
            group: at.group,
            member: at.member,
            hash: member.hash.clone(),
            label: label(member),
            speed: member.speed,
            reward: member.reward,
            stage: group.asked.stage.map(Stage::number),
            role: group.asked.role,
            parent: group.asked.parent.clone(),
        }
    }
}

fn label(member: &Member) -> Option<Label> {
    member.verdict.as_ref().map(hotloop_flow::Verdict::label)
}

/// The candidates of the run's own task, with their places.
pub(super) fn all(state: &RunState) -> impl Iterator<Item = (Place, &Group, &Member)> {
    state.steps.iter().flat_map(|step| {
        (0..).zip(&step.groups).flat_map(move |(group, asked)| {
            (0..).zip(&asked.members).map(move |(member, one)| {
                let at = Place {
                    step: step.number,
                    group,
                    member,
                };
                (at, asked, one)
            })
        })
    })
}

/// The wanted part of a run's candidates.
pub fn of(state: &RunState, wanted: &Wanted) -> Listing {
    let words = wanted.words.trim().to_lowercase();
    let suits = |(_, group, member): &(Place, &Group, &Member)| {
        let labelled =
            wanted.labels.is_empty() || label(member).is_some_and(|l| wanted.labels.contains(&l));
        labelled
            && wanted
                .stage
                .is_none_or(|number| group.asked.stage.is_some_and(|s| s.number() == number))
            && wanted.role.is_none_or(|role| group.asked.role == role)
            && (words.is_empty() || says(member, &words))
    };
    let mut found: Vec<(Place, &Group, &Member)> = all(state).filter(suits).collect();
    // Candidates without the number come last.
    let number = |value: Option<f64>| value.unwrap_or(f64::NEG_INFINITY);
    match wanted.order {
        Order::Newest => found.reverse(),
        Order::Fastest => found.sort_by(|a, b| number(b.2.speed).total_cmp(&number(a.2.speed))),
        Order::BestRewarded => {
            found.sort_by(|a, b| number(b.2.reward).total_cmp(&number(a.2.reward)));
        }
    }
    Listing {
        total: found.len(),
        all: state.steps.iter().map(|step| step.members().count()).sum(),
        rows: found
            .into_iter()
            .skip(wanted.from)
            .take(wanted.count)
            .map(|(at, group, member)| Row::of(at, group, member))
            .collect(),
    }
}

/// Whether a candidate's hash begins with `words`, or its verdict contains them.
fn says(member: &Member, words: &str) -> bool {
    member
        .hash
        .as_ref()
        .is_some_and(|hash| hash.starts_with(words))
        || member
            .verdict
            .as_ref()
            .is_some_and(|verdict| verdict.detail().to_lowercase().contains(words))
}

#[cfg(test)]
mod tests {
    use hotloop_flow::language::c::stages;

    use super::*;
    use crate::fixture::{asked, correct, group, step, wrong};

    #[test]
    fn candidates_are_filtered_sorted_and_read_in_parts() {
        let groups = |hash: &str, speed: f64| {
            vec![group(
                asked(None, stages::ALL),
                hash,
                [correct(speed), wrong()],
            )]
        };
        let state = RunState {
            steps: vec![
                step(0, groups("aa", 3.0)),
                step(1, groups("ab", 9.0)),
                step(2, groups("bb", 6.0)),
            ],
            ..RunState::default()
        };
        let all = Wanted {
            count: 100,
            ..Wanted::default()
        };
        let steps = |wanted: &Wanted| {
            let listing = of(&state, wanted);
            let steps: Vec<u64> = listing.rows.iter().map(|row| row.step).collect();
            (listing.total, steps)
        };
        assert_eq!(steps(&all), (6, vec![2, 2, 1, 1, 0, 0]));
        let fast = Wanted {
            labels: vec![Label::Correct],
            order: Order::Fastest,
            ..all.clone()
        };
        assert_eq!(steps(&fast), (3, vec![1, 2, 0]));
        let part = Wanted {
            from: 1,
            count: 1,
            ..fast.clone()
        };
        assert_eq!(steps(&part), (3, vec![2]));
        let said = |words: &str| Wanted {
            words: words.to_owned(),
            ..fast.clone()
        };
        assert_eq!(
            steps(&said("A")),
            (2, vec![1, 0]),
            "by the hash's beginning"
        );
        let told = Wanted {
            words: "c[0] is".to_owned(),
            ..all.clone()
        };
        assert_eq!(steps(&told).0, 3, "by what the verdict says");
        let elsewhere = Wanted {
            stage: Some(stages::ALL.number() + 1),
            ..all
        };
        assert_eq!(steps(&elsewhere).0, 0);
    }
}
