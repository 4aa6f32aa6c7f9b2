//! The CUDA corpus as chats with a run's prompts.

use hotloop_corpus::cuda;
use hotloop_flow::language::cuda::scan;
use hotloop_flow::policy::Chat;
use hotloop_flow::{Role, Stage, Task};

use super::lesson::Lesson;

/// Whether the corpus of CUDA candidates knows a task of this name.
pub(super) fn knows(task: &str) -> bool {
    cuda::TASKS.contains(&task)
}

/// Candidates for a task with their stages: the first whose rules they keep.
pub(super) fn sources(task: &Task, seed: u64, count: usize) -> Vec<(String, Stage)> {
    let programs = cuda::programs(&task.spec.name, seed, count);
    let with_stage = programs.iter().filter_map(|program| {
        let source = program.source();
        let found = scan(&source);
        let mut stages = task.spec.stages.iter();
        let stage = stages
            .find(|rules| rules.violation(&found).is_none())?
            .stage;
        Some((source, stage))
    });
    with_stage.collect()
}

/// The prompt of a stage that shows the seed, and the candidate as its answer.
pub(super) fn chat(lesson: &Lesson<'_>, source: &str, stage: Stage) -> Chat {
    lesson.answered(stage, Role::Explore, &lesson.task.seed, source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::corpus::lesson::prose;
    use crate::cmd::judge::load;

    #[test]
    fn answers_begin_as_runs_begin_them_and_keep_their_stage() {
        let prose = prose();
        for name in cuda::TASKS {
            let task = load(name).expect("it is shipped");
            let lesson = Lesson {
                prose: &prose,
                task: &task,
            };
            let sources = sources(&task, 1, 60);
            assert_eq!(
                sources.len(),
                60,
                "{name}: the last stage allows everything"
            );
            for (source, stage) in &sources {
                let chat = chat(&lesson, source, *stage);
                let answer = &chat.messages.last().expect("an answer").content;
                assert!(answer.starts_with(&chat.begun), "{}\n{answer}", chat.begun);
            }
        }
    }
}
