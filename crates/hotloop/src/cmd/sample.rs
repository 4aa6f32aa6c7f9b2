//! `hotloop sample`: chats in, completions out.

use std::io::Read;
use std::path::Path;

use hotloop_flow::policy::{Chat, Completion, Ending, Message, Policy, Speaker};
use hotloop_flow::prompt::{Ask, Prose, Shown, Wording};
use hotloop_flow::{Device, Render, Role, Sampling};
use hotloop_policy::engine::Settings;
use serde::{Deserialize, Serialize};

use crate::cli::learn::{DrawArgs, SampleArgs, WhoArgs};
use crate::cmd::judge::{load, stage};
use crate::failure::{Failure, Status};
use crate::models::{self, Asking};
use crate::nano::{self, NanoRender};
use crate::output::{say, say_json};
use crate::progress::Progress;
use crate::stop::Stop;

/// Answers requested at once: as many as an engine on the CPU decodes at the same time.
const AT_ONCE: usize = 32;

/// The end of an answer that begins with a code fence.
const FENCE: &str = "```";

pub(crate) fn run(arguments: &SampleArgs) -> Result<Status, Failure> {
    let chats = chats(arguments)?;
    let stop = Stop::listen()?;
    let mut policy = open(&arguments.who, !arguments.json, &stop)?;
    let mut sampling = sampling(&arguments.draw);
    let fenced = chats.iter().all(|chat| chat.begun.starts_with(FENCE));
    sampling.stop.clone_from(&arguments.stop);
    if sampling.stop.is_empty() && fenced {
        sampling.stop.push(FENCE.to_owned());
    }
    let count = arguments.count as usize;
    let progress = Progress::answers(chats.len() * count, !arguments.json);
    // Asks as many chats at once as keep the engine busy, and prints each batch when it is done.
    let at_once = (AT_ONCE / count).max(1);
    for (nth, some) in chats.chunks(at_once).enumerate() {
        let first = nth * at_once;
        let mut drawn = sampling.clone();
        drawn.seed = sampling.seed.wrapping_add((first * count) as u64);
        let completions = policy
            .sample(some, arguments.count, &drawn)
            .map_err(|error| models::policy_failure(&error))?;
        progress.answered(completions.len());
        for (number, completion) in completions.iter().enumerate() {
            let chat = &some[number / count];
            let line = Line::new(completion, chat, first + number / count, number % count);
            let read = progress.aside(|| {
                if arguments.json {
                    say_json(&line)
                } else {
                    say(&line.plain(count))
                }
            });
            if !read {
                // The reader has closed the pipe, as in `| head`.
                return Ok(Status::Fine);
            }
        }
    }
    Ok(Status::Fine)
}

/// The policy that the flags name.
pub(crate) fn open(who: &WhoArgs, wanted: bool, stop: &Stop) -> Result<Box<dyn Policy>, Failure> {
    if let Some(url) = &who.api {
        let asking = Asking {
            key_variable: who.api_key.clone(),
            per_minute: who.api_per_minute,
        };
        return Ok(Box::new(models::api(url, &who.model, asking, stop)?));
    }
    let place = models::find(&who.model)?;
    let path = place.path();
    let _progress = Progress::spinner(format!("loading {}", path.display()), wanted);
    let mut settings = Settings::answering(who.threads, who.device);
    settings.precision = who.precision;
    Ok(Box::new(models::engine(
        &path,
        who.adapter.as_deref(),
        settings,
        stop,
    )?))
}

/// The sampling settings from the flags.
pub(crate) fn sampling(draw: &DrawArgs) -> Sampling {
    Sampling {
        temperature: draw.temperature,
        top_k: draw.top_k,
        top_p: draw.top_p,
        min_p: draw.min_p,
        max_tokens: draw.max_tokens,
        stop: Vec::new(),
        seed: draw.seed,
    }
}

/// One answer as a line of JSON. `hotloop judge --completions` reads it.
#[derive(Debug, Serialize)]
struct Line {
    /// The whole answer, including the part that the prompt began.
    completion: String,
    /// Tokens that the model wrote; `null` if an API does not report them.
    tokens: Option<usize>,
    /// Mean logprob of those tokens at the sampling temperature. For an API it is as reported, or
    /// `null`.
    mean_logprob: Option<f64>,
    ending: Ending,
    /// The chat's number, from 0.
    chat: usize,
    /// The answer's number within its chat, from 0.
    answer: usize,
}

impl Line {
    fn new(completion: &Completion, chat: &Chat, index: usize, answer: usize) -> Self {
        let logprobs = &completion.logprobs;
        let sum: f64 = logprobs.iter().copied().map(f64::from).sum();
        Self {
            completion: format!("{}{}", chat.begun, completion.text),
            tokens: Some(completion.tokens.len())
                .filter(|tokens| *tokens > 0 || !completion.prompt_tokens.is_empty()),
            mean_logprob: (!logprobs.is_empty()).then(|| sum / logprobs.len() as f64),
            ending: completion.ending,
            chat: index,
            answer,
        }
    }

    /// The answer as plain text, numbered if a chat has several.
    fn plain(&self, count: usize) -> String {
        let cut = if self.ending == Ending::Length {
            "\n[cut off at --max-tokens]"
        } else {
            ""
        };
        let head = if count > 1 || self.chat > 0 {
            format!("--- chat {}, answer {}\n", self.chat + 1, self.answer + 1)
        } else {
            String::new()
        };
        format!("{head}{}{cut}", self.completion.trim_end())
    }
}

/// The chats to ask.
fn chats(arguments: &SampleArgs) -> Result<Vec<Chat>, Failure> {
    let mut chats = match (&arguments.prompt, &arguments.task, &arguments.chats) {
        (Some(prompt), ..) => vec![question(prompt)],
        (_, Some(task), _) => vec![task_chat(task, arguments)?],
        (.., Some(file)) => from_file(file)?,
        (None, None, None) => Vec::new(),
    };
    if let Some(begin) = &arguments.begin {
        for chat in &mut chats {
            chat.begun.clone_from(begin);
        }
    }
    Ok(chats)
}

fn question(prompt: &str) -> Chat {
    let message = Message {
        role: Speaker::User,
        content: prompt.to_owned(),
    };
    Chat {
        messages: vec![message],
        begun: String::new(),
    }
}

/// The first prompt of a run: the seed at a stage, or the first fixed prompt.
fn task_chat(name: &str, arguments: &SampleArgs) -> Result<Chat, Failure> {
    let task = load(name)?;
    let asked = arguments.stage.as_deref();
    let stage = asked.map(|asked| stage(&task, asked)).transpose()?;
    let parent = stage.map(|_| Shown {
        source: &task.seed,
        verdict: None,
    });
    let ask = Ask {
        task: &task,
        role: Role::Explore,
        stage,
        variant: 0,
        parent,
        beside: &[],
        profile: None,
    };
    let (who, wording) = (&arguments.who, Wording::default());
    if who.api.is_none() && nano::speaks(&who.model) {
        nano::check(&task)?;
        return Ok(NanoRender.chat(&ask));
    }
    // Few servers can continue an answer that the chat began.
    let begin = who.api.as_deref().is_none_or(models::completes);
    Ok(Prose {
        wording,
        begin,
        device: Device::with_vectors(hotloop_bench::survey::simd()),
    }
    .chat(&ask))
}

#[derive(Debug, Deserialize)]
struct Asked {
    messages: Vec<Message>,
    #[serde(default)]
    begun: String,
}

fn from_file(path: &Path) -> Result<Vec<Chat>, Failure> {
    let mut text = String::new();
    let (name, read) = if path == Path::new("-") {
        (
            "stdin".to_owned(),
            std::io::stdin().lock().read_to_string(&mut text),
        )
    } else {
        let read = std::fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text));
        (path.display().to_string(), read)
    };
    let hint =
        "every line is an object like {\"messages\": [{\"role\": \"user\", \"content\": \"...\"}]}";
    read.map_err(|error| Failure::user(format!("{name}: {error}")).hint(hint))?;
    let mut chats = Vec::new();
    for (index, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let asked: Asked = serde_json::from_str(line)
            .map_err(|error| Failure::user(format!("{name}:{}: {error}", index + 1)).hint(hint))?;
        chats.push(Chat {
            messages: asked.messages,
            begun: asked.begun,
        });
    }
    if chats.is_empty() {
        return Err(Failure::user(format!("{name}: there are no chats in it")).hint(hint));
    }
    Ok(chats)
}
