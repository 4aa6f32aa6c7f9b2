//! What a page shows of a run, live or frozen. The numbers are those of the report.

use std::path::Path;

use serde::Serialize;

use super::curves::Curves;
use super::detail::{self, Detail};
use super::listing::{self, Listing, Order, Wanted};
use super::reviewer::Opinions;
use super::tree::{self, Tree};
use super::{BestCode, RunReport, practised, text};
use crate::config::Config;
use crate::probe::ProbeSummary;
use crate::state::RunState;
use crate::store::{self, StoreError};

/// Steps that must have finished before the time left is estimated, and steps behind the estimate.
const KNOWN: usize = 3;
const RECENT: usize = 10;
/// Candidates that a frozen page lists, and those of them that it shows with their code.
const LISTED: usize = 300;
const SHOWN: usize = 40;

/// What a run does now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Doing {
    /// Its journal is being read.
    Reading,
    Running,
    /// It waits until somebody resumes it.
    Paused,
    /// It neither ended nor paused, and no process has it.
    Killed,
    Over,
    /// Its journal cannot be read.
    Unreadable,
}

/// A run in a line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Head {
    pub name: String,
    pub task: String,
    pub model: String,
    pub doing: Doing,
    /// What it does, in words.
    pub status: String,
    pub steps: u64,
    /// The budget's steps and seconds; 0 is no limit.
    pub of_steps: u64,
    pub seconds: f64,
    pub of_seconds: f64,
    /// Seconds left. Absent until it is known.
    pub left_s: Option<f64>,
    pub answers: usize,
    pub unit: &'static str,
    pub seed_speed: Option<f64>,
    pub best: Option<f64>,
    pub rate: f64,
    pub seed: u64,
    /// Equal for runs that differ only in learning rate, seed and place.
    pub setting: String,
    /// What the run warned of, and that its timings were disturbed.
    pub warnings: usize,
    /// When it began and when it last did something, in seconds since 1970.
    pub began_s: f64,
    pub last_s: f64,
}

impl Head {
    /// A run whose journal is not read yet, or cannot be read.
    pub fn blank(name: &str, doing: Doing, status: String) -> Self {
        Self {
            name: name.to_owned(),
            task: String::new(),
            model: String::new(),
            doing,
            status,
            steps: 0,
            of_steps: 0,
            seconds: 0.0,
            of_seconds: 0.0,
            left_s: None,
            answers: 0,
            unit: "",
            seed_speed: None,
            best: None,
            rate: 0.0,
            seed: 0,
            setting: String::new(),
            warnings: 0,
            began_s: 0.0,
            last_s: 0.0,
        }
    }

    /// `held` says whether a process has the run; `last_s` is when its last event happened.
    pub fn of(
        name: &str,
        state: &RunState,
        config: &Config,
        held: Option<bool>,
        last_s: f64,
    ) -> Self {
        let doing = match (&state.ended, &state.paused) {
            (Some(_), _) => Doing::Over,
            (None, Some(_)) => Doing::Paused,
            (None, None) if held == Some(false) => Doing::Killed,
            (None, None) => Doing::Running,
        };
        let status = match doing {
            Doing::Running => now(state),
            Doing::Killed => format!("killed while {}; it can be resumed", now(state)),
            _ => super::status(state),
        };
        let budget = &config.budget;
        let seconds = state.stepping_s();
        Self {
            name: name.to_owned(),
            task: config.tasks().next().unwrap_or_default().to_owned(),
            model: config.model.clone(),
            doing,
            status,
            steps: state.finished(),
            of_steps: budget.steps,
            seconds,
            of_seconds: budget.seconds,
            left_s: (doing == Doing::Running)
                .then(|| left_s(state, config))
                .flatten(),
            answers: state.steps.iter().map(|step| step.members().count()).sum(),
            unit: state.pace().unit(),
            seed_speed: state.seed_speed(),
            best: state.best.as_ref().map(|best| best.speed),
            rate: config.learning.rate,
            seed: config.seed,
            setting: setting(config, state),
            warnings: state
                .steps
                .iter()
                .map(|step| step.warnings.len())
                .chain(disturbed(state).map(|_| 1))
                .sum(),
            began_s: state.started_s,
            last_s,
        }
    }
}

/// What a run that is neither over nor paused does.
pub fn now(state: &RunState) -> String {
    let Some((number, open)) = state.open.last_key_value() else {
        return match (&state.seed, state.steps.len()) {
            (None, _) => "judging the seed".to_owned(),
            (Some(_), 0) if state.iterations.is_empty() => "probing".to_owned(),
            (Some(_), steps) => format!("sampling step {}", steps + 1),
        };
    };
    let groups = &open.sampled.groups;
    let all: usize = groups.iter().map(|group| group.answers.len()).sum();
    format!(
        "judging step {}, {} of {all} candidates",
        number + 1,
        open.judged.len()
    )
}

/// The time left by the budget, where some steps have shown how long a step takes.
fn left_s(state: &RunState, config: &Config) -> Option<f64> {
    let steps = &state.steps[state.steps.len().saturating_sub(RECENT)..];
    if steps.len() < KNOWN || config.budget.iterations > 0 {
        return None;
    }
    let each = steps.iter().map(|step| step.seconds.wall).sum::<f64>() / steps.len() as f64;
    let by_steps = (config.budget.steps > 0)
        .then(|| config.budget.steps.saturating_sub(state.finished()) as f64 * each);
    let by_seconds = (config.budget.seconds > 0.0)
        .then(|| (config.budget.seconds - state.stepping_s()).max(0.0));
    by_steps.into_iter().chain(by_seconds).reduce(f64::min)
}

fn setting(config: &Config, state: &RunState) -> String {
    let mut plain = config.clone();
    plain.learning.rate = 0.0;
    plain.seed = 0;
    plain.directory = String::new();
    let class = state.started.as_ref().map(|started| &started.machine.class);
    let text = format!("{class:?} {}", plain.to_toml());
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}

/// Everything about a run but the list of its candidates.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct View {
    pub head: Head,
    pub version: &'static str,
    /// The command that does it again, and the run file that the command names.
    pub command: String,
    pub config: String,
    pub facts: Vec<(&'static str, String)>,
    pub machine: Vec<(&'static str, String)>,
    pub curves: Curves,
    pub before: Option<ProbeSummary>,
    pub after: Option<ProbeSummary>,
    pub practised_head: Vec<&'static str>,
    pub practised: Vec<Vec<String>>,
    /// What its reviewer thought, if it had one.
    pub reviewer: Option<Opinions>,
    pub best: Option<Best>,
    pub warnings: Vec<(u64, String)>,
    /// The share of timings that other processes disturbed, where it is worth a warning.
    pub disturbed: Option<f64>,
    pub tree: Tree,
}

/// The best code with its history.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Best {
    #[serde(flatten)]
    pub code: BestCode,
    pub features: String,
    pub detail: Option<Detail>,
    pub from_seed: Vec<detail::Line>,
}

impl View {
    /// What a page shows of a run.
    pub fn of(
        run: &RunReport,
        head: Head,
        state: &RunState,
        directory: &Path,
    ) -> Result<Self, StoreError> {
        let best = run.best.as_ref().map(|best| seen(best, state, directory));
        let rows = practised::rows(std::iter::once((
            run.name.as_str(),
            run.practised.as_slice(),
        )));
        Ok(Self {
            version: env!("CARGO_PKG_VERSION"),
            command: "hotloop train run.toml".to_owned(),
            config: store::config(directory)?,
            facts: text::facts(run),
            machine: run
                .machine
                .as_ref()
                .map(|machine| machine_facts(machine, &run.config))
                .unwrap_or_default(),
            curves: Curves::of(&run.points),
            before: run.before,
            after: run.after,
            practised_head: practised::HEAD[1..].to_vec(),
            practised: rows.into_iter().map(|row| row[1..].to_vec()).collect(),
            reviewer: run.reviewer.as_ref().map(|agreement| {
                let reviewer = run.config.reward.reviewer.as_ref();
                Opinions::of(agreement, reviewer.map(|reviewer| reviewer.model.as_str()))
            }),
            best: best.transpose()?,
            warnings: run.warnings.clone(),
            disturbed: disturbed(state),
            tree: tree::of(state),
            head,
        })
    }
}

fn seen(best: &BestCode, state: &RunState, directory: &Path) -> Result<Best, StoreError> {
    let detail = match detail::birth(state, &best.hash) {
        Some(at) => detail::of(state, directory, at)?,
        None => None,
    };
    Ok(Best {
        features: best.features.told(),
        from_seed: detail::lines(&best.seed, &detail::cut(&best.source)),
        detail,
        code: best.clone(),
    })
}

fn machine_facts(
    machine: &hotloop_flow::MachineFacts,
    config: &Config,
) -> Vec<(&'static str, String)> {
    let mut facts = vec![("device", machine.device.name().to_owned())];
    if let hotloop_flow::Device::Cpu { simd, cores, .. } = &machine.device {
        facts.push(("vectors", simd.clone()));
        facts.push(("cores", cores.to_string()));
    }
    let libraries: Vec<String> = machine
        .libraries
        .iter()
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    facts.extend([
        (
            "compiler",
            format!("{}, {}", machine.compiler, config.bench.how.opt.flag()),
        ),
        (
            "libraries",
            if libraries.is_empty() {
                "none".to_owned()
            } else {
                libraries.join(", ")
            },
        ),
        ("kernel", machine.kernel.clone()),
        ("sandbox", machine.sandbox.join(", ")),
        ("slots", config.bench.slots.to_string()),
        ("machine class", machine.class.clone()),
    ]);
    facts
}

/// The share of timings that other processes disturbed, if it is more than a fifth.
fn disturbed(state: &RunState) -> Option<f64> {
    let members = state.steps.iter().flat_map(crate::state::Step::members);
    let timed = members.filter_map(|member| member.verdict.as_ref()?.measured());
    let (mut all, mut noisy) = (0u32, 0u32);
    for measured in timed {
        all += 1;
        noisy += u32::from(!measured.timing.quiet);
    }
    let share = f64::from(noisy) / f64::from(all.max(1));
    (share > 0.2).then_some(share)
}

/// A run as a frozen page holds it: with the fastest candidates, some of them with their code.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Frozen {
    pub view: View,
    pub listing: Listing,
    pub details: Vec<Detail>,
}

impl Frozen {
    pub(super) fn of(
        run: &RunReport,
        state: &RunState,
        directory: &Path,
    ) -> Result<Self, StoreError> {
        let last_s = state.steps.last().map_or(state.started_s, |step| step.at_s);
        let held = state
            .ended
            .is_none()
            .then(|| store::is_held(directory))
            .flatten();
        let line = Head::of(&run.name, state, &run.config, held, last_s);
        let view = View::of(run, line, state, directory)?;
        let wanted = Wanted {
            order: Order::Fastest,
            count: LISTED,
            ..Wanted::default()
        };
        let listing = listing::of(state, &wanted);
        let lineage = run.best.iter().flat_map(|best| &best.lineage);
        let lineage = lineage.filter_map(|ancestor| detail::birth(state, &ancestor.hash));
        let mut places: Vec<_> = lineage
            .chain(listing.rows.iter().map(listing::Row::place))
            .take(SHOWN)
            .collect();
        places.sort_unstable();
        places.dedup();
        let mut details = Vec::new();
        for at in places {
            details.extend(detail::of(state, directory, at)?);
        }
        Ok(Self {
            view,
            listing,
            details,
        })
    }
}
