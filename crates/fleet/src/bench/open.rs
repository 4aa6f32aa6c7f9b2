//! Opens a fleet: chooses the machines, and finds what an earlier coordinator left.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::message::Acker;
use async_nats::jetstream::stream::Stream;
use futures_util::StreamExt;
use hotloop_bench::Settings;
use hotloop_flow::{BenchError, How, Language, MachineFacts, Remedy, count};

use super::FleetBench;
use super::listen::{self, Listening};
use super::missing::{LOOK, quarantine};
use super::outstanding::{IDS, Outstanding};
use super::scope::take_over;
use crate::link::{Link, is_missing};
use crate::reminder::Reminder;
use crate::runtime::{nonce, runtime};
use crate::wire::{self, Beat, GroupReply, Judged, State, Terms};
use crate::{Access, Log};

/// A reply that was fetched but not acknowledged comes again after this time.
const LEASE: Duration = Duration::from_secs(15);
/// Pause between two checks for a worker.
const PAUSE: Duration = Duration::from_millis(200);

/// Settings for opening a fleet.
#[derive(Clone)]
pub struct Opening {
    /// How to reach its server.
    pub access: Access,
    /// How to judge. Workers choose their own slots, jobs and roles.
    pub settings: Settings,
    /// The name under which replies are kept. A restart with the same name attaches to the jobs in
    /// progress. If two use it at once, the later one gets all replies.
    pub scope: String,
    /// The machine class to judge on; by default the one with most slots.
    pub class: Option<String>,
    /// Whether every job is a separate group, for any worker.
    pub spread: bool,
    /// How long the server or a worker may be missing.
    pub patience: Duration,
    /// Where notices go.
    pub log: Log,
}

impl FleetBench {
    /// Connects, waits for a worker, and finds what an earlier coordinator of this scope left.
    pub fn open(opening: Opening) -> Result<Self, BenchError> {
        let Opening {
            access,
            settings,
            scope,
            class,
            spread,
            patience,
            log,
        } = opening;
        let terms = Terms::of(&settings)?;
        let scope = wire::hash(&[&scope]);
        let runtime = runtime(None)?;
        let opened = runtime.block_on(async {
            let link = Link::open(&access, "hotloop coordinator", patience, &log).await?;
            let (class, facts) = machine(&link, &terms, class.as_deref(), patience, &log).await?;
            take_over(&link, &scope).await?;
            // The order matters. A reply is stored before its group leaves the queue, so every
            // group that has left by now is among the replies.
            let open = outstanding(&link, &class, &scope).await?;
            let consumers = consumers(&link, &scope)
                .await
                .map_err(|why| BenchError::machine(format!("replies: {why}")))?;
            let early = left(&consumers.0, &log).await;
            open.lock()
                .by_sequence
                .retain(|_, ids| !ids.iter().all(|id| early.contains_key(id)));
            Ok::<_, BenchError>((link, class, facts, consumers, early, open))
        });
        let (link, class, facts, (verdicts, lost), early, open) = opened?;
        let (events, receiver) = channel();
        let listening = Listening {
            link: link.clone(),
            open: open.clone(),
            class: class.clone(),
            patience,
            events,
            log: Log::clone(&log),
        };
        listen::start(&runtime, listening, verdicts, lost);
        Ok(Self {
            runtime: Some(runtime),
            link,
            scope,
            terms,
            spread,
            class,
            facts,
            attempts: HashMap::new(),
            waiting: HashMap::new(),
            early,
            ready: std::collections::VecDeque::new(),
            open,
            events: receiver,
            log,
        })
    }
}

/// The class to judge on, and the facts about its machines.
async fn machine(
    link: &Link,
    terms: &Terms,
    class: Option<&str>,
    patience: Duration,
    log: &Log,
) -> Result<(String, MachineFacts), BenchError> {
    let begin = Instant::now();
    let mut reminder = Reminder::new();
    loop {
        let beats = match link.beats().await {
            Ok(beats) => beats,
            // A busy server may not answer a request in time, and a starting server answers none.
            Err(_) if begin.elapsed() < patience => {
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            Err(error) => return Err(error),
        };
        if let Some(found) = choose(&beats, terms, class) {
            return Ok(found);
        }
        if begin.elapsed() >= patience {
            return Err(BenchError::machine(nobody(&beats, terms, class))
                .hint(LOOK)
                .remedies(&[Remedy::FleetStatus, Remedy::FleetUp]));
        }
        if reminder.is_due() {
            log(
                &format!("waiting: {}; {LOOK}", nobody(&beats, terms, class)),
                &[Remedy::FleetStatus, Remedy::FleetUp],
            );
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn choose(beats: &[Beat], terms: &Terms, class: Option<&str>) -> Option<(String, MachineFacts)> {
    let mut slots: HashMap<&str, (u64, &MachineFacts)> = HashMap::new();
    for beat in beats {
        let mut facts = terms
            .languages
            .iter()
            .map(|language| offered(beat, *language, terms.how));
        let has_all = facts.clone().all(|facts| facts.is_some());
        let facts = facts.next().flatten().filter(|_| has_all);
        let fits = beat.state == State::Ready && beat.threads >= terms.how.threads;
        let named = class.is_none_or(|class| class == beat.class);
        if let (Some(facts), true, true) = (facts, fits, named) {
            slots.entry(&beat.class).or_insert((0, facts)).0 += u64::from(beat.slots);
        }
    }
    // Ties are broken by name, so that two coordinators choose the same class.
    let (class, (_, facts)) = slots
        .into_iter()
        .max_by_key(|(class, (slots, _))| (*slots, *class))?;
    Some((class.to_owned(), facts.clone()))
}

/// The machine of a worker as it judges candidates in a language.
fn offered(beat: &Beat, language: Language, how: How) -> Option<&MachineFacts> {
    match language {
        Language::C => {
            let mut machines = beat.machine.iter();
            let of = machines.find(|(compiler, _)| *compiler == how.compiler);
            of.map(|(_, facts)| facts)
        }
        Language::Cuda => beat.cuda.as_ref(),
        Language::Torch => None,
    }
}

fn nobody(beats: &[Beat], terms: &Terms, class: Option<&str>) -> String {
    let how = terms.how;
    let workers = count(beats.len(), "worker");
    let what = match (beats.len(), class) {
        (0, _) => return "no worker is heard".to_owned(),
        (_, Some(class)) => format!("of {workers} none is ready and of class {class}"),
        (_, None) if terms.languages.contains(&Language::Cuda) => {
            format!("of {workers} none is ready with a GPU that judges CUDA")
        }
        (_, None) => {
            let cores = count(how.threads as usize, "physical core");
            format!(
                "of {workers} none is ready with {} and {cores}",
                how.compiler.name()
            )
        }
    };
    format!("{what}{}", quarantine(beats))
}

type Pull = Consumer<pull::Config>;

async fn consumers(link: &Link, scope: &str) -> Result<(Pull, Pull), String> {
    let name = format!("{scope}-{}", &nonce()[..8]);
    let verdicts = Link::consumer(
        &link.verdicts,
        &name,
        &wire::verdicts_subject(scope),
        LEASE,
        -1,
    )
    .await?;
    let lost = Link::consumer(&link.lost, &name, "", LEASE, -1).await?;
    Ok((verdicts, lost))
}

/// Replies that an earlier coordinator did not take.
async fn left(verdicts: &Pull, log: &Log) -> HashMap<String, (Judged, Arc<Acker>)> {
    let mut early = HashMap::new();
    let mut count = verdicts.cached_info().num_pending;
    while count > 0 {
        let Ok(mut batch) = verdicts.fetch().max_messages(64).messages().await else {
            break;
        };
        let before = count;
        while let Some(Ok(message)) = batch.next().await {
            count = count.saturating_sub(1);
            let (message, acker) = message.split();
            match GroupReply::read(&message.payload) {
                Ok(reply) => {
                    let acker = Arc::new(acker);
                    early.extend(
                        reply
                            .replies
                            .into_iter()
                            .map(|one| (one.id, (one.judged, Arc::clone(&acker)))),
                    );
                }
                Err(why) => {
                    log(&format!("refused: a worker's reply: {why}"), &[]);
                    drop(acker.ack().await);
                }
            }
        }
        if count == before {
            break;
        }
    }
    early
}

/// Groups of this scope that are queued or being judged.
async fn outstanding(link: &Link, class: &str, scope: &str) -> Result<Outstanding, BenchError> {
    let open = Outstanding::default();
    let subject = wire::jobs_subject(class, scope);
    let mut next = first(&link.jobs).await?;
    loop {
        match link
            .jobs
            .get_first_raw_message_by_subject(&subject, next)
            .await
        {
            Ok(message) => {
                next = message.sequence + 1;
                let ids = message.headers.get(IDS).map_or("", |ids| ids.as_str());
                open.lock().by_sequence.insert(
                    message.sequence,
                    ids.split(',').map(str::to_owned).collect(),
                );
            }
            Err(error) if is_missing(&error) => return Ok(open),
            Err(error) => {
                return Err(BenchError::machine(format!(
                    "the queue cannot be read: {error}"
                )));
            }
        }
    }
}

async fn first(stream: &Stream) -> Result<u64, BenchError> {
    let info = stream
        .get_info()
        .await
        .map_err(|error| BenchError::machine(format!("the queue cannot be read: {error}")))?;
    Ok(info.state.first_sequence.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hotloop_flow::how::Compiler;

    /// A worker with four physical cores, two logical ones each.
    fn beat() -> Beat {
        Beat {
            version: wire::VERSION,
            worker: "worker".to_owned(),
            host: "host".to_owned(),
            pid: 1,
            class: "class".to_owned(),
            machine: vec![(Compiler::Gcc, MachineFacts::default())],
            cuda: None,
            slots: 1,
            cores: (0..8).collect(),
            threads: 4,
            state: State::Ready,
            noise: None,
            busy: 0,
            judged: 0,
            failed: 0,
            per_minute: 0.0,
            up_s: 1.0,
            last_error: None,
        }
    }

    fn terms(how: How, languages: &[Language]) -> Terms {
        let mut settings = Settings::new("roles".into());
        settings.how = how;
        settings.languages = languages.to_vec();
        Terms::of(&settings).unwrap()
    }

    #[test]
    fn jobs_in_cuda_go_to_workers_with_a_gpu() {
        let gpu = MachineFacts {
            compiler: "NVRTC".to_owned(),
            ..MachineFacts::default()
        };
        let with_gpu = Beat {
            class: "other".to_owned(),
            cuda: Some(gpu.clone()),
            ..beat()
        };
        let chosen = |beats: &[Beat], languages: &[Language]| {
            choose(beats, &terms(How::default(), languages), None)
        };
        let both = [beat(), with_gpu];
        assert_eq!(chosen(&both[..1], &[Language::Cuda]), None);
        assert_eq!(
            chosen(&both, &[Language::Cuda]),
            Some(("other".to_owned(), gpu))
        );
        assert!(chosen(&both[..1], &[Language::C]).is_some());
        assert!(chosen(&both[..1], &[Language::C, Language::Cuda]).is_none());
        assert!(chosen(&both[1..], &[Language::C, Language::Cuda]).is_some());
        let why = nobody(&both[..1], &terms(How::default(), &[Language::Cuda]), None);
        assert!(why.contains("none is ready with a GPU"), "{why}");
    }

    #[test]
    fn a_worker_is_asked_for_as_many_threads_as_its_bench_can_time() {
        let chosen = |threads: u32| {
            let how = How {
                threads,
                ..How::default()
            };
            choose(&[beat()], &terms(how, &[Language::C]), None).is_some()
        };
        assert!(chosen(4));
        assert!(
            !chosen(5),
            "its bench would refuse them, and the worker put itself away"
        );
    }
}
