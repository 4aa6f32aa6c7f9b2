//! A worker: takes groups for its machine's class, judges them and answers.
//!
//! It holds no queue. It pulls one group when it has room, and keeps telling the server that it
//! still works on it. It stores the answer first and acknowledges the group after that. If the
//! worker ends in between, the server gives the group to another one.

mod answer;
mod duty;
mod health;
mod pull;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use hotloop_flow::how::Compiler;
use hotloop_flow::{Bench, BenchError, Job, JobId, MachineFacts, Remedy, Reply, seed};
use tokio::runtime::Runtime;

use crate::cores;
use crate::judges::Judges;
use crate::link::Link;
use crate::runtime::{nonce, runtime};
use crate::wire::{self, Beat, Group, Judged, Terms, WireReply};

use answer::Answers;
pub use duty::Duty;
use health::Health;
use pull::{Came, Puller};

/// How often a worker says that it lives.
const BEAT: Duration = Duration::from_secs(2);
/// How long one wait for a verdict or a group is.
const GLANCE: Duration = Duration::from_millis(20);
/// How long after a process of the bench the worker itself may be asked to stop.
const TOGETHER: Duration = Duration::from_millis(100);

/// A group under way.
struct Held {
    came: Came,
    group: Group,
    /// Jobs of the bench, from this number on.
    first: u64,
    judged: Vec<Option<Judged>>,
}

struct Worker<'a> {
    duty: Duty,
    judges: &'a dyn Judges,
    /// How often the worker was asked to stop.
    asked: &'a AtomicU32,
    name: String,
    class: String,
    machine: Vec<(Compiler, MachineFacts)>,
    cuda: Option<MachineFacts>,
    cores: Vec<usize>,
    /// Threads that a candidate can have: the bench times each on a physical core.
    threads: u32,
    bench: Option<(Terms, Box<dyn Bench>)>,
    held: Vec<Held>,
    /// Groups that are to be judged otherwise than those before them.
    parked: Vec<(Came, Group)>,
    next_job: u64,
    /// The bench judges a task's own seed, to tell whose fault failures are.
    trial: Option<u64>,
    health: Health,
    begun: Instant,
}

/// Works until it is asked to stop, and then finishes what it has. Asked twice, it gives back at
/// once what it has.
pub fn work(duty: Duty, judges: &dyn Judges, asked: &AtomicU32) -> Result<(), BenchError> {
    let cores = claim(&duty)?;
    let _owned = cores::own(&cores, duty.share_cores)?;
    let machine = judges.machine()?;
    let noise = judges.noise()?;
    let cuda = judges.cuda();
    let classes: Vec<&str> = machine
        .iter()
        .map(|(_, facts)| facts)
        .chain(&cuda)
        .map(|facts| facts.class.as_str())
        .collect();
    let class = wire::hash(&classes)[..12].to_owned();
    let slots = duty.slots.max(1);
    // The network's thread stays off the first slot's cores, where there are others.
    let timed = hotloop_bench::survey::slot_cores(slots as usize);
    let rest: Vec<usize> = cores
        .iter()
        .copied()
        .filter(|core| !timed.contains(core))
        .collect();
    let runtime = runtime((!rest.is_empty()).then_some(rest))?;
    let name = format!(
        "{}-{}-{}",
        wordly(&host()),
        std::process::id(),
        &nonce()[..4]
    );
    let link = runtime.block_on(Link::open(&duty.access, &name, duty.patience, &duty.log))?;
    let health = Health::new(noise, duty.calm);
    (duty.log)(
        &format!(
            "{name}: class {class}, {}, cores {cores:?}, {:?}",
            hotloop_flow::count(slots as usize, "slot"),
            health.state()
        ),
        &[],
    );
    let mut worker = Worker {
        duty,
        judges,
        asked,
        name,
        class,
        machine,
        cuda,
        cores,
        threads: hotloop_bench::survey::physical_cores() as u32,
        bench: None,
        held: Vec::new(),
        parked: Vec::new(),
        next_job: 0,
        trial: None,
        health,
        begun: Instant::now(),
    };
    worker.serve(&runtime, &link)
}

/// The worker's cores; the process and all it starts keep to them.
fn claim(duty: &Duty) -> Result<Vec<usize>, BenchError> {
    let Some(list) = &duty.cores else {
        return Ok(hotloop_bench::survey::logical_cores());
    };
    let cores = cores::parse(list).ok_or_else(|| {
        BenchError::user(format!("{list}: no list of cores"))
            .hint("write it as in 0-3,8")
            .remedies(&[Remedy::Cores])
    })?;
    let allowed = hotloop_bench::survey::logical_cores();
    if let Some(core) = cores.iter().find(|core| !allowed.contains(core)) {
        return Err(BenchError::user(format!(
            "{list}: core {core} is not among those that may be used"
        ))
        .hint("name cores that this process may use")
        .remedies(&[Remedy::Cores]));
    }
    hotloop_bench::survey::pin_to_cores(&cores)
        .map_err(|error| BenchError::machine(format!("cores {list}: {error}")))?;
    Ok(cores)
}

fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map_or_else(|_| "host".to_owned(), |name| name.trim().to_owned())
}

/// A text made fit for a subject.
fn wordly(text: &str) -> String {
    text.chars()
        .take(30)
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect()
}

impl Worker<'_> {
    fn serve(&mut self, runtime: &Runtime, link: &Link) -> Result<(), BenchError> {
        let puller = Puller::start(runtime, link, &self.class, &self.duty, self.room())?;
        let mut answers = Answers::new(runtime, link);
        let mut beaten: Option<Instant> = None;
        let mut stopping: Option<Instant> = None;
        loop {
            let asked = self.asked.load(Ordering::Relaxed);
            if asked > 0 && stopping.is_none() {
                stopping = Some(Instant::now());
                self.health.drain();
            }
            puller
                .pause(!self.health.is_ready() || self.trial.is_some() || !self.parked.is_empty());
            if beaten.is_none_or(|at| at.elapsed() >= BEAT) {
                beaten = Some(Instant::now());
                let beat = self.beat(puller.busy());
                answers.beat(&beat);
            }
            if let Some(since) = stopping {
                if self.held.is_empty() && self.parked.is_empty() {
                    break;
                }
                if asked > 1 || since.elapsed() >= self.duty.grace {
                    break;
                }
            }
            self.glance(&puller, &mut answers);
            self.recover();
        }
        self.abandon(&mut answers);
        answers.hand_back(puller.close());
        answers.wait(self.duty.grace);
        answers.part(&self.name);
        Ok(())
    }

    /// Jobs that a worker holds at most: those it times, and as many that wait compiled.
    fn room(&self) -> usize {
        2 * self.duty.slots.max(1) as usize
    }

    /// One wait for whatever comes first.
    fn glance(&mut self, puller: &Puller, answers: &mut Answers) {
        if self.is_idle() {
            for (came, group) in std::mem::take(&mut self.parked) {
                self.place(came, group, answers);
            }
        }
        let is_idle = self.is_idle();
        if let Some(came) = puller.next(if is_idle { GLANCE * 5 } else { Duration::ZERO }) {
            self.accept(came, answers);
        }
        let next = match &mut self.bench {
            Some((_, bench)) if !is_idle => bench.next(GLANCE),
            _ => return,
        };
        match next {
            Ok(None) => {}
            Ok(Some(reply)) => self.judged(reply, answers),
            Err(_) if self.is_leaving() => self.abandon(answers),
            // The bench itself is broken. Its waiting jobs get an error, and the next group gets a
            // new bench.
            Err(error) => {
                self.bench = None;
                self.trial = None;
                self.health.failed("bench", &error);
                let Self {
                    held, name, health, ..
                } = self;
                for held in held.drain(..) {
                    answers.fail(held.came, &held.group, name, health.noise(), &error);
                }
            }
        }
    }

    fn accept(&mut self, came: Came, answers: &mut Answers) {
        if !self.health.is_ready() {
            answers.hand_back(vec![came]);
            return;
        }
        let group = match Group::read(came.payload()) {
            Ok(group) => group,
            Err(why) => {
                (self.duty.log)(&format!("refused: group {}: {why}", came.sequence), &[]);
                answers.refuse(came);
                return;
            }
        };
        self.place(came, group, answers);
    }

    /// Begins a group, or parks it while the bench is at work that is to be judged otherwise.
    fn place(&mut self, came: Came, group: Group, answers: &mut Answers) {
        if self
            .bench
            .as_ref()
            .is_some_and(|(terms, _)| *terms != group.terms)
        {
            if !self.is_idle() {
                self.parked.push((came, group));
                return;
            }
            self.bench = None;
        }
        self.begin(came, group, answers);
    }

    /// Whether the bench has nothing to do.
    fn is_idle(&self) -> bool {
        self.held.is_empty() && self.trial.is_none()
    }

    /// Gives a group's jobs to the bench.
    fn begin(&mut self, came: Came, group: Group, answers: &mut Answers) {
        let begun = group
            .jobs()
            .map_err(|why| BenchError::machine(format!("the worker refuses the task: {why}")))
            .and_then(|jobs| self.submit(&group.terms, jobs));
        match begun {
            Ok(first) => {
                let judged = group.jobs.iter().map(|_| None).collect();
                self.held.push(Held {
                    came,
                    group,
                    first,
                    judged,
                });
            }
            Err(_) if self.is_leaving() => answers.hand_back(vec![came]),
            Err(error) => {
                (self.duty.log)(&format!("group {}: {error}", came.sequence), &[]);
                self.health.failed(&came.sequence.to_string(), &error);
                answers.fail(came, &group, &self.name, self.health.noise(), &error);
            }
        }
    }

    fn submit(&mut self, terms: &Terms, mut jobs: Vec<Job>) -> Result<u64, BenchError> {
        let first = self.next_job;
        for job in &mut jobs {
            job.id = JobId(self.next_job);
            self.next_job += 1;
        }
        let fitting = (self.threads / terms.how.threads.max(1)).max(1);
        let slots = self.duty.slots.max(1).min(fitting);
        let (_, bench) = match &mut self.bench {
            Some(bench) => bench,
            none => none.insert((terms.clone(), self.judges.start(terms, slots)?)),
        };
        bench.submit(jobs)?;
        Ok(first)
    }

    fn judged(&mut self, reply: Reply, answers: &mut Answers) {
        let id = reply.id.0;
        if self.trial == Some(id) {
            self.trial = None;
            match reply.judged {
                Ok(_) => self.health.acquit(),
                Err(error) => {
                    (self.duty.log)(
                        &format!("quarantine: the machine fails on a task's own seed: {error}"),
                        &[],
                    );
                    self.health.condemn(&error);
                    self.abandon(answers);
                }
            }
            return;
        }
        let Some(at) = self
            .held
            .iter()
            .position(|held| (held.first..held.first + held.judged.len() as u64).contains(&id))
        else {
            return;
        };
        let place = (id - self.held[at].first) as usize;
        match &reply.judged {
            Ok(_) => self.health.judged(),
            Err(_) if self.is_leaving() => {
                let held = self.held.swap_remove(at);
                answers.hand_back(vec![held.came]);
                return;
            }
            Err(error) => {
                let source = wire::hash(&[&self.held[at].group.jobs[place].source]);
                if self.health.failed(&source, error) && self.trial.is_none() {
                    self.try_seed(at, place);
                }
            }
        }
        self.held[at].judged[place] = Some(reply.judged.into());
        if self.held[at].judged.iter().all(Option::is_some) {
            let held = self.held.swap_remove(at);
            let id = |place: usize| held.group.jobs[place].id.clone();
            let replies = held
                .judged
                .into_iter()
                .enumerate()
                .filter_map(|(place, judged)| {
                    Some(WireReply {
                        id: id(place),
                        judged: judged?,
                    })
                })
                .collect();
            answers.send(
                held.came,
                &held.group.scope,
                &self.name,
                self.health.noise(),
                replies,
            );
        }
    }

    /// Has the seed of the task judged that failures came with: candidates must not be able to
    /// take a sound machine out of the fleet.
    fn try_seed(&mut self, at: usize, place: usize) {
        let group = &self.held[at].group;
        let terms = group.terms.clone();
        let Ok(jobs) = group.jobs() else { return };
        let Some(job) = jobs.into_iter().nth(place) else {
            return;
        };
        if let Ok(trial) = seed::job(job.id, &job.task) {
            match self.submit(&terms, vec![trial]) {
                Ok(id) => self.trial = Some(id),
                Err(error) => self.health.condemn(&error),
            }
        }
    }

    /// Gives everything back.
    fn abandon(&mut self, answers: &mut Answers) {
        self.bench = None;
        let parked = self.parked.drain(..).map(|(came, _)| came);
        answers.hand_back(
            self.held
                .drain(..)
                .map(|held| held.came)
                .chain(parked)
                .collect(),
        );
    }

    /// Whether the worker was asked to stop. A failure then says nothing about the machine or the
    /// group: a scheduler asks every process of a job, one after the other, and the worker need not
    /// be the first.
    fn is_leaving(&self) -> bool {
        let begin = Instant::now();
        loop {
            if self.asked.load(Ordering::Relaxed) > 0 {
                return true;
            }
            if begin.elapsed() >= TOGETHER {
                return false;
            }
            std::thread::sleep(TOGETHER / 20);
        }
    }

    /// A machine that was not quiet is listened to again, now and then.
    fn recover(&mut self) {
        if self.health.wants_listening() {
            match self.judges.noise() {
                Ok(noise) => self.health.listened(noise),
                Err(error) => self.health.condemn(&error),
            }
        }
    }

    fn beat(&mut self, busy: usize) -> Beat {
        Beat {
            version: wire::VERSION,
            worker: self.name.clone(),
            host: host(),
            pid: std::process::id(),
            class: self.class.clone(),
            machine: self.machine.clone(),
            cuda: self.cuda.clone(),
            slots: self.duty.slots.max(1),
            cores: self.cores.clone(),
            threads: self.threads,
            state: self.health.state(),
            noise: Some(self.health.noise()),
            busy: busy as u32,
            judged: self.health.judged_count(),
            failed: self.health.failed_count(),
            per_minute: self.health.per_minute(),
            up_s: self.begun.elapsed().as_secs_f64(),
            last_error: self.health.last_error(),
        }
    }
}
