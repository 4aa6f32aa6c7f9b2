//! Models behind an OpenAI-compatible endpoint. They answer but do not learn.
//!
//! Requests are blocking, and a few run at a time. Temporary failures are retried: lost
//! connections, timeouts, rate limits and failures of the server, including those reported in a
//! reply. Pauses between retries grow, or the server sets them, and no other request goes out
//! during such a pause. Permanent failures (a bad key, an unknown model, an invalid address) are
//! reported at once, with the server's message. The policy asks for logprobs, and does without them
//! if the server refuses. They are at the temperature at which the server reports them.

mod pace;
mod reply;

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use hotloop_flow::policy::{
    Capabilities, Chat, Completion, Policy, PolicyError, Sampling, Speaker, Updated, WeightedTokens,
};
use serde_json::{Value, json};

use crate::noise;
use pace::{Pace, Tries};
use reply::{Choice, Tried, Trouble, completion, excerpt, understand};

/// Which of the two protocols the endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// `/chat/completions`.
    Chat,
    /// `/completions`: the texts of the messages and the beginning of the answer, one per line, for
    /// base models.
    Completions,
}

impl Protocol {
    const ALL: [Self; 2] = [Self::Chat, Self::Completions];

    /// The part of the address after the version.
    fn path(self) -> &'static str {
        match self {
            Self::Chat => "/chat/completions",
            Self::Completions => "/completions",
        }
    }

    /// The address up to the version, and the protocol: completions if it ends in `/completions`,
    /// otherwise chat.
    pub fn of(address: &str) -> (&str, Self) {
        let address = address.trim_end_matches('/');
        let named = |protocol: Self| Some((address.strip_suffix(protocol.path())?, protocol));
        Self::ALL
            .into_iter()
            .find_map(named)
            .unwrap_or((address, Self::Chat))
    }
}

/// How an endpoint is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiConfig {
    /// The address up to and including the version, such as `http://localhost:8000/v1`.
    pub url: String,
    /// The model's name there.
    pub model: String,
    pub protocol: Protocol,
    /// The environment variable with the key; `None` for open endpoints.
    pub key_variable: Option<String>,
    /// Whether the server continues the answer if the last message is the assistant's.
    pub continues: bool,
    /// Timeout of a request.
    pub timeout: Duration,
    /// Maximum number of attempts for one request.
    pub tries: u32,
    /// The first pause between attempts. Each further one is twice as long.
    pub pause: Duration,
    /// Requests at the same time.
    pub parallel: usize,
    /// Maximum number of requests per minute, including failed attempts; `None` sets no limit.
    pub per_minute: Option<NonZeroU32>,
    /// The server's limit on tokens of prompt and answer together.
    pub context: u32,
}

/// The longest pause, whether the server asked for it or not.
const LONGEST_PAUSE: Duration = Duration::from_mins(2);

/// Maximum size of a reply in bytes. It may contain many long answers with logprobs.
const LONGEST_REPLY: u64 = 256 << 20;

/// The key that requests logprobs. Servers without logprobs ignore it, or refuse it by name.
const LOGPROBS: &str = "logprobs";

/// A model behind an endpoint.
pub struct ApiPolicy {
    config: ApiConfig,
    agent: ureq::Agent,
    key: Option<String>,
    halt: Arc<AtomicBool>,
    /// Whether the server refused to send logprobs. If so, they are not requested again.
    secretive: AtomicBool,
    pace: Pace,
    /// Requests that were answered.
    answered: AtomicUsize,
}

impl ApiPolicy {
    /// Reads the key from the environment.
    pub fn new(config: ApiConfig) -> Result<Self, PolicyError> {
        let read = |name: &String| {
            let key = std::env::var(name).ok().filter(|key| !key.is_empty());
            key.ok_or_else(|| {
                PolicyError::Unanswerable(format!(
                    "the environment variable {name} holds no key: set it to the key of {}",
                    config.url
                ))
            })
        };
        let key = config.key_variable.as_ref().map(read).transpose()?;
        Ok(Self::with_key(config, key))
    }

    fn with_key(config: ApiConfig, key: Option<String>) -> Self {
        let settings = ureq::Agent::config_builder()
            .timeout_global(Some(config.timeout))
            .http_status_as_error(false);
        let pace = Pace::new(config.per_minute);
        let secretive = AtomicBool::new(false);
        let answered = AtomicUsize::new(0);
        Self {
            agent: settings.build().into(),
            config,
            key,
            halt: Arc::default(),
            secretive,
            pace,
            answered,
        }
    }

    /// Once this flag is set, no more requests go out, and pauses end.
    pub fn stop_on(&mut self, halt: Arc<AtomicBool>) {
        self.halt = halt;
    }

    fn check_halt(&self) -> Result<(), PolicyError> {
        if self.halt.load(Ordering::Relaxed) {
            Err(PolicyError::Stopped)
        } else {
            Ok(())
        }
    }

    /// Waits, unless the stop flag is set.
    fn rest(&self, pause: Duration) -> Result<(), PolicyError> {
        let end = Instant::now() + pause;
        while let Some(left) = end
            .checked_duration_since(Instant::now())
            .filter(|left| !left.is_zero())
        {
            self.check_halt()?;
            std::thread::sleep(left.min(Duration::from_millis(100)));
        }
        Ok(())
    }

    fn endpoint(&self) -> String {
        format!(
            "{}{}",
            self.config.url.trim_end_matches('/'),
            self.config.protocol.path()
        )
    }

    fn body(
        &self,
        chat: &Chat,
        count: u32,
        sampling: &Sampling,
        seed: u64,
    ) -> Result<Value, PolicyError> {
        let mut body = json!({
            "model": self.config.model,
            "n": count,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            // Servers expect a signed 64-bit number.
            "seed": seed & (i64::MAX as u64),
        });
        // Neutral values are left out, because hosted servers refuse unknown keys.
        if sampling.top_k > 0 {
            body["top_k"] = json!(sampling.top_k);
        }
        if sampling.min_p > 0.0 {
            body["min_p"] = json!(sampling.min_p);
        }
        if !sampling.stop.is_empty() {
            body["stop"] = json!(sampling.stop);
        }
        if !self.secretive.load(Ordering::Relaxed) {
            body[LOGPROBS] = match self.config.protocol {
                Protocol::Chat => json!(true),
                // The number of alternatives per token.
                Protocol::Completions => json!(1),
            };
        }
        match self.config.protocol {
            Protocol::Completions => {
                let begun = Some(chat.begun.as_str()).filter(|begun| !begun.is_empty());
                let texts = chat
                    .messages
                    .iter()
                    .map(|message| message.content.as_str())
                    .chain(begun);
                body["prompt"] = json!(texts.collect::<Vec<_>>().join("\n"));
            }
            Protocol::Chat => {
                let mut messages: Vec<Value> = chat
                    .messages
                    .iter()
                    .map(|m| message(m.role, &m.content))
                    .collect();
                if !chat.begun.is_empty() {
                    if !self.config.continues {
                        return Err(PolicyError::Unsupported("a begun answer"));
                    }
                    messages.push(message(Speaker::Assistant, &chat.begun));
                    body["continue_final_message"] = json!(true);
                    body["add_generation_prompt"] = json!(false);
                }
                body["messages"] = Value::Array(messages);
            }
        }
        Ok(body)
    }

    /// `count` answers to one chat. If the server returns fewer, or aborts some, it is asked for
    /// the rest.
    fn answers(
        &self,
        chat: &Chat,
        count: u32,
        sampling: &Sampling,
        seed: u64,
    ) -> Result<Vec<Completion>, PolicyError> {
        let mut answers = Vec::with_capacity(count as usize);
        while (answers.len() as u32) < count {
            let missing = count - answers.len() as u32;
            let body = self.body(
                chat,
                missing,
                sampling,
                seed.wrapping_add(answers.len() as u64),
            )?;
            let choices = self.post(body)?;
            answers.extend(choices.into_iter().take(missing as usize).map(completion));
        }
        Ok(answers)
    }

    /// Sends a request and returns at least one answer.
    fn post(&self, mut body: Value) -> Result<Vec<Choice>, PolicyError> {
        let mut pause = self.config.pause;
        let mut left = Tries::new(self.config.tries, self.answered.load(Ordering::Relaxed));
        let mut nth = 0_u32;
        loop {
            nth += 1;
            let mut tried = self.try_once(&body)?;
            if let (Tried::NoLogprobs(_), Some(fields)) = (&tried, body.as_object_mut()) {
                self.secretive.store(true, Ordering::Relaxed);
                fields.remove(LOGPROBS);
                tried = self.try_once(&body)?;
            }
            let (trouble, asked) = match tried {
                Tried::Answered(choices) => {
                    self.answered.fetch_add(1, Ordering::Relaxed);
                    return Ok(choices);
                }
                Tried::Refused(trouble) | Tried::NoLogprobs(trouble) => {
                    return Err(PolicyError::Endpoint {
                        what: format!("{}: {}", self.endpoint(), trouble.why),
                        status: trouble.status,
                    });
                }
                Tried::Again(trouble, asked) => (trouble, asked),
            };
            if !left.spend(asked.is_some(), self.answered.load(Ordering::Relaxed)) {
                let later = asked.filter(|asked| *asked > LONGEST_PAUSE);
                let later = later
                    .map(|asked| format!(" (try again in {} s)", asked.as_secs()))
                    .unwrap_or_default();
                let what = format!(
                    "{}: {nth} tries, the last: {}{later}",
                    self.endpoint(),
                    trouble.why
                );
                return Err(PolicyError::Endpoint {
                    what,
                    status: trouble.status,
                });
            }
            if let Some(asked) = asked {
                self.pace.hold(Instant::now() + asked.min(LONGEST_PAUSE));
            } else {
                // Jitter keeps many clients from retrying at the same moment.
                let uneven =
                    1.0 + 0.25 * noise::uniform(u64::from(std::process::id()), u64::from(nth));
                self.rest(pause.mul_f32(uneven).min(LONGEST_PAUSE))?;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }

    /// Sends the request once, when it is its turn.
    fn try_once(&self, body: &Value) -> Result<Tried, PolicyError> {
        self.check_halt()?;
        while let Err(wait) = self.pace.turn(Instant::now()) {
            self.rest(wait)?;
        }
        Ok(self.ask(body))
    }

    fn ask(&self, body: &Value) -> Tried {
        let mut request = self.agent.post(self.endpoint());
        if let Some(key) = &self.key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let mut response = match request.send_json(body) {
            Ok(response) => response,
            Err(error @ (ureq::Error::Http(_) | ureq::Error::BadUri(_))) => {
                let why = "an address is like http://localhost:8000/v1, and a key is one line";
                return Tried::Refused(format!("{error}: {why}").into());
            }
            Err(error) => return Tried::Again(error.to_string().into(), None),
        };
        let status = response.status().as_u16();
        let header = |name: &str| response.headers().get(name)?.to_str().ok();
        let asked = pace::asked(header, SystemTime::now());
        let text = match response
            .body_mut()
            .with_config()
            .limit(LONGEST_REPLY)
            .read_to_string()
        {
            Ok(text) => text,
            Err(error) => return Tried::Again(error.to_string().into(), asked),
        };
        let why = Trouble {
            why: format!("status {status}: {}", excerpt(&text)),
            status: Some(status),
        };
        match status {
            200..=299 => understand(&text, asked),
            408 | 409 | 425 | 429 | 500..=599 => Tried::Again(why, asked),
            _ if body.get(LOGPROBS).is_some() && text.contains(LOGPROBS) => Tried::NoLogprobs(why),
            _ => Tried::Refused(why),
        }
    }
}

fn message(role: Speaker, content: &str) -> Value {
    let role = match role {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    };
    json!({"role": role, "content": content})
}

impl Policy for ApiPolicy {
    fn sample(
        &mut self,
        chats: &[Chat],
        count: u32,
        sampling: &Sampling,
    ) -> Result<Vec<Completion>, PolicyError> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(chat) = chats.get(index) else {
                    return Ok(done);
                };
                let seed = sampling.seed.wrapping_add(index as u64 * u64::from(count));
                // If one chat has no answers, the other answers are useless.
                let answers = self.answers(chat, count, sampling, seed);
                done.push((
                    index,
                    answers.inspect_err(|_| next.store(chats.len(), Ordering::Relaxed))?,
                ));
            }
        };
        let threads = self.config.parallel.clamp(1, chats.len().max(1));
        let mut done: Vec<(usize, Vec<Completion>)> = std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let joined = running
                .into_iter()
                .map(|thread| thread.join().expect("asking does not panic"));
            joined
                .collect::<Result<Vec<_>, PolicyError>>()
                .map(|parts| parts.into_iter().flatten().collect())
        })?;
        done.sort_by_key(|(index, _)| *index);
        Ok(done.into_iter().flat_map(|(_, answers)| answers).collect())
    }

    fn update(&mut self, _: &[WeightedTokens]) -> Result<Updated, PolicyError> {
        Err(PolicyError::Unsupported("update"))
    }

    fn save(&self, _: &Path) -> Result<(), PolicyError> {
        Err(PolicyError::Unsupported("save"))
    }

    fn load(&mut self, _: &Path) -> Result<(), PolicyError> {
        Err(PolicyError::Unsupported("load"))
    }

    fn capabilities(&self) -> Capabilities {
        let ApiConfig { model, context, .. } = &self.config;
        Capabilities {
            model: model.clone(),
            learns: false,
            logprobs: false,
            context: *context,
        }
    }
}

#[cfg(test)]
mod tests;
