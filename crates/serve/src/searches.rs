//! The searches of other trainers: hands out prompts, takes in answers, keeps both in run
//! directories.

mod seen;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use blake3::Hash;
use hotloop_flow::{Candidate, MachineFacts, Reward, Stage, Task};
use hotloop_run::foreign::{Answered, ForeignRun, Prompt, PromptId};
use hotloop_run::{Interrupt, Layered, Plan};
use tokio::sync::OnceCell;

use crate::board::Outcome;
use crate::catalogue::Catalogue;
use crate::desk::Desk;
use crate::fault::Fault;
use crate::notice::{Listener, Notice, tame};
use crate::settings::{Limits, Settings};
use crate::worth::Worth;
use seen::Seen;

type Opened = Arc<Mutex<ForeignRun>>;

/// A place for an open run, and when it was asked for last.
struct Open {
    /// Empty while the first who asked for the run opens it; others who want it wait for that.
    place: Arc<OnceCell<Opened>>,
    used: Instant,
}

impl Open {
    /// Whether it may make room. A request that uses the run or the place holds it, too.
    fn is_idle(&self, idle: Duration) -> bool {
        let is_unused = |run: &Opened| Arc::strong_count(run) == 1 && self.used.elapsed() >= idle;
        Arc::strong_count(&self.place) == 1 && self.place.get().is_none_or(is_unused)
    }
}

/// The runs of foreign trainers.
pub(crate) struct Searches {
    folder: PathBuf,
    /// Overrides for new runs, as `key=value`.
    set: Vec<String>,
    limits: Limits,
    catalogue: Arc<Catalogue>,
    desk: Arc<Desk>,
    worth: Arc<Worth>,
    listener: Listener,
    open: Mutex<BTreeMap<String, Open>>,
    seen: Arc<Mutex<Seen>>,
}

/// The answers to one prompt, those that may come again by their keys.
struct Taken {
    prompt: PromptRef,
    answers: Vec<(Option<Hash>, Answered)>,
}

impl Taken {
    /// Records new answers as one step. The caller holds the run's lock, so only one of two
    /// requests with the same answers records them. Answers that could not be recorded stay new, so
    /// that they can be sent again.
    fn record(self, run: &mut ForeignRun, seen: &Mutex<Seen>) -> Result<(), Interrupt> {
        let seen = || seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = |key: &Option<Hash>| key.as_ref().is_none_or(|key| !seen().has(key));
        let (keys, answers): (Vec<Option<Hash>>, Vec<Answered>) = self
            .answers
            .into_iter()
            .filter(|(key, _)| is_new(key))
            .unzip();
        if answers.is_empty() {
            return Ok(());
        }
        run.record_answers(self.prompt.id, &answers)?;
        keys.into_iter().flatten().for_each(|key| seen().mark(key));
        Ok(())
    }
}

/// A prompt that an answer belongs to.
#[derive(Clone)]
pub(crate) struct PromptRef {
    name: String,
    id: PromptId,
    run: Opened,
    pub(crate) task: Arc<Task>,
    pub(crate) stage: Option<Stage>,
    pub(crate) begun: String,
    pub(crate) reward: Reward,
}

/// A judged answer and the reward that the trainer gets for it.
pub(crate) struct JudgedAnswer<'a> {
    pub(crate) prompt: Option<&'a PromptRef>,
    pub(crate) made: &'a Result<Candidate, String>,
    pub(crate) outcome: &'a Outcome,
    pub(crate) reward: Option<f64>,
    pub(crate) id: Option<&'a str>,
}

/// Whether a run may have this name: one folder, nothing hidden.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=64).contains(&name.len()) && name.chars().all(plain) && !name.starts_with('.')
}

/// A prompt's name in the world: run, iteration and parent.
pub(crate) fn prompt_name(run: &str, id: PromptId) -> String {
    format!("{run}/{}/{}", id.iteration, id.parent)
}

fn parse_name(name: &str) -> Option<(&str, PromptId)> {
    let mut parts = name.split('/');
    let (run, iteration, parent) = (
        parts.next()?,
        parts.next()?.parse().ok()?,
        parts.next()?.parse().ok()?,
    );
    (parts.next().is_none() && is_name(run)).then_some((run, PromptId { iteration, parent }))
}

impl Searches {
    pub(crate) fn new(
        settings: &Settings,
        catalogue: Arc<Catalogue>,
        desk: Arc<Desk>,
        worth: Arc<Worth>,
        listener: Listener,
    ) -> Self {
        Self {
            folder: settings.runs.clone(),
            set: settings.set.clone(),
            limits: settings.limits.clone(),
            catalogue,
            desk,
            worth,
            listener,
            open: Mutex::default(),
            seen: Arc::default(),
        }
    }

    /// Takes in judged answers as one step for each prompt.
    pub(crate) async fn take_in<'a>(
        &self,
        all: impl Iterator<Item = JudgedAnswer<'a>>,
    ) -> Result<(), Fault> {
        let mut steps: BTreeMap<String, Taken> = BTreeMap::new();
        let mut named: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for answer in all {
            let Some(prompt) = answer.prompt else {
                continue;
            };
            // An answer with a name may come twice, and among others then. How often its name came
            // before keeps copies in one batch distinct.
            let key = answer.id.map(|id| {
                let copy = named.entry((&prompt.name, id)).or_default();
                *copy += 1;
                blake3::hash(format!("{}\n{copy}\n{id}", prompt.name).as_bytes())
            });
            let answered = Answered {
                made: answer.made.clone(),
                judged: answer
                    .outcome
                    .as_ref()
                    .map(|judged| (**judged).clone())
                    .map_err(|error| error.what.clone()),
                reward: answer.reward,
            };
            let step = || Taken {
                prompt: prompt.clone(),
                answers: Vec::new(),
            };
            steps
                .entry(prompt.name.clone())
                .or_insert_with(step)
                .answers
                .push((key, answered));
        }
        for taken in steps.into_values() {
            let seen = Arc::clone(&self.seen);
            on(Arc::clone(&taken.prompt.run), move |run| {
                taken.record(run, &seen)
            })
            .await?;
        }
        Ok(())
    }

    /// The prompt of that name.
    pub(crate) async fn prompt(&self, name: &str) -> Result<PromptRef, Fault> {
        let unknown = || Fault::unknown(format!("there is no prompt `{}`", tame(name)));
        let (run_name, id) = parse_name(name).ok_or_else(unknown)?;
        let run = self.run(run_name, None).await?;
        let found = on(Arc::clone(&run), move |run| {
            let (task, reward) = (Arc::clone(&run.plan().task), run.reward());
            Ok(run
                .begun(id)
                .map(|(begun, stage)| (task, reward, begun, stage)))
        });
        let (task, reward, begun, stage) = found.await?.ok_or_else(unknown)?;
        Ok(PromptRef {
            name: prompt_name(run_name, id),
            id,
            run,
            task,
            stage,
            begun,
            reward,
        })
    }

    /// The name of a run's task, and its next prompts. The run begins with the first of them if a
    /// task is named.
    pub(crate) async fn prompts(
        &self,
        name: &str,
        task: Option<&str>,
        count: usize,
    ) -> Result<(String, Vec<Prompt>), Fault> {
        let run = self.run(name, task).await?;
        on(run, move |run| {
            Ok((run.plan().task.spec.name.clone(), run.prompts(count)?))
        })
        .await
    }

    /// An open run, opened or begun if it is not.
    async fn run(&self, name: &str, task: Option<&str>) -> Result<Opened, Fault> {
        if !is_name(name) {
            return Err(Fault::bad(format!("`{}` cannot name a run", tame(name)))
                .hint("a name has 1 to 64 letters, digits, dashes, dots and underscores"));
        }
        let since = self.desk.changes();
        let run = self.opened(name, task).await?;
        let machine = self.desk.look().bench.ok();
        let looked = on(Arc::clone(&run), move |run| {
            // The bench may have come back on another machine since the run was opened.
            if let Some(machine) = &machine {
                run.compares_with(machine)?;
            }
            Ok((Arc::clone(&run.plan().task), run.state().seed.is_some()))
        });
        let (run_task, judged) = looked.await?;
        if let Some(task) = task.filter(|task| *task != run_task.spec.name) {
            let (is, asked) = (&run_task.spec.name, tame(task));
            return Err(Fault::conflict(format!(
                "this run is about {is}, not {asked}"
            )));
        }
        if !judged {
            // Everything is measured against the seed, so it comes first.
            let deadline = tokio::time::Instant::now() + self.limits.wait;
            let seed = self.worth.seed(&run_task, deadline).await?;
            self.desk.one_class(since)?;
            on(Arc::clone(&run), move |run| {
                run.seed_judged((*seed).clone())
            })
            .await?;
        }
        Ok(run)
    }

    /// Opening may take long, and keeps nobody waiting who wants another run.
    async fn opened(&self, name: &str, task: Option<&str>) -> Result<Opened, Fault> {
        let place = self.place(name, task)?;
        let opening = || async {
            let run = self.open(name, task).await?;
            Ok::<_, Fault>(Arc::new(Mutex::new(run)))
        };
        let opened = place.get_or_try_init(opening).await.map(Arc::clone);
        if opened.is_err() {
            let mut open = self.places();
            // Here and in the map; others who wait try again.
            if Arc::strong_count(&place) == 2 && !place.initialized() {
                open.remove(name);
            }
        }
        opened
    }

    fn places(&self) -> MutexGuard<'_, BTreeMap<String, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run's place, a new one if it has none.
    fn place(&self, name: &str, task: Option<&str>) -> Result<Arc<OnceCell<Opened>>, Fault> {
        let mut open = self.places();
        if let Some(known) = open.get_mut(name) {
            known.used = Instant::now();
            return Ok(Arc::clone(&known.place));
        }
        if task.is_none() && !self.exists(name) {
            return Err(Fault::unknown(format!("there is no run `{name}`"))
                .hint("name a task to begin it, as in {\"run\": \"NAME\", \"task\": \"matmul\", \"n\": 8}"));
        }
        if !self.exists(name) {
            self.catalogue.find(task)?;
        }
        if let Some(idle) = make_room(&mut open, &self.limits)? {
            (self.listener)(&Notice::RunClosed { run: idle });
        }
        let place = Arc::new(OnceCell::new());
        open.insert(
            name.to_owned(),
            Open {
                place: Arc::clone(&place),
                used: Instant::now(),
            },
        );
        Ok(place)
    }

    fn exists(&self, name: &str) -> bool {
        self.folder.join(name).join("run.toml").is_file()
    }

    async fn open(&self, name: &str, task: Option<&str>) -> Result<ForeignRun, Fault> {
        let begins = (!self.exists(name)).then(|| self.catalogue.find(task));
        let opening = Opening {
            directory: self.folder.join(name),
            begins: begins.transpose()?,
            set: self.set.clone(),
            catalogue: Arc::clone(&self.catalogue),
            facts: self
                .desk
                .look()
                .bench
                .map_err(|error| Fault::machine(&error))?,
        };
        let opening = tokio::task::spawn_blocking(move || opening.open());
        let run = opening.await.map_err(|_| Fault::bug())??;
        (self.listener)(&Notice::RunOpened {
            run: name.to_owned(),
            steps: run.state().finished(),
        });
        Ok(run)
    }
}

/// A run that is being opened, with everything that takes.
struct Opening {
    directory: PathBuf,
    /// The task of a run that does not exist yet.
    begins: Option<Arc<Task>>,
    set: Vec<String>,
    catalogue: Arc<Catalogue>,
    facts: MachineFacts,
}

impl Opening {
    fn open(self) -> Result<ForeignRun, Fault> {
        let load = |name: &str| {
            self.catalogue
                .find(Some(name))
                .map(|task| (*task).clone())
                .map_err(|fault| fault.what)
        };
        let plan = match self.begins {
            Some(task) => {
                // Few servers continue a begun answer, and the service does not know the model's
                // name.
                let mut sets = vec![
                    format!("task={}", task.spec.name),
                    "model=foreign-trainer".to_owned(),
                    "prompts.begin=false".to_owned(),
                    "loop.probe=0".to_owned(),
                ];
                sets.extend(self.set);
                sets.push(format!("directory={}", self.directory.display()));
                Layered::read(None, &sets).and_then(|layered| Plan::new(&layered, "", &load))
            }
            None => Plan::resume(&self.directory, &[], &load),
        };
        let plan = plan.map_err(|mistakes| {
            let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
            Fault::new(StatusCode::CONFLICT, lines.join("; "))
        })?;
        ForeignRun::open(plan, self.facts, now).map_err(|interrupt| fault(&interrupt))
    }
}

/// Closes the run that has been idle longest if there is no room for another, and returns its name.
/// Its directory holds everything, so the next request for it opens it again.
fn make_room(open: &mut BTreeMap<String, Open>, limits: &Limits) -> Result<Option<String>, Fault> {
    if open.len() < limits.runs {
        return Ok(None);
    }
    let idle = open
        .iter()
        .filter(|(_, one)| one.is_idle(limits.idle))
        .min_by_key(|(_, one)| one.used);
    let Some(name) = idle.map(|(name, _)| name.clone()) else {
        let (runs, idle_s) = (
            hotloop_flow::count(open.len(), "run"),
            limits.idle.as_secs(),
        );
        return Err(Fault::later(
            format!("no room for another run: {runs} open and in use"),
            Duration::from_mins(1),
        )
        .hint(format!(
            "a run that nobody asks for during {idle_s} s makes room for another; \
                 a second service with its own folder of runs has its own limit"
        )));
    };
    let closed = open.remove(&name);
    Ok(closed.filter(|one| one.place.initialized()).map(|_| name))
}

/// Does something with a run on a thread that may wait: for the disk, or for somebody who holds the
/// run.
async fn on<T: Send + 'static>(
    run: Opened,
    act: impl FnOnce(&mut ForeignRun) -> Result<T, Interrupt> + Send + 'static,
) -> Result<T, Fault> {
    let acting = tokio::task::spawn_blocking(move || {
        act(&mut run.lock().unwrap_or_else(PoisonError::into_inner))
            .map_err(|interrupt| fault(&interrupt))
    });
    acting.await.map_err(|_| Fault::bug())?
}

fn fault(interrupt: &Interrupt) -> Fault {
    let what = interrupt.to_string();
    let fault = match interrupt {
        Interrupt::Foreign { .. } | Interrupt::Reconfigured(_) | Interrupt::Reward(_) => {
            Fault::new(StatusCode::CONFLICT, what)
        }
        _ => Fault::later(what, Duration::from_secs(5)),
    };
    match interrupt.hint() {
        Some(hint) => fault.hint(hint),
        None => fault,
    }
}

fn now() -> f64 {
    std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .unwrap_or_default()
        .as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_one_folder_and_nothing_hidden() {
        for name in ["sqd", "a.b-c_1", "X"] {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "",
            ".",
            "..",
            "../x",
            "a/b",
            ".hidden",
            "a b",
            "ä",
            "a\0",
            &"x".repeat(65),
        ] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn prompts_have_names_that_lead_back_to_them() {
        let id = PromptId {
            iteration: 3,
            parent: 5,
        };
        assert_eq!(parse_name(&prompt_name("run-1", id)), Some(("run-1", id)));
        for name in [
            "run-1/3",
            "run-1/3/5/7",
            "../x/3/5",
            "run/-1/2",
            "run/3/x",
            "",
        ] {
            assert_eq!(parse_name(name), None, "{name}");
        }
    }
}
