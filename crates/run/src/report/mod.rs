//! From run directories to something a person can read.
//!
//! [`Report::read`] folds the journals. [`page`], [`text`] and [`csv`] render the report, and
//! [`tensorboard`] writes the curves for `TensorBoard`. A [`figure`] is laid out once, as marks,
//! which `svg` writes.

/// Adds formatted text to a `String`.
macro_rules! put {
    ($to:expr, $($text:tt)*) => {{
        use std::fmt::Write as _;
        $to.write_fmt(format_args!($($text)*)).expect("a String takes everything");
    }};
}

pub mod against;
pub mod csv;
pub mod curves;
pub mod detail;
pub mod diff;
mod drawing;
pub mod feature;
pub mod figure;
mod figures;
mod files;
pub mod highlight;
pub mod listing;
pub mod names;
pub mod page;
mod points;
mod practised;
pub mod reviewer;
mod scale;
mod svg;
pub mod tensorboard;
pub mod text;
pub mod tree;
pub mod view;
mod width;

use std::io;
use std::path::{Path, PathBuf};

use hotloop_flow::verdict::Label;
use hotloop_flow::{MachineFacts, Measured, count};
use serde::Serialize;

use crate::best_of::{self, BestOf};
use crate::config::{Config, Layered};
use crate::event::When;
use crate::probe::{self, ProbeSummary};
use crate::review::Agreement;
use crate::state::RunState;
use crate::store::{self, StoreError};

pub use feature::Features;
pub use points::{Point, Totals};
pub use practised::{Practised, Quarter};

/// Several runs, compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The runs, in the order asked for.
    pub runs: Vec<RunReport>,
    /// The pooled probes of runs that differ only in their seed, on machines of one class.
    pub pooled: Vec<Pooled>,
}

/// The pooled probes of one setting's seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pooled {
    /// The first run's name and the number of runs.
    pub name: String,
    /// The learning rate.
    pub rate: f64,
    /// The unit of speeds.
    pub unit: &'static str,
    /// Before the first step.
    pub before: Option<ProbeSummary>,
    /// After the last.
    pub after: Option<ProbeSummary>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// The directory's name, with more of the path where names collide.
    pub name: String,
    pub task: String,
    pub model: String,
    /// What was configured.
    pub config: Config,
    /// The machine that judged.
    pub machine: Option<MachineFacts>,
    /// The run's status.
    pub status: String,
    /// Whether it has ended.
    #[serde(skip)]
    pub is_over: bool,
    /// The unit of speeds.
    pub unit: &'static str,
    /// Speed of the task's seed.
    pub seed_speed: Option<f64>,
    /// Its curves.
    pub points: Vec<Point>,
    /// Its sums.
    pub totals: Totals,
    /// The probe before the first step.
    pub before: Option<ProbeSummary>,
    /// The probe after the last.
    pub after: Option<ProbeSummary>,
    /// The outcomes of practised tasks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub practised: Vec<Practised>,
    /// What k of its answers are worth.
    pub best_of: Vec<BestOf>,
    /// How far its reviewer agreed with the bench, if it had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<Agreement>,
    /// The fastest code.
    pub best: Option<BestCode>,
    /// The run's warnings, with their steps.
    pub warnings: Vec<(u64, String)>,
}

/// The fastest code of a run and where it came from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BestCode {
    pub hash: String,
    pub source: String,
    /// Its speed. If it was confirmed, this is the median of fresh timings.
    pub speed: f64,
    /// How many fresh timings the median covers; 0 if the speed is the step's own timing.
    pub confirmed: usize,
    /// Its fastest timing while the run went on, which is partly luck.
    pub seen: Option<f64>,
    /// The slowest and the fastest of the fresh timings.
    pub fresh: Option<(f64, f64)>,
    /// As a fraction of the machine's peak.
    pub peak_fraction: Option<f64>,
    /// The name of the task's baseline, if it has one.
    pub baseline: Option<String>,
    /// How many times as fast as the baseline.
    pub baseline_ratio: Option<f64>,
    /// The step that found it.
    pub step: u64,
    /// Its structure.
    pub features: Features,
    /// The task's seed.
    pub seed: String,
    /// From the first child of the seed to itself.
    pub lineage: Vec<Ancestor>,
}

/// One candidate on the way to the best.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ancestor {
    pub hash: String,
    /// The step that made it.
    pub step: u64,
    /// What its prompt asked for.
    pub role: hotloop_flow::Role,
    /// At which stage.
    pub stage: Option<hotloop_flow::Stage>,
    /// Its verdict; `None` where the machine failed.
    pub label: Option<Label>,
    pub speed: Option<f64>,
    pub source: String,
}

impl BestCode {
    /// The source that the best code was made from.
    pub fn parent(&self) -> &str {
        let parents = self
            .lineage
            .len()
            .checked_sub(2)
            .and_then(|at| self.lineage.get(at));
        parents.map_or(&self.seed, |parent| &parent.source)
    }
}

impl Report {
    /// Reads run directories, finished or not.
    pub fn read(directories: &[PathBuf]) -> Result<Self, StoreError> {
        Ok(Self::with_states(directories)?.0)
    }

    /// The same, with the states behind the report.
    fn with_states(directories: &[PathBuf]) -> Result<(Self, Vec<RunState>), StoreError> {
        let mut runs = Vec::new();
        let mut states = Vec::new();
        for (directory, name) in directories.iter().zip(names::apart(directories)) {
            let state = RunState::read(directory)?;
            runs.push(RunReport::of(directory, name, &state)?);
            states.push(state);
        }
        let pooled = families(&runs)
            .into_iter()
            .filter(|family| family.len() > 1)
            .map(|family| {
                let states: Vec<&RunState> = family.iter().map(|at| &states[*at]).collect();
                let first = &runs[family[0]];
                Pooled {
                    name: format!("{} ({} seeds)", first.name, family.len()),
                    rate: first.config.learning.rate,
                    unit: first.unit,
                    before: probe::pooled(&states, When::Before),
                    after: probe::pooled(&states, When::After),
                }
            });
        let pooled = pooled.collect();
        Ok((Self { runs, pooled }, states))
    }

    /// The practised tasks of each run, by the runs' names.
    fn practised(&self) -> impl Iterator<Item = (&str, &[Practised])> {
        self.runs
            .iter()
            .map(|run| (run.name.as_str(), run.practised.as_slice()))
    }
}

impl RunReport {
    /// What the seeds of one setting have in common: the configuration without the seed, the
    /// machine class, without which timings cannot be compared, and the steps. A run may have taken
    /// more steps than its configuration says. If something else ends it, the number of steps is
    /// chance and does not count.
    fn setting(&self) -> (Config, Option<&str>, Option<u64>) {
        let config = Config {
            seed: 0,
            directory: String::new(),
            ..self.config.clone()
        };
        let class = self.machine.as_ref().map(|machine| machine.class.as_str());
        let finished = self.totals.steps as u64;
        let steps = if self.is_over {
            finished
        } else {
            finished.max(config.budget.steps)
        };
        let counts = config.budget.seconds <= 0.0 && config.budget.iterations == 0;
        (config, class, counts.then_some(steps))
    }

    /// The report on one run.
    pub fn of(directory: &Path, name: String, state: &RunState) -> Result<Self, StoreError> {
        let text = store::config(directory)?;
        let layered = Layered::read(Some(("run.toml", &text)), &[]).map_err(|mistakes| {
            let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
            io::Error::new(io::ErrorKind::InvalidData, lines.join("; "))
        })?;
        let config = layered.config;
        let task = config.tasks().next().unwrap_or_default().to_owned();
        let pace = state.pace();
        let mut points = points::points(state);
        if config.learning.beta <= 0.0 {
            // Older journals say 0 where nothing was measured.
            for point in &mut points {
                point.kl = None;
            }
        }
        Ok(Self {
            name,
            task,
            model: config.model.clone(),
            machine: state
                .started
                .as_ref()
                .map(|started| started.machine.clone()),
            status: status(state),
            is_over: state.ended.is_some(),
            unit: pace.unit(),
            seed_speed: state.seed_speed(),
            totals: points::totals(&points, state),
            before: probe::summary(state, When::Before),
            after: probe::summary(state, When::After),
            practised: practised::of(state),
            best_of: best_of::of_run(state),
            reviewer: reviewer::of(state),
            best: best(state, directory)?,
            warnings: state
                .steps
                .iter()
                .flat_map(|step| {
                    step.warnings
                        .iter()
                        .map(|warning| (step.number, warning.clone()))
                })
                .collect(),
            points,
            config,
        })
    }
}

/// The indices of runs that differ only in their seed, ordered by their first run. A run that is
/// listed twice is not a second seed.
fn families(runs: &[RunReport]) -> Vec<Vec<usize>> {
    let kin = |family: &[usize], run: &RunReport| {
        runs[family[0]].setting() == run.setting()
            && family
                .iter()
                .all(|at| runs[*at].config.seed != run.config.seed)
    };
    let mut families: Vec<Vec<usize>> = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        match families.iter_mut().find(|family| kin(family, run)) {
            Some(family) => family.push(at),
            None => families.push(vec![at]),
        }
    }
    families
}

fn status(state: &RunState) -> String {
    match (&state.ended, &state.paused) {
        (Some(why), _) => why.clone(),
        (None, Some(why)) => format!("paused: {}", why.lines().next().unwrap_or("")),
        (None, None) => format!("{} so far", count(state.finished() as usize, "step")),
    }
}

fn best(state: &RunState, directory: &Path) -> Result<Option<BestCode>, StoreError> {
    let Some(best) = &state.best else {
        return Ok(None);
    };
    let mut lineage = Vec::new();
    for (step, group, member) in state.lineage(&best.hash) {
        let hash = member.hash.clone().unwrap_or_default();
        lineage.push(Ancestor {
            source: store::source(directory, &hash)?,
            hash,
            step: step.number,
            role: group.asked.role,
            stage: group.asked.stage,
            label: member.verdict.as_ref().map(hotloop_flow::Verdict::label),
            speed: member.speed,
        });
    }
    let source = store::source(directory, &best.hash)?;
    let timed = state.steps.iter().flat_map(crate::state::Step::members);
    let seen = timed
        .filter(|member| member.hash.as_ref() == Some(&best.hash))
        .filter_map(|member| member.speed)
        .reduce(f64::max);
    let fresh = state.confirmed.get(&best.hash).into_iter().flatten();
    let fresh: Vec<f64> = fresh
        .filter_map(|judgement| judgement.verdict.correct()?.speed(state.pace()))
        .collect();
    let bound = |of: fn(f64, f64) -> f64| fresh.iter().copied().reduce(of);
    let measured = best.verdict.measured();
    Ok(Some(BestCode {
        features: Features::of(&source),
        source,
        hash: best.hash.clone(),
        speed: best.speed,
        confirmed: best.timings,
        seen,
        fresh: bound(f64::min).zip(bound(f64::max)),
        peak_fraction: measured.and_then(Measured::peak_fraction),
        baseline: measured
            .and_then(|measured| measured.baseline.as_ref())
            .map(|baseline| baseline.name.clone()),
        baseline_ratio: measured.and_then(Measured::baseline_ratio),
        step: best.step,
        seed: store::seed(directory)?,
        lineage,
    }))
}
