//! `hotloop judge`: candidates in, verdicts out.

mod items;
mod judged;
mod report;
mod worth;

use hotloop_bench::Settings;
use hotloop_flow::bench::Seconds;
use hotloop_flow::how::{Check, Estimator};
use hotloop_flow::{
    BenchError, How, Job, JobId, Judgement, Language, MachineFacts, Reward, Verdict,
};

use crate::cli::{HowArgs, JudgeArgs, LayerName, Threads};
use crate::failure::{Failure, Status};
use crate::fleets;
use crate::judging::Judging;
use crate::output;
use crate::output::json::{About, Line};
use crate::progress::Progress;
use crate::stop::Stop;
use items::Item;
pub(crate) use items::{load, stage};
use judged::Judged;
use worth::Worth;

pub(crate) fn run(arguments: &JudgeArgs) -> Result<Status, Failure> {
    let items = items::gather(arguments)?;
    let stage = arguments.stage.as_deref();
    for item in &items {
        item.stage(stage)?;
    }
    let settings = Settings {
        languages: crate::settings::languages(items.iter().map(|item| item.task.as_ref())),
        ..settings(&arguments.how, arguments.fleet.is_some())?
    };
    let stop = Stop::listen()?;
    let total = items.len() * arguments.repeat as usize;
    let progress = Progress::spinner("preparing the machine", !arguments.json);
    let mut judging = match &arguments.fleet {
        None => Judging::start(settings.clone(), stop.clone())?,
        Some(fleet) => Judging::over(
            over_fleet(fleet, arguments, &settings, &items)?,
            stop.clone(),
        ),
    };
    let worth = Worth::prepare(arguments.reward, &items, &mut judging, &progress)?;
    drop(progress);
    let progress = Progress::bar(total, !arguments.json);
    let facts: Vec<(Language, MachineFacts)> = settings
        .languages
        .iter()
        .map(|language| (*language, judging.facts_of(*language)))
        .collect();
    let print = |judged: &Judged<'_>| {
        let item = judged.item;
        let language = item.task.spec.language;
        let mut machines = facts.iter().filter(|(other, _)| *other == language);
        let about = About {
            file: &item.file,
            task: &item.task.spec.name,
            language,
            notes: item.notes(),
            carried: &item.carried,
            round: judged.round,
            machine: machines.next().map_or(&facts[0].1, |(_, machine)| machine),
        };
        if !output::say_json(&Line::new(&about, &judged.reply, judged.reward)) {
            // The reader has closed the pipe, as in `| head`.
            stop.ask();
        }
    };
    // A group's rewards are known only when all of its verdicts are.
    let at_once = arguments.json && arguments.reward != Reward::LadderGroup;
    let mut all: Vec<Judged<'_>> = Vec::new();
    for round in 1..=arguments.repeat {
        let number = (arguments.repeat > 1).then_some(round);
        let plan = Round {
            items: &items,
            stage,
            number,
            worth: &worth,
        };
        let mut came = plan.judge(&mut judging, &progress, |judged| {
            if at_once {
                print(judged);
            }
        })?;
        // Restores the order of the input.
        came.sort_by_key(|(index, _)| *index);
        all.extend(came.into_iter().map(|(_, judged)| judged));
    }
    drop(progress);
    if arguments.reward == Reward::LadderGroup {
        worth.share_out(&mut all)?;
    }
    let stopped = judging.stopped();
    // Drops the bench first, so that its jobs do not run at the same time as what follows.
    drop(judging);
    if !arguments.json {
        report::print(arguments, &settings, &facts, &items, &all, stopped);
    } else if !at_once {
        all.iter().for_each(print);
    }
    let failed = all.iter().any(|judged| judged.reply.is_err());
    Ok(match (stopped, failed) {
        (true, _) => Status::Interrupted,
        (false, true) => Status::MachineFailed,
        (false, false) => Status::Fine,
    })
}

/// Every item, judged once.
struct Round<'a, 'w> {
    items: &'a [Item],
    stage: Option<&'w str>,
    number: Option<u32>,
    worth: &'w Worth,
}

impl<'a> Round<'a, '_> {
    /// Judges all items. Malformed ones get their verdict without the bench.
    fn judge(
        &self,
        judging: &mut Judging,
        progress: &Progress,
        mut each: impl FnMut(&Judged<'a>),
    ) -> Result<Vec<(usize, Judged<'a>)>, Failure> {
        let items = self.items;
        let mut came: Vec<(usize, Judged<'a>)> = Vec::new();
        let mut problem = None;
        let mut take = |index: usize, reply: Result<Judgement, BenchError>| {
            let item = &items[index];
            let reward = self
                .worth
                .of(item, reply.as_ref().ok())
                .unwrap_or_else(|failure| {
                    problem.get_or_insert(failure);
                    None
                });
            let judged = Judged {
                item,
                round: self.number,
                reply,
                reward,
            };
            each(&judged);
            came.push((index, judged));
        };
        let mut jobs = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match &item.candidate {
                Ok(candidate) => jobs.push(Job {
                    id: JobId(index as u64),
                    task: item.task.clone(),
                    candidate: candidate.clone(),
                    stage: item.stage(self.stage)?,
                }),
                Err(malformed) => {
                    let verdict = Verdict::Malformed {
                        why: malformed.why.clone(),
                    };
                    progress.judged(Some(verdict.label()));
                    take(
                        index,
                        Ok(Judgement {
                            verdict,
                            seconds: Seconds::default(),
                        }),
                    );
                }
            }
        }
        if !judging.stopped() {
            judging.judge(jobs, progress, |id, reply| take(id.0 as usize, reply))?;
        }
        problem.map_or(Ok(came), Err)
    }
}

/// Opens the fleet that judges. If the same command is repeated, it attaches to the jobs in
/// progress, unless the user asks for fresh judgements.
fn over_fleet(
    fleet: &str,
    arguments: &JudgeArgs,
    settings: &Settings,
    items: &[Item],
) -> Result<Box<dyn hotloop_flow::Bench>, Failure> {
    let hashes = items
        .iter()
        .filter_map(|item| item.candidate.as_ref().ok())
        .map(hotloop_flow::Candidate::hash);
    let what = if arguments.how.fresh {
        fleets::unique()
    } else {
        hashes.collect::<Vec<_>>().join(" ")
    };
    // One worker judges files that are compared with each other. All workers judge the others.
    let together = arguments.reward == Reward::LadderGroup || arguments.repeat > 1;
    fleets::open(
        fleet,
        settings.clone(),
        &format!("judge {} {what}", arguments.task),
        !together,
    )
}

/// The bench's settings from the flags. A fleet uses its own cores.
pub(crate) fn settings(how: &HowArgs, is_fleet: bool) -> Result<Settings, Failure> {
    let cores = hotloop_bench::survey::physical_cores() as u32;
    let (timing, check) = if how.paper {
        (Estimator::Paper, Check::Paper)
    } else {
        (Estimator::Gated, Check::Strict)
    };
    let mut settings = crate::settings::own()?.with(How {
        compiler: how.compiler,
        opt: how.opt,
        threads: match how.threads {
            Threads::All => cores,
            Threads::Number(threads) => threads,
        },
        timing,
        check: how.check.unwrap_or(check),
    });
    let threads = settings.how.threads;
    settings.compiler_path = how.cc.as_deref().map(command).transpose()?;
    settings.slots = how.slots;
    if is_fleet && matches!(how.threads, Threads::All) {
        return Err(Failure::user("--threads all: machines of a fleet differ")
            .hint("give a number of threads"));
    }
    if !is_fleet && settings.slots.saturating_mul(threads) > cores {
        let threads = output::count(threads as usize, "thread");
        let asked = if settings.slots > 1 {
            format!("{} slots of {threads}", settings.slots)
        } else {
            threads
        };
        let cores = output::count(cores as usize, "physical core");
        return Err(Failure::user(format!(
            "{asked} need more than the {cores} that this process may use"
        ))
        .hint("use fewer --threads or --slots; `--threads all` uses all cores"));
    }
    settings.jobs = how.jobs.unwrap_or(settings.jobs);
    settings.runs = how.runs.unwrap_or(settings.runs);
    settings.limit_s = how.limit.unwrap_or(settings.limit_s);
    settings.reuse = !how.fresh;
    let layers = how.without.iter().map(|layer| match layer {
        LayerName::Landlock => hotloop_bench::sandbox::Layer::Landlock,
        LayerName::Namespaces => hotloop_bench::sandbox::Layer::Namespaces,
        LayerName::Watch => hotloop_bench::sandbox::Layer::Watch,
    });
    settings.without = layers.collect();
    Ok(settings)
}

/// The absolute path of the compiler that the user named.
fn command(path: &std::path::Path) -> Result<std::path::PathBuf, Failure> {
    let found = if path.components().count() > 1 {
        Some(path.to_owned())
    } else {
        search(path)
    };
    found
        .filter(|path| path.is_file())
        .and_then(|path| {
            path.canonicalize()
                .ok()
                .map(|_| std::path::absolute(&path).unwrap_or(path))
        })
        .ok_or_else(|| Failure::user(format!("--cc {}: there is no such program", path.display())))
}

fn search(name: &std::path::Path) -> Option<std::path::PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}
