//! `hotloop tune`: supervised learning on chats, for a warm start.

use std::path::Path;

use hotloop_flow::random::Random;
use hotloop_policy::engine::{Engine, Learning, Settings};
use hotloop_policy::model::{LoraConfig, Module};
use hotloop_policy::save::Storage;
use hotloop_policy::text::Turn;
use hotloop_policy::train::{Decay, Schedule};
use hotloop_policy::tune::{Lessons, pair};
use serde::Deserialize;
use serde_json::json;

use crate::cli::corpus::TuneArgs;
use crate::failure::{Failure, Status};
use crate::models;
use crate::output::{count, say, say_json};
use crate::progress::Progress;
use crate::stop::Stop;
use crate::tuning;

/// One line of the data: a pair, or a chat.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "it has neither `prompt` and `answer` nor `messages` with `role` and `content`"
)]
enum Example {
    Pair { prompt: String, answer: String },
    Chat { messages: Vec<Said> },
}

#[derive(Deserialize)]
struct Said {
    role: String,
    content: String,
}

pub(crate) fn run(arguments: &TuneArgs) -> Result<Status, Failure> {
    if arguments.out.exists() {
        return Err(
            Failure::user(format!("{}: it already exists", arguments.out.display()))
                .hint("name another with --out"),
        );
    }
    let stop = Stop::listen()?;
    let mut chats = Vec::new();
    for file in &arguments.data {
        chats.append(&mut read(file)?);
    }
    Random::new(arguments.seed).shuffle(&mut chats);
    let held_out = chats.len() * arguments.held_out as usize / 100;
    if chats.len() == held_out {
        return Err(Failure::user("the data contain no example")
            .hint("`hotloop tune --help` shows what a line looks like"));
    }
    let (origins, chats): (Vec<String>, Vec<Vec<Turn>>) = chats.into_iter().unzip();
    let mut engine = open(arguments)?;
    let tokens = |chats: &[Vec<Turn>]| {
        engine
            .examples(chats)
            .map_err(|error| models::engine_failure(&error))
    };
    let lessons = Lessons {
        held_out: tokens(&chats[..held_out])?,
        examples: tokens(&chats[held_out..])?,
        origins: origins[held_out..].to_vec(),
        batch_tokens: arguments.batch_tokens,
        epochs: arguments.epochs,
        seed: arguments.seed,
    };
    let steps = lessons.steps();
    let decay = Decay::Cosine { total: steps };
    engine.set_schedule(Schedule {
        peak: arguments.rate,
        warmup: (steps / 20).min(100),
        decay,
    });
    let tuned = tuning::tune(&mut engine, &lessons, &arguments.out, &stop, arguments.json)?;
    save(&engine, arguments)?;
    let stopped = if tuned.stopped {
        Status::Interrupted
    } else {
        Status::Fine
    };
    if arguments.json {
        say_json(&json!({
            "out": arguments.out, "steps": tuned.steps, "of": steps, "tokens": tuned.tokens,
            "examples": lessons.examples.len(), "held_out": lessons.held_out.len(),
            "loss_before": tuned.before, "loss_after": tuned.after,
        }));
        return Ok(stopped);
    }
    let loss = match (tuned.before, tuned.after) {
        (Some(before), Some(after)) => format!("; held-out loss {before:.4} -> {after:.4}"),
        _ => String::new(),
    };
    say(&format!(
        "{} of {}{loss}: {}",
        tuned.steps,
        count(steps as usize, "step"),
        arguments.out.display()
    ));
    Ok(stopped)
}

fn open(arguments: &TuneArgs) -> Result<Engine, Failure> {
    let place = models::find(&arguments.model)?;
    let path = place.path();
    let mut settings = Settings::answering(0, arguments.device);
    settings.learning = match arguments.lora_rank {
        0 => Learning::Full,
        rank => {
            let alpha = arguments.lora_alpha.unwrap_or(2.0 * rank as f32);
            let wanted = |module: &Module| {
                arguments.lora_targets.is_empty() || arguments.lora_targets.contains(module)
            };
            let targets = Module::ALL.into_iter().filter(wanted).collect();
            Learning::Lora(
                LoraConfig {
                    rank,
                    alpha,
                    dropout: arguments.lora_dropout,
                    targets,
                },
                arguments.seed,
            )
        }
    };
    settings.training.seed = arguments.seed;
    let _progress = Progress::spinner(format!("loading {}", path.display()), !arguments.json);
    models::where_it_can(settings, |settings| Engine::open(&path, settings))
}

fn save(engine: &Engine, arguments: &TuneArgs) -> Result<(), Failure> {
    let saved = match arguments.lora_rank {
        0 => engine.save_model(&arguments.out, Storage::F32),
        _ => engine.save(&arguments.out),
    };
    saved.map_err(|error| models::engine_failure(&error))
}

/// The chats of a file, each with its line.
fn read(file: &Path) -> Result<Vec<(String, Vec<Turn>)>, Failure> {
    let unreadable = |why: String| {
        Failure::user(format!("{}: {why}", file.display()))
            .hint("`hotloop tune --help` shows what a line looks like")
    };
    let text = fs_err::read_to_string(file).map_err(|error| Failure::user(error.to_string()))?;
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            let example: Example = serde_json::from_str(line)
                .map_err(|error| unreadable(format!("line {}: {error}", number + 1)))?;
            let turns =
                turns(example).map_err(|why| unreadable(format!("line {}: {why}", number + 1)))?;
            Ok((format!("{}:{}", file.display(), number + 1), turns))
        })
        .collect()
}

fn turns(example: Example) -> Result<Vec<Turn>, String> {
    match example {
        Example::Pair { prompt, answer } => Ok(pair(&prompt, &answer)),
        Example::Chat { messages } => {
            let turn = |said: Said| {
                let role = match said.role.as_str() {
                    "system" => "system",
                    "user" => "user",
                    "assistant" => "assistant",
                    other => {
                        return Err(format!(
                            "there is no role `{other}`; there are system, user and assistant"
                        ));
                    }
                };
                Ok(Turn {
                    role,
                    content: said.content,
                })
            };
            let turns: Vec<Turn> = messages.into_iter().map(turn).collect::<Result<_, _>>()?;
            match turns.last() {
                Some(last) if last.role == "assistant" => Ok(turns),
                _ => Err(
                    "the last message is not the assistant's: there is nothing to learn".to_owned(),
                ),
            }
        }
    }
}
