//! A run's correct answers with their prompts, as training data for this or another policy.

use std::collections::HashSet;

use hotloop_flow::policy::Chat;
use hotloop_flow::{Render, Stage};

use crate::event::Asked;
use crate::plan::Plan;
use crate::prompt::Prompts;
use crate::state::{RunState, Step};
use crate::store::{self, StoreError};

/// A correct answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Winner {
    /// The task's name.
    pub task: String,
    /// The stage whose rules applied.
    pub stage: Option<Stage>,
    /// What was asked.
    pub asked: Chat,
    /// The program.
    pub source: String,
    /// Its speed in the task's unit.
    pub speed: f64,
    /// How many times as fast it is as the program that the prompt showed, where that one was
    /// correct. A prompt without a parent shows the seed; a fixed prompt shows nothing.
    pub gain: Option<f64>,
}

/// All correct answers of a run, including those of practised tasks. Each program appears once per
/// prompt.
pub fn winners(
    plan: &Plan,
    state: &RunState,
    render: &dyn Render,
) -> Result<Vec<Winner>, StoreError> {
    let prompts = Prompts {
        plan,
        state,
        render,
        directory: &plan.directory,
    };
    let (mut winners, mut seen) = (Vec::new(), HashSet::new());
    let groups = |step| Step::all_groups(step).map(move |group| (step, group));
    for (step, group) in state.steps.iter().flat_map(groups) {
        let right: Vec<_> = group
            .members
            .iter()
            .filter_map(|member| Some((member.hash.as_ref()?, member.speed?)))
            .collect();
        if right.is_empty() {
            continue;
        }
        // A step that was sampled ahead knew fewer verdicts.
        let known = step.number - step.lag;
        let chat = prompts.chat(&group.asked, known)?;
        let parent = parent_speed(state, &group.asked, known);
        for (hash, speed) in right {
            if !seen.insert((
                chat.messages.last().map(|message| message.content.clone()),
                hash,
            )) {
                continue;
            }
            winners.push(Winner {
                task: plan.task_of(group.asked.task.as_deref()).spec.name.clone(),
                stage: group.asked.stage,
                asked: chat.clone(),
                source: store::source(&plan.directory, hash)?,
                speed,
                gain: parent.map(|parent| speed / parent),
            });
        }
    }
    Ok(winners)
}

/// The speed of the program that a prompt showed, in the unit of its task.
fn parent_speed(state: &RunState, asked: &Asked, known: u64) -> Option<f64> {
    asked.stage?;
    let task = asked.task.as_deref();
    let verdict = match &asked.parent {
        Some(_) => state.verdict(asked, known)?,
        None => &state.seed_of(task)?.verdict,
    };
    verdict.correct()?.speed(state.context_of(task).pace)
}
