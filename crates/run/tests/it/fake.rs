//! A policy that learns which of a few kernels to write, and a bench that reads their speed from
//! the text. Both are deterministic, so that runs can be compared event by event.

mod compared;
mod failing;
mod reviewer;
mod tasks;

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hotloop_flow::bench::{Judgement, Seconds};
use hotloop_flow::policy::{Capabilities, Chat, Completion, Ending, Updated};
use hotloop_flow::random::{Random, seed};
use hotloop_flow::verdict::Mismatch;
use hotloop_flow::{
    Baseline, Bench, BenchError, Device, Job, JobId, MachineFacts, Measured, Policy, PolicyError,
    Prose, Reply, Roof, Sampling, Task, Verdict, WeightedTokens,
};
use hotloop_run::event::Line;
use hotloop_run::{Ended, Event, Layered, Parts, Plan, RunState, Store, drive};

pub(crate) use compared::{facts, same, same_facts};
pub(crate) use failing::Failing;
pub(crate) use reviewer::FakeReviewer;
pub(crate) use tasks::{UNCOUNTED, matmul, task, task_with};

/// The number of kernels that the fake policy can write and the fake bench knows.
pub(crate) const WORDS: usize = 12;
/// The forms of each kernel. An answer has two tokens: the kernel and its form.
const FORMS: u32 = 50;

/// How much faster everything but matmul is. If the run took it for matmul, it would be the best by
/// far.
pub(crate) const PRACTISED: f64 = 100.0;

/// The beginning of an answer that the prompt did not begin.
const SIGNATURE: &str =
    "```c\nvoid matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {\n";

/// Something that looks like a kernel in a report.
const KERNEL: &str = "    // speed_KIND is what the fake bench reads
    const int speed_KIND = FORM;
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j += 4 * KIND) {
            __m256d sum[KIND];
            for (int k = 0; k < K; k++) {
                __m256d a = _mm256_set1_pd(A[i * K + k]);
                for (int r = 0; r < KIND; r++)
                    sum[r] = _mm256_fmadd_pd(a, _mm256_loadu_pd(&B[k * N + j + 4 * r]), sum[r]);
            }
            for (int r = 0; r < KIND; r++)
                _mm256_storeu_pd(&C[i * N + j + 4 * r], sum[r]);
        }
    }
";

/// A softmax over a few kinds of kernel. Each update is one step of plain policy gradient.
#[derive(Debug, Clone)]
pub(crate) struct FakePolicy {
    pub(crate) preferences: Vec<f64>,
    pub(crate) rate: f64,
    pub(crate) updates: u64,
    /// Prompts of more characters than this are refused.
    pub(crate) longest: Option<usize>,
    pub(crate) learns: bool,
    /// The KL divergence that its updates report.
    pub(crate) kl: fn(u64) -> Option<f64>,
    /// How far its sampler is from its trainer.
    pub(crate) gap: f64,
    /// Makes the loss of this update NaN.
    pub(crate) break_at: Option<u64>,
    /// Diverges at this update, and gives no answers after this many updates.
    pub(crate) diverge_at: Option<u64>,
    pub(crate) sampling_diverges_at: Option<u64>,
    /// Knows only this kind after this many updates.
    pub(crate) collapse_at: Option<(u64, usize)>,
    /// How many more calls it takes before it is stopped in the middle of one.
    pub(crate) calls_left: Option<u64>,
}

impl FakePolicy {
    pub(crate) fn new(rate: f64) -> Self {
        // At first the worst kinds are the most likely.
        let preferences = (0..WORDS).map(|kind| -0.15 * kind as f64).collect();
        Self {
            preferences,
            rate,
            updates: 0,
            longest: None,
            learns: true,
            kl: |_| Some(0.01),
            gap: 0.0,
            break_at: None,
            diverge_at: None,
            sampling_diverges_at: None,
            collapse_at: None,
            calls_left: None,
        }
    }

    /// Knows only this kind from now on.
    pub(crate) fn collapse(&mut self, kind: usize) {
        self.preferences = vec![0.0; WORDS];
        self.preferences[kind] = 50.0;
    }

    fn hear(&mut self) -> Result<(), PolicyError> {
        match &mut self.calls_left {
            Some(0) => Err(PolicyError::Stopped),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn logprobs(&self, temperature: f64) -> Vec<f64> {
        let scaled: Vec<f64> = self
            .preferences
            .iter()
            .map(|preference| preference / temperature)
            .collect();
        let sum: f64 = scaled.iter().map(|preference| preference.exp()).sum();
        scaled
            .iter()
            .map(|preference| preference - sum.ln())
            .collect()
    }

    fn draw(&self, random: &mut Random, temperature: f64) -> (usize, f32) {
        let logprobs = self.logprobs(temperature);
        let mut left = random.unit();
        for (kind, logprob) in logprobs.iter().enumerate() {
            left -= logprob.exp();
            if left < 0.0 {
                return (kind, *logprob as f32);
            }
        }
        (WORDS - 1, logprobs[WORDS - 1] as f32)
    }
}

fn text(kind: usize, form: u32) -> String {
    let body = match kind {
        0 => return format!("    // I could go on for ever, {form} times"),
        1 => format!("    syntax error {form};\n"),
        2 => format!("    crash_{form}();\n"),
        3 => format!("    int wrong = {form};\n"),
        _ => KERNEL
            .replace("KIND", &kind.to_string())
            .replace("FORM", &form.to_string()),
    };
    format!("{body}}}\n```")
}

impl Policy for FakePolicy {
    fn sample(
        &mut self,
        chats: &[Chat],
        count: u32,
        sampling: &Sampling,
    ) -> Result<Vec<Completion>, PolicyError> {
        self.hear()?;
        if self
            .sampling_diverges_at
            .is_some_and(|at| self.updates >= at)
        {
            return Err(PolicyError::Diverged("the logits are not finite".into()));
        }
        let mut completions = Vec::new();
        for (at, chat) in (0u64..).zip(chats) {
            let length = chat
                .messages
                .iter()
                .map(|message| message.content.len())
                .sum::<usize>();
            if self.longest.is_some_and(|longest| length > longest) {
                return Err(PolicyError::ContextExceeded {
                    prompt: length as u32,
                    answer: 2,
                    context: 2,
                });
            }
            for member in 0..u64::from(count) {
                let mut random = Random::new(seed(sampling.seed, &[at, member]));
                let (kind, logprob) = self.draw(&mut random, sampling.temperature);
                let form = random.below(FORMS as usize) as u32;
                completions.push(Completion {
                    text: format!(
                        "{}{}",
                        if chat.begun.is_empty() { SIGNATURE } else { "" },
                        text(kind, form)
                    ),
                    prompt_tokens: vec![length as u32, at as u32],
                    tokens: vec![kind as u32, form],
                    logprobs: vec![logprob, -(FORMS as f32).ln()],
                    ending: if kind == 0 {
                        Ending::Length
                    } else {
                        Ending::Stop
                    },
                });
            }
        }
        Ok(completions)
    }

    fn update(&mut self, batch: &[WeightedTokens]) -> Result<Updated, PolicyError> {
        self.hear()?;
        if self.diverge_at == Some(self.updates + 1) {
            return Err(PolicyError::Diverged("the loss is not finite".into()));
        }
        let probabilities: Vec<f64> = self
            .logprobs(1.0)
            .iter()
            .map(|logprob| logprob.exp())
            .collect();
        let mut gradient = vec![0.0; WORDS];
        for member in batch {
            for (kind, slope) in gradient.iter_mut().enumerate() {
                let chosen = f64::from(u8::from(member.tokens[0] as usize == kind));
                *slope += member.advantage * (chosen - probabilities[kind]) / batch.len() as f64;
            }
        }
        for (preference, slope) in self.preferences.iter_mut().zip(&gradient) {
            *preference += self.rate * slope;
        }
        self.updates += 1;
        if let Some((_, kind)) = self.collapse_at.filter(|(at, _)| *at == self.updates) {
            self.collapse(kind);
        }
        let broken = self.break_at == Some(self.updates);
        Ok(Updated {
            loss: if broken {
                f64::NAN
            } else {
                -gradient.iter().map(|slope| slope * slope).sum::<f64>()
            },
            gradient_norm: gradient
                .iter()
                .map(|slope| slope * slope)
                .sum::<f64>()
                .sqrt(),
            kl: (self.kl)(self.updates),
            clipped: 0.0,
            entropy: -probabilities.iter().map(|p| p * p.ln()).sum::<f64>(),
            sampler_gap: self.gap,
        })
    }

    fn save(&self, directory: &Path) -> Result<(), PolicyError> {
        let failed = |error: std::io::Error| PolicyError::Failed(error.to_string());
        fs_err::create_dir_all(directory).map_err(failed)?;
        let bits: Vec<String> = self
            .preferences
            .iter()
            .map(|preference| preference.to_bits().to_string())
            .collect();
        fs_err::write(
            directory.join("policy.txt"),
            format!("{}\n{}", self.updates, bits.join(" ")),
        )
        .map_err(failed)
    }

    fn load(&mut self, directory: &Path) -> Result<(), PolicyError> {
        let failed = |error: std::io::Error| PolicyError::Failed(error.to_string());
        let text = fs_err::read_to_string(directory.join("policy.txt")).map_err(failed)?;
        let (updates, bits) = text.split_once('\n').unwrap();
        self.updates = updates.parse().unwrap();
        self.preferences = bits
            .split(' ')
            .map(|bits| f64::from_bits(bits.parse().unwrap()))
            .collect();
        Ok(())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            model: "fake".into(),
            learns: self.learns,
            logprobs: true,
            context: 4096,
        }
    }
}

/// Reads a verdict from the text.
#[derive(Default)]
pub(crate) struct FakeBench {
    queue: VecDeque<Job>,
    /// How often each source was submitted.
    tries: BTreeMap<String, u32>,
    /// Whether the machine fails on a source at its n-th try.
    pub(crate) fails: Option<fn(&str, u32) -> bool>,
    /// Whether a source is wrong at its n-th try.
    pub(crate) spoils: Option<fn(&str, u32) -> bool>,
    /// Whether a source is timed as twice too fast at its n-th try.
    pub(crate) lucky: Option<fn(&str, u32) -> bool>,
    /// How much its timings vary. If set, they differ a little from text to text.
    pub(crate) cv: Option<f64>,
    /// The machine's class, where it matters.
    pub(crate) class: Option<&'static str>,
    /// Has neither OpenBLAS nor a roof.
    pub(crate) bare: bool,
    /// Makes the run wait before every reply.
    pub(crate) slow: bool,
    waited: bool,
    /// Refuses everything after this many jobs.
    pub(crate) dies_after: Option<usize>,
    pub(crate) judged: usize,
    pub(crate) cancelled: usize,
}

pub(crate) fn correct(gflops: f64) -> Verdict {
    Verdict::Correct(Measured {
        baseline: Some(Baseline {
            name: Baseline::OPENBLAS.to_owned(),
            seconds: 1.0 / 80.0,
        }),
        roof: Some(Roof {
            seconds: 0.01,
            peak_flops: 100e9,
        }),
        ..Measured::steady(gflops, 1.0 / gflops)
    })
}

/// The same code on a machine that is this many times as fast.
fn speed_up(measured: &mut Measured, times: f64) {
    let timing = &mut measured.timing;
    for seconds in [
        &mut measured.seconds,
        &mut timing.min_s,
        &mut timing.median_s,
        &mut timing.paper_s,
    ] {
        *seconds /= times;
    }
}

/// The fake bench's verdict on a source.
pub(crate) fn verdict(source: &str) -> Verdict {
    let speed = (4..WORDS).find(|kind| source.contains(&format!("speed_{kind} ")));
    match speed {
        _ if source.contains("syntax") => Verdict::NotCompiled {
            diagnostics: "expected ';'".into(),
        },
        _ if source.contains("crash") => Verdict::Crashed {
            how: "signal 11".into(),
        },
        _ if source.contains("wrong") => Verdict::Wrong(Mismatch {
            why: "C[0] is 1, wanted 2".into(),
            error: 1.0,
            paper: false,
        }),
        Some(kind) => correct(1.6f64.powi(kind as i32 - 3)),
        None => correct(1.0),
    }
}

impl Bench for FakeBench {
    fn submit(&mut self, jobs: Vec<Job>) -> Result<(), BenchError> {
        self.queue.extend(jobs);
        Ok(())
    }

    fn next(&mut self, _: Duration) -> Result<Option<Reply>, BenchError> {
        if self.slow && !std::mem::replace(&mut self.waited, true) {
            return Ok(None);
        }
        self.waited = false;
        let Some(job) = self.queue.pop_front() else {
            return Ok(None);
        };
        if self.dies_after.is_some_and(|limit| self.judged >= limit) {
            return Ok(Some(Reply {
                id: job.id,
                judged: Err(BenchError::machine("gcc: command not found")),
            }));
        }
        self.judged += 1;
        let source = job.candidate.source();
        let tries = self.tries.entry(source.to_owned()).or_default();
        *tries += 1;
        if self.fails.is_some_and(|fails| fails(source, *tries)) {
            return Ok(Some(Reply {
                id: job.id,
                judged: Err(BenchError::machine("the machine was disturbed")),
            }));
        }
        let seconds = Seconds {
            compile: 0.1,
            run: 0.1,
            total: 0.2,
        };
        let mut verdict = verdict(source);
        if self.spoils.is_some_and(|spoils| spoils(source, *tries)) {
            verdict = Verdict::Wrong(Mismatch {
                why: "a race was lost".into(),
                error: 1.0,
                paper: false,
            });
        }
        if let (Verdict::Correct(measured), false) = (&mut verdict, job.task.spec.name == "matmul")
        {
            speed_up(measured, PRACTISED);
        }
        if let (Verdict::Correct(measured), Some(lucky)) = (&mut verdict, self.lucky) {
            speed_up(measured, if lucky(source, *tries) { 2.0 } else { 1.0 });
        }
        if let (Verdict::Correct(measured), Some(cv)) = (&mut verdict, self.cv) {
            let differs = source.bytes().map(u32::from).sum::<u32>() % 7;
            speed_up(measured, 1.0 + 1e-3 * f64::from(differs));
            (measured.timing.cv, measured.timing.quiet) = (cv, false);
        }
        if let (Verdict::Correct(measured), true) = (&mut verdict, self.bare) {
            (measured.baseline, measured.roof) = (None, None);
        }
        if let (Verdict::Correct(measured), false) = (&mut verdict, job.task.counts_operations()) {
            measured.work.flops = None;
        }
        Ok(Some(Reply {
            id: job.id,
            judged: Ok(Judgement { verdict, seconds }),
        }))
    }

    fn cancel(&mut self, ids: &[JobId]) {
        self.cancelled += ids.len();
        self.queue.retain(|job| !ids.contains(&job.id));
    }

    fn profile(&mut self, job: &Job) -> Result<Option<String>, BenchError> {
        let kind =
            (4..WORDS).find(|kind| job.candidate.source().contains(&format!("speed_{kind} ")));
        let kind = kind.ok_or_else(|| BenchError::machine("there is nothing to profile"))?;
        Ok(Some(format!("kind {kind} in the fake profile")))
    }

    fn facts(&self) -> MachineFacts {
        MachineFacts {
            class: self.class.unwrap_or("fake").into(),
            device: Device::Cpu {
                name: "Fake CPU".into(),
                simd: "avx2".into(),
                cores: 2,
            },
            kernel: "6.0".into(),
            compiler: "gcc 14".into(),
            libraries: [(MachineFacts::OPENBLAS.into(), "Haswell".into())].into(),
            sandbox: vec!["seccomp".into()],
        }
    }
}

pub(crate) fn plan(directory: &Path, sets: &[&str]) -> Plan {
    plan_of(directory, sets, &task)
}

/// A plan whose tasks `load` finds.
pub(crate) fn plan_of(
    directory: &Path,
    sets: &[&str],
    load: &dyn Fn(&str) -> Result<Task, String>,
) -> Plan {
    let text = format!(
        "model = \"fake\"\ndirectory = {:?}\n[budget]\nsteps = 12\n[sampling]\ngroup = 8\n[loop]\nprobe = 8\ncheckpoint-every = 3\n",
        directory.to_str().unwrap()
    );
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let layered = Layered::read(Some(("run.toml", &text)), &sets).unwrap();
    Plan::new(&layered, "test", load).unwrap()
}

/// Everything that belongs to a process; the run directory outlives it.
pub(crate) struct Process {
    pub(crate) policy: FakePolicy,
    pub(crate) reviewer: Option<FakeReviewer>,
    pub(crate) bench: FakeBench,
    pub(crate) stop: AtomicBool,
    pub(crate) seen: Vec<Event>,
    /// Sets `stop` after this many events.
    pub(crate) stop_after: Option<usize>,
    /// The wall clock as a function of the time that has passed.
    pub(crate) wall: fn(f64) -> f64,
}

impl Process {
    pub(crate) fn new(plan: &Plan) -> Self {
        let rate = if plan.learns() { 1.0 } else { 0.0 };
        Self {
            policy: FakePolicy::new(rate),
            reviewer: None,
            bench: FakeBench::default(),
            stop: AtomicBool::new(false),
            seen: Vec::new(),
            stop_after: None,
            wall: |passed| passed,
        }
    }

    pub(crate) fn drive(
        &mut self,
        plan: &Plan,
        store: &mut Store,
        lines: &[Line],
    ) -> (Ended, RunState) {
        self.drive_until(plan, store, lines, |_| false)
    }

    /// Drives until `stops` returns true for an event.
    pub(crate) fn drive_until(
        &mut self,
        plan: &Plan,
        store: &mut Store,
        lines: &[Line],
        mut stops: impl FnMut(&Event) -> bool,
    ) -> (Ended, RunState) {
        let time = Cell::new(1000.0);
        let stopwatch = || {
            time.set(time.get() + 0.25);
            time.get()
        };
        let wall = self.wall;
        let clock = || wall(stopwatch());
        let Self {
            policy,
            reviewer,
            bench,
            stop,
            seen,
            stop_after,
            ..
        } = self;
        let prose = Prose {
            wording: plan.wording.clone(),
            begin: plan.config.prompts.begin,
            device: bench.facts().device.clone(),
        };
        let mut observer = |event: &Event, _: &RunState| {
            seen.push(event.clone());
            if stop_after.is_some_and(|limit| seen.len() >= limit) || stops(event) {
                stop.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        };
        let (clock, stopwatch) = (&clock, &stopwatch);
        let parts = Parts {
            policy,
            reviewer: reviewer
                .as_mut()
                .map(|reviewer| reviewer as &mut dyn Policy),
            bench,
            render: &prose,
            observer: &mut observer,
            clock,
            stopwatch,
            stop,
        };
        drive(plan, parts, store, lines)
    }
}

pub(crate) fn whole(plan: &Plan) -> (Process, RunState) {
    let mut process = Process::new(plan);
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (ended, state) = process.drive(plan, &mut store, &lines);
    assert!(matches!(ended, Ended::Done(_)), "{ended:?}");
    (process, state)
}
