//! Correct answers of policies as chats, for a warm start from verified answers instead of
//! synthetic ones.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::path::Path;

use hotloop_flow::{Label, Role, Stage, Task};
use hotloop_run::RunState;
use serde::Deserialize;
use serde_json::json;

use super::lesson::{Lesson, answer, prose};
use crate::cli::corpus::WinnersArgs;
use crate::cmd::evaluate::kept;
use crate::cmd::{report, train};
use crate::failure::{Failure, Status};
use crate::output::{count, say};
use crate::{nano, runs};

/// The keys used from a line of `answers.jsonl`, which `hotloop evaluate --keep` writes.
#[derive(Deserialize)]
struct Kept {
    policy: String,
    task: String,
    stage: Stage,
    verdict: Option<Label>,
    gflops: Option<f64>,
    speedup: Option<f64>,
    file: String,
}

/// A correct answer, as a chat.
struct Win {
    task: String,
    stage: Option<Stage>,
    speed: f64,
    /// How many times as fast it is as the program that its prompt showed, where that is known.
    gain: Option<f64>,
    chat: String,
}

/// Correct answers, and the number of all answers.
#[derive(Default)]
struct Wins {
    right: Vec<Win>,
    answers: usize,
}

/// Writes the chats of all correct answers in some folders. Each program appears once per prompt.
pub(super) fn write(arguments: &WinnersArgs) -> Result<Status, Failure> {
    let mut wins = Wins::default();
    for folder in &arguments.folder {
        if folder.join("run.toml").exists() {
            wins.of_run(folder)?;
        } else {
            wins.of_evaluation(folder, arguments.policy.as_deref())?;
        }
    }
    let (mut seen, answers) = (HashSet::new(), wins.answers);
    wins.right.retain(|win| seen.insert(win.chat.clone()));
    let correct = wins.right.len();
    if let Some(least) = arguments.improving {
        wins.right
            .retain(|win| win.gain.is_some_and(|gain| gain >= least));
    }
    if wins.right.is_empty() && correct > 0 {
        return Err(Failure::user(format!(
            "none of {} is as much faster than the program that its prompt showed",
            count(correct, "correct answer")
        ))
        .hint("lower --improving"));
    }
    if wins.right.is_empty() {
        let none = Failure::user(format!("none of {} is correct", count(answers, "answer")));
        return Err(if arguments.policy.is_some() {
            none.hint("--policy may name another")
        } else {
            none
        });
    }
    let chosen = fastest(wins.right, f64::from(arguments.fastest) / 100.0);
    let unwritable = |error: std::io::Error| {
        Failure::user(error.to_string())
            .hint("name another file with --out")
            .of_file(error.kind())
    };
    let mut file = fs_err::File::create_new(&arguments.out).map_err(unwritable)?;
    let mut text = chosen
        .iter()
        .map(|win| win.chat.as_str())
        .collect::<Vec<_>>()
        .join("\n");
    text.push('\n');
    file.write_all(text.as_bytes()).map_err(unwritable)?;
    let (chats, answers) = (count(chosen.len(), "chat"), count(answers, "answer"));
    say(&format!(
        "{chats} from {answers}: {}",
        arguments.out.display()
    ));
    Ok(Status::Fine)
}

/// The fastest share of each stage of each task, but at least one answer.
fn fastest(right: Vec<Win>, share: f64) -> Vec<Win> {
    let mut stages: BTreeMap<(String, Option<Stage>), Vec<Win>> = BTreeMap::new();
    for win in right {
        stages
            .entry((win.task.clone(), win.stage))
            .or_default()
            .push(win);
    }
    let mut chosen = Vec::new();
    for mut wins in stages.into_values() {
        wins.sort_by(|a, b| b.speed.total_cmp(&a.speed));
        let count = (wins.len() as f64 * share).ceil() as usize;
        chosen.extend(wins.into_iter().take(count));
    }
    chosen
}

impl Wins {
    /// Adds the correct answers of a run directory, with the run's prompts.
    fn of_run(&mut self, folder: &Path) -> Result<(), Failure> {
        // The prompts do not depend on the adapter, which may have moved.
        let plan = train::begun(folder, &["adapter=".to_owned()])?;
        if nano::speaks(&plan.config.model) {
            return Err(Failure::user(format!(
                "{}: the nano policy's prompts are not text",
                folder.display()
            ))
            .hint("name runs of a language model"));
        }
        let state = RunState::read(folder).map_err(|error| report::unreadable(&error.into()))?;
        let Some(started) = &state.started else {
            return Err(Failure::user(format!(
                "{}: the run has not started yet",
                folder.display()
            )));
        };
        plan.practises(&started.practised).map_err(|changed| {
            let failure = Failure::user(format!("{}: {changed}", folder.display()));
            failure.hint("restore the folder of tasks that its run.toml names")
        })?;
        let render = runs::render(&plan.config, plan.wording.clone(), &started.machine);
        let winners = hotloop_run::winners(&plan, &state, &*render)
            .map_err(|error| report::unreadable(&error))?;
        let groups = state
            .steps
            .iter()
            .flat_map(|step| step.groups.iter().chain(&step.practised));
        self.answers += groups.map(|group| group.members.len()).sum::<usize>();
        self.right.extend(winners.into_iter().map(|winner| {
            let mut tasks = plan.tasks().map(|(_, task)| task);
            let task = tasks.find(|task| task.spec.name == winner.task);
            let language = task.unwrap_or(&plan.task).spec.language;
            let messages = answer(winner.asked, language, &winner.source).messages;
            let chat = json!({ "messages": messages }).to_string();
            Win {
                task: winner.task,
                stage: winner.stage,
                speed: winner.speed,
                gain: winner.gain,
                chat,
            }
        }));
        Ok(())
    }

    /// Adds the correct answers of an evaluation, from one policy or all.
    fn of_evaluation(&mut self, folder: &Path, policy: Option<&str>) -> Result<(), Failure> {
        let prose = prose();
        let mut tasks: BTreeMap<String, Task> = BTreeMap::new();
        for kept in kept::read::<Kept>(folder)? {
            if policy.is_some_and(|policy| policy != kept.policy) {
                continue;
            }
            self.answers += 1;
            if kept.verdict != Some(Label::Correct) {
                continue;
            }
            if !tasks.contains_key(&kept.task) {
                tasks.insert(kept.task.clone(), kept::task(folder, &kept.task)?);
            }
            let source = kept::source(folder, &kept.file)?;
            let lesson = Lesson {
                prose: &prose,
                task: &tasks[&kept.task],
            };
            let messages = lesson
                .answered(kept.stage, Role::Explore, &lesson.task.seed, &source)
                .messages;
            let chat = json!({ "messages": messages }).to_string();
            // GFLOPS if the task counts operations, as for the answers of runs.
            let speed = kept.gflops.or(kept.speedup).unwrap_or_default();
            self.right.push(Win {
                task: kept.task,
                stage: Some(kept.stage),
                speed,
                // An evaluation's prompts always show the seed.
                gain: kept.speedup,
                chat,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::judge::load;

    #[test]
    fn each_correct_answer_becomes_one_chat() {
        let folder = tempfile::tempdir().expect("a folder");
        let (kept, out) = (
            folder.path().join("kept"),
            folder.path().join("chats.jsonl"),
        );
        std::fs::create_dir(&kept).expect("a folder");
        let seed = load("transpose").expect("it is shipped").seed;
        std::fs::write(kept.join("a.c"), &seed).expect("written");
        let line = |policy: &str, verdict: &str, stage: u8| {
            let mut line = json!({ "policy": policy, "stage": stage, "verdict": verdict });
            line["task"] = "transpose".into();
            line["file"] = "a.c".into();
            line
        };
        let lines = [
            line("p", "correct", 1),
            line("p", "correct", 1),
            line("p", "wrong", 2),
            line("q", "correct", 3),
        ];
        std::fs::write(
            kept.join("answers.jsonl"),
            lines.map(|line| format!("{line}\n")).concat(),
        )
        .expect("written");
        let arguments = |policy: Option<&str>| WinnersArgs {
            folder: vec![kept.clone()],
            fastest: 100,
            improving: None,
            out: out.clone(),
            policy: policy.map(str::to_owned),
        };
        assert!(write(&arguments(Some("p"))).is_ok());
        let text = std::fs::read_to_string(&out).expect("it was written");
        assert_eq!(text.lines().count(), 1, "{text}");
        let chat: serde_json::Value = serde_json::from_str(&text).expect("one chat");
        let answer = chat["messages"][2]["content"].as_str().expect("an answer");
        let task = load("transpose").expect("it is shipped");
        let found = hotloop_flow::Candidate::extract(answer, &task).expect("it holds a candidate");
        assert_eq!(found.source().trim(), seed.trim());
        assert!(
            write(&arguments(None)).is_err(),
            "the file is there already"
        );
    }

    #[test]
    fn improving_answers_are_faster_than_what_their_prompt_showed() {
        let folder = tempfile::tempdir().expect("a folder");
        let seed = load("transpose").expect("it is shipped").seed;
        let line = |stage: u8, speedup: f64| {
            std::fs::write(
                folder.path().join(format!("{stage}.c")),
                format!("// {stage}\n{seed}"),
            )
            .expect("written");
            let file = format!("{stage}.c");
            json!({ "policy": "p", "stage": stage, "verdict": "correct", "task": "transpose", "file": file, "speedup": speedup })
        };
        let lines = [line(1, 0.9), line(2, 1.2), line(3, 3.0)].map(|line| format!("{line}\n"));
        std::fs::write(folder.path().join("answers.jsonl"), lines.concat()).expect("written");
        let chats = |least: f64| {
            let out = folder.path().join(format!("{least}.jsonl"));
            let arguments = WinnersArgs {
                folder: vec![folder.path().to_owned()],
                fastest: 100,
                improving: Some(least),
                out: out.clone(),
                policy: None,
            };
            write(&arguments).map(|_| {
                std::fs::read_to_string(&out)
                    .expect("written")
                    .lines()
                    .count()
            })
        };
        assert_eq!(chats(1.1).ok(), Some(2));
        assert_eq!(chats(2.0).ok(), Some(1));
        let none = chats(9.0).expect_err("none gains that much");
        assert!(none.what().contains("3 correct answers"), "{}", none.what());
    }

    #[test]
    fn the_fastest_share_is_taken_of_every_stage() {
        let win = |task: &str, at: usize, speed| {
            let stage = Some(hotloop_flow::language::c::stages::SIX[at]);
            Win {
                task: task.into(),
                stage,
                speed,
                gain: None,
                chat: String::new(),
            }
        };
        let right = || {
            let slow = (1..=4).map(|speed| win("matmul", 1, f64::from(speed)));
            slow.chain([win("matmul", 2, 90.0), win("softmax", 1, 0.5)])
                .collect::<Vec<_>>()
        };
        let speeds = |share| {
            fastest(right(), share)
                .iter()
                .map(|win| win.speed)
                .collect::<Vec<_>>()
        };
        assert_eq!(speeds(0.5), [4.0, 3.0, 90.0, 0.5]);
        assert_eq!(speeds(0.01), [4.0, 90.0, 0.5], "one at least");
        assert_eq!(speeds(1.0).len(), 6);
    }
}
