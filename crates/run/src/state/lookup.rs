//! Finds candidates of a run, and what is known about them.

use hotloop_flow::verdict::Label;
use hotloop_flow::{Role, Verdict};

use super::{Group, Member, RunState, Step};
use crate::event::Asked;

impl RunState {
    /// The step, group and member in which a candidate first appeared.
    pub fn birth(&self, hash: &str) -> Option<(&Step, &Group, &Member)> {
        self.steps.iter().find_map(|step| {
            step.groups.iter().find_map(|group| {
                let member = group
                    .members
                    .iter()
                    .find(|member| member.hash.as_deref() == Some(hash))?;
                Some((step, group, member))
            })
        })
    }

    /// The parent's last verdict within the first `known` steps that fits the prompt's role. A
    /// program that is correct at one stage may be refused at another.
    pub fn verdict(&self, asked: &Asked, known: u64) -> Option<&Verdict> {
        let suits = |group: &Group, verdict: &Verdict| match asked.role {
            Role::Explore => true,
            Role::Deepen | Role::Improve => verdict.label() == Label::Correct,
            Role::Repair => verdict.label().is_broken() && group.asked.stage == asked.stage,
        };
        let parent = asked.parent.as_deref()?;
        let steps = self.steps.iter().take_while(|step| step.number < known);
        let groups = steps.flat_map(|step| &step.groups);
        let judged =
            groups.flat_map(|group| group.members.iter().map(move |member| (group, member)));
        let found = judged.filter(|(_, member)| member.hash.as_deref() == Some(parent));
        found
            .filter_map(|(group, member)| {
                member
                    .verdict
                    .as_ref()
                    .filter(|verdict| suits(group, verdict))
            })
            .last()
    }

    /// The first correct verdict of a candidate.
    pub fn correct(&self, hash: &str) -> Option<&Verdict> {
        let members = self.steps.iter().flat_map(Step::members);
        let mut found = members.filter(|member| member.hash.as_deref() == Some(hash));
        found.find_map(|member| {
            let verdict = member.verdict.as_ref()?;
            (verdict.label() == Label::Correct).then_some(verdict)
        })
    }

    /// The candidates from the seed to `hash`, oldest first; the seed itself is left out.
    pub fn lineage(&self, hash: &str) -> Vec<(&Step, &Group, &Member)> {
        let mut path: Vec<(&Step, &Group, &Member)> = Vec::new();
        let mut next = Some(hash);
        while let Some(birth) = next.and_then(|hash| self.birth(hash)) {
            // A copy of an ancestor would make the lineage circular.
            if path
                .iter()
                .any(|(_, _, member)| member.hash == birth.2.hash)
            {
                break;
            }
            next = birth.1.asked.parent.as_deref();
            path.push(birth);
        }
        path.reverse();
        path
    }
}
