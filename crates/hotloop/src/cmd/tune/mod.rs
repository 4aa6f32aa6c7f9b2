//! `hotloop tune`: supervised learning on chats, for a warm start.

mod recipe;

use std::path::{Path, PathBuf};

use hotloop_flow::random::Random;
use hotloop_policy::engine::{Engine, Learning, Settings};
use hotloop_policy::model::{LoraConfig, Module};
use hotloop_policy::pack::Sequence;
use hotloop_policy::save::Storage;
use hotloop_policy::text::Turn;
use hotloop_policy::train::{Decay, Schedule};
use hotloop_policy::tune::{Lessons, Tuned, pair};
use serde::Deserialize;
use serde_json::json;

use recipe::Chosen;

use crate::cli::corpus::TuneArgs;
use crate::failure::{Failure, Status};
use crate::models;
use crate::output::{complain, count, say, say_json};
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
    recipe::check(arguments)?;
    let chosen = Chosen::from(arguments);
    let stop = Stop::listen()?;
    let (held_out, chats) = divided(arguments)?;
    let (origins, chats): (Vec<String>, Vec<Vec<Turn>>) = chats.into_iter().unzip();
    let mut engine = open(arguments, &chosen)?;
    let tokens = |chats: &[Vec<Turn>]| {
        engine
            .examples(chats)
            .map_err(|error| models::engine_failure(&error))
    };
    let held: Vec<Sequence> = tokens(&chats[..held_out])?
        .into_iter()
        .filter(|example| example.tokens.len() <= chosen.max_tokens)
        .collect();
    let (examples, origins): (Vec<Sequence>, Vec<String>) = tokens(&chats[held_out..])?
        .into_iter()
        .zip(origins[held_out..].iter().cloned())
        .filter(|(example, _)| example.tokens.len() <= chosen.max_tokens)
        .unzip();
    let too_long = chats.len() - held.len() - examples.len();
    if examples.is_empty() {
        let most = chosen.max_tokens;
        return Err(
            Failure::user(format!("every example is longer than {most} tokens"))
                .hint("allow more with --max-tokens"),
        );
    }
    if too_long > 0 {
        let most = chosen.max_tokens;
        complain(&format!(
            "{} left out: longer than {most} tokens",
            count(too_long, "example")
        ));
    }
    let lessons = Lessons {
        held_out: held,
        examples,
        origins,
        batch_tokens: chosen.batch_tokens,
        batch_examples: chosen.batch_examples,
        patience: arguments.early_stop,
        epochs: chosen.epochs,
        seed: arguments.seed,
    };
    let steps = lessons.steps();
    if let Some(warning) = chosen.warning(steps) {
        complain(&warning);
    }
    let decay = Decay::Cosine { total: steps };
    engine.set_schedule(Schedule {
        peak: chosen.rate,
        warmup: chosen.warm_up.steps(steps),
        decay,
    });
    let tuned = tuning::tune(&mut engine, &lessons, &arguments.out, &stop, arguments.json)?;
    let best = tuned.best.as_ref().filter(|best| best.steps < tuned.steps);
    match best.and_then(|best| best.kept.as_ref()) {
        Some(kept) => engine
            .save_kept(kept, &arguments.out)
            .map_err(|error| models::engine_failure(&error))?,
        None => save(&engine, arguments, chosen.rank)?,
    }
    Ok(tell(arguments, &lessons, &tuned, (steps, too_long)))
}

/// Conversations, each with the file that it comes from.
type Chats = Vec<(String, Vec<Turn>)>;

/// How many of the chats are held out, and all chats, those first.
fn divided(arguments: &TuneArgs) -> Result<(usize, Chats), Failure> {
    let mut chats = all(&arguments.data)?;
    Random::new(arguments.seed).shuffle(&mut chats);
    let held_out = if arguments.held_out_data.is_empty() {
        chats.len() * arguments.held_out as usize / 100
    } else {
        let mut held = all(&arguments.held_out_data)?;
        let count = held.len();
        held.append(&mut chats);
        chats = held;
        count
    };
    if chats.len() == held_out {
        return Err(Failure::user("the data contain no example")
            .hint("`hotloop tune --help` shows what a line looks like"));
    }
    Ok((held_out, chats))
}

/// Reports a tuning.
fn tell(
    arguments: &TuneArgs,
    lessons: &Lessons,
    tuned: &Tuned,
    (steps, too_long): (u64, usize),
) -> Status {
    let best = tuned.best.as_ref();
    let is_kept = best.is_some_and(|best| best.steps < tuned.steps && best.kept.is_some());
    let stopped = if tuned.stopped {
        Status::Interrupted
    } else {
        Status::Fine
    };
    if arguments.json {
        say_json(&json!({
            "out": arguments.out, "steps": tuned.steps, "of": steps, "tokens": tuned.tokens,
            "examples": lessons.examples.len(), "held_out": lessons.held_out.len(),
            "too_long": too_long, "loss_before": tuned.before, "loss_after": tuned.after,
            "early": tuned.early, "best_steps": best.map(|best| best.steps),
            "best_loss": best.map(|best| best.held_out), "kept_best": is_kept,
        }));
        return stopped;
    }
    let loss = match (tuned.before, tuned.after) {
        (Some(before), Some(after)) => format!("; held-out loss {before:.4} -> {after:.4}"),
        _ => String::new(),
    };
    let early = if tuned.early {
        "; ended early, because the held-out loss no longer fell"
    } else {
        ""
    };
    let kept = best.filter(|_| is_kept).map_or(String::new(), |best| {
        format!(
            "; kept the adapter of step {}, {:.4}",
            best.steps, best.held_out
        )
    });
    say(&format!(
        "{} of {}{loss}{early}{kept}: {}",
        tuned.steps,
        count(steps as usize, "step"),
        arguments.out.display()
    ));
    stopped
}

fn open(arguments: &TuneArgs, chosen: &Chosen) -> Result<Engine, Failure> {
    let place = models::find(&arguments.model)?;
    let path = place.path();
    let mut settings = Settings::answering(0, arguments.device);
    settings.learning = match chosen.rank {
        0 => Learning::Full,
        rank => {
            let wanted = |module: &Module| {
                arguments.lora_targets.is_empty() || arguments.lora_targets.contains(module)
            };
            let targets = Module::ALL.into_iter().filter(wanted).collect();
            Learning::Lora(
                LoraConfig {
                    rank,
                    alpha: chosen.alpha,
                    dropout: chosen.dropout,
                    targets,
                },
                arguments.seed,
            )
        }
    };
    settings.training.seed = arguments.seed;
    settings.training.optim.weight_decay = chosen.weight_decay;
    let _progress = Progress::spinner(format!("loading {}", path.display()), !arguments.json);
    models::where_it_can(settings, |settings| Engine::open(&path, settings))
}

fn save(engine: &Engine, arguments: &TuneArgs, rank: usize) -> Result<(), Failure> {
    let saved = match rank {
        0 => engine.save_model(&arguments.out, Storage::F32),
        _ => engine.save(&arguments.out),
    };
    saved.map_err(|error| models::engine_failure(&error))
}

/// The chats of several files.
fn all(files: &[PathBuf]) -> Result<Chats, Failure> {
    let mut chats = Vec::new();
    for file in files {
        chats.append(&mut read(file)?);
    }
    Ok(chats)
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
