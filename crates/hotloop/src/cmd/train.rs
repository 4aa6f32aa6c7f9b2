//! `hotloop train`: turns a run file into a trained policy and a report.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use hotloop_flow::{ErrorKind, Policy};
use hotloop_run::config::OVERRIDE;
use hotloop_run::{
    Config, Ended, Event, Interrupt, Layered, Mistake, Parts, Plan, RunState, Store,
};

use crate::cli::learn::TrainArgs;
use crate::cmd::judge::load;
use crate::cmd::{report, watch};
use crate::failure::{Failure, Status, policy_hint};
use crate::output::{complain, folded, say};
use crate::progress::Progress;
use crate::stop::Stop;
use crate::{nano, runs};

/// Trains as the run file says.
pub(crate) fn run(arguments: &TrainArgs) -> Result<Status, Failure> {
    if arguments.defaults {
        say(hotloop_run::config::DEFAULT.trim_end());
        return Ok(Status::Fine);
    }
    let plan = match (&arguments.resume, &arguments.file) {
        (Some(directory), _) => begun(directory, &arguments.set)?,
        (None, Some(file)) => from_file(file, &arguments.set)?,
        (None, None) => {
            return Err(Failure::user("no run file is named").hint("hotloop train RUN.toml"));
        }
    };
    tell_if_over(&plan)?;
    let stop = Stop::listen()?;
    let _page = watch::beside(&arguments.beside, vec![plan.directory.clone()])?;
    drive(&plan, &stop)
}

/// Refuses changes to a run that is over, because it does not continue.
fn tell_if_over(plan: &Plan) -> Result<(), Failure> {
    let Some(why) = RunState::read(&plan.directory)
        .ok()
        .and_then(|state| state.ended)
    else {
        return Ok(());
    };
    let Ok(changes) = plan.changes() else {
        return Ok(());
    };
    let over = format!("{} is over ({why})", plan.directory.display());
    let anew = "start a new run in another directory; `adapter`, or `model` without LoRA, can name this run's checkpoint";
    if !changes.of_the_run.is_empty() {
        let keys = changes.of_the_run.join(", ");
        return Err(
            Failure::user(format!("{over}, and started with other values of {keys}")).hint(anew),
        );
    }
    if !changes.of_the_budget.is_empty() {
        complain(&format!(
            "{over}: another {} changes nothing; {anew}",
            changes.of_the_budget.join(", ")
        ));
    }
    Ok(())
}

fn from_file(file: &Path, sets: &[String]) -> Result<Plan, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failure::user(format!("{}: {error}", file.display()))
            .hint("a run file must name a model, such as `model = \"smollm2.gguf\"`; `--defaults` prints all keys")
    })?;
    let name = file.display().to_string();
    let stem = file.file_stem().map_or_else(
        || "run".to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    );
    plan(&stem, sets, |sets| {
        Layered::read(Some((&name, &text)), sets)
    })
}

/// The plan of a new run, with the defaults that fit its model. `read` applies overrides to its
/// file.
pub(crate) fn plan(
    name: &str,
    sets: &[String],
    read: impl Fn(&[String]) -> Result<Layered, Vec<Mistake>>,
) -> Result<Plan, Failure> {
    let layered = read(sets).map_err(|all| mistakes(&all))?;
    let mut fitted = runs::fitted(&layered);
    fitted.extend_from_slice(sets);
    let layered = read(&fitted).map_err(|all| mistakes(&all))?;
    if let Some(failure) = runs::missing_model(&layered.config) {
        let mistake = layered.mistake("model", failure.what());
        return Err(failure.about(line(&mistake)));
    }
    let plan = Plan::new(&layered, name, &task).map_err(|all| mistakes(&all))?;
    if nano::speaks(&plan.config.model)
        && let Err(failure) = plan.tasks().try_for_each(|(_, task)| nano::check(task))
    {
        let mistake = layered.mistake("task", failure.what());
        return Err(failure.about(line(&mistake)));
    }
    Ok(plan)
}

fn task(name: &str) -> Result<hotloop_flow::Task, String> {
    load(name).map_err(|failure| failure.what().to_owned())
}

/// The plan of a run that has started, with some overrides.
pub(crate) fn begun(directory: &Path, sets: &[String]) -> Result<Plan, Failure> {
    hotloop_run::store::config(directory).map_err(|error| report::unreadable(&error))?;
    Plan::resume(directory, sets, &task).map_err(|all| mistakes(&all))
}

/// A mistake in one line. An override comes from the flag of this program.
fn line(mistake: &Mistake) -> String {
    let mut mistake = mistake.clone();
    if mistake.file == OVERRIDE {
        "--set".clone_into(&mut mistake.file);
    }
    mistake.to_string()
}

/// All mistakes, one per line.
pub(crate) fn mistakes(all: &[Mistake]) -> Failure {
    let lines: Vec<String> = all.iter().map(line).collect();
    let hint = match all {
        [one] if one.key == "directory" => "name a directory that can be written",
        [one] if one.key == "task" => {
            "`hotloop task list` names the shipped tasks; a folder is named by its path"
        }
        _ => "`hotloop train --defaults` prints every key with a comment",
    };
    Failure::user(lines.join("\nhotloop: ")).hint(hint)
}

/// Drives a run to its end or its next pause, and writes its report.
pub(crate) fn drive(plan: &Plan, stop: &Stop) -> Result<Status, Failure> {
    let progress = Progress::spinner("loading the model", true);
    let mut policy = runs::policy(&plan.config, stop)?;
    let mut reviewer = runs::reviewer(&plan.config, stop)?;
    progress.message("preparing the machine");
    let mut bench = runs::bench(plan)?;
    drop(progress);
    let (mut store, lines) = Store::open(&plan.directory)
        .map_err(|error| Failure::user(error.to_string()).hint(error.hint()))?;
    let facts = bench.facts();
    let render = runs::render(&plan.config, plan.wording.clone(), &facts);
    say(&head(plan, policy.as_ref(), &facts, &RunState::of(&lines)));
    for note in plan.notes() {
        complain(&note);
    }
    let progress = Progress::spinner("starting", true);
    let told = tell_of_stop(stop, plan.directory.clone(), progress.complainer());
    let mut observer =
        |event: &Event, state: &RunState| tell(event, state, &plan.config, &progress);
    let clock = || {
        SystemTime::UNIX_EPOCH
            .elapsed()
            .unwrap_or_default()
            .as_secs_f64()
    };
    let began = Instant::now();
    let stopwatch = || began.elapsed().as_secs_f64();
    let parts = Parts {
        policy: policy.as_mut(),
        reviewer: reviewer
            .as_mut()
            .map(|reviewer| &mut **reviewer as &mut dyn Policy),
        bench: bench.as_mut(),
        render: render.as_ref(),
        observer: &mut observer,
        clock: &clock,
        stopwatch: &stopwatch,
        stop: stop.flag(),
    };
    let (ended, _) = hotloop_run::drive(plan, parts, &mut store, &lines);
    drop((progress, told));
    // Drops the bench first, so that its jobs do not run at the same time as what follows.
    drop((bench, store));
    let page = report::write(std::slice::from_ref(&plan.directory), &plan.directory);
    finish(plan, ended, page)
}

/// How the run ended, for people and for the exit status.
fn finish(plan: &Plan, ended: Ended, page: Result<PathBuf, Failure>) -> Result<Status, Failure> {
    let on = format!(
        "`hotloop train --resume {}` continues it",
        plan.directory.display()
    );
    match ended {
        Ended::Done(why) => {
            say(&format!("done: {why}\nreport: {}", page?.display()));
            Ok(Status::Fine)
        }
        Ended::Paused(interrupt) => {
            if let Ok(page) = page {
                say(&format!("report so far: {}", page.display()));
            }
            if matches!(interrupt, Interrupt::Stopped) {
                say(&format!("paused: {on}"));
                return Ok(Status::Interrupted);
            }
            Err(paused(&interrupt, on))
        }
    }
}

/// The failure of a run that cannot continue. If the machine interrupted it, `on` says how to
/// continue it later.
fn paused(interrupt: &Interrupt, on: String) -> Failure {
    let hint = match interrupt {
        Interrupt::Policy(error) => policy_hint(error)
            .map(str::to_owned)
            .or_else(|| interrupt.hint()),
        _ => interrupt.hint(),
    };
    let failure = match interrupt.kind() {
        ErrorKind::User => Failure::user(interrupt.to_string()).hint(hint.unwrap_or(on)),
        ErrorKind::Machine => Failure::machine(format!("paused: {interrupt}"))
            .hint(hint.map_or_else(|| on.clone(), |hint| format!("{hint}; then {on}"))),
    };
    failure.remedies(interrupt.remedies())
}

/// Prints what is about to happen.
fn head(
    plan: &Plan,
    policy: &dyn Policy,
    machine: &hotloop_flow::MachineFacts,
    state: &RunState,
) -> String {
    let config = &plan.config;
    let how = match (plan.learns(), runs::rank(config)) {
        (false, _) => "searches without learning".to_owned(),
        (true, 0) => format!("trains all parameters at {:e}", config.learning.rate),
        (true, rank) => format!("trains LoRA of rank {rank} at {:e}", config.learning.rate),
    };
    let from = match state.finished() {
        0 => String::new(),
        steps => format!(", continuing after step {steps}"),
    };
    let mut tasks = config.tasks();
    let task = tasks.next().unwrap_or_default();
    let practised: Vec<&str> = tasks.collect();
    let beside = if practised.is_empty() {
        String::new()
    } else {
        format!(", practising {}", practised.join(", "))
    };
    format!(
        "{}: {} {how} on {task}{beside} ({}, {} -{}){from}",
        plan.directory.display(),
        policy.capabilities().model,
        machine.device.name(),
        config.bench.how.compiler,
        config.bench.how.opt
    )
}

/// Prints one line per step, and a note on everything that takes long.
fn tell(event: &Event, state: &RunState, config: &Config, progress: &Progress) {
    let line = |text: &str| {
        progress.aside(|| say(text));
    };
    match event {
        Event::RunStarted(_) | Event::RunResumed { .. } => progress.message("judging the seed"),
        Event::SeedJudged { task, judgement } => {
            let measured = judgement.verdict.correct();
            let speed = measured.map_or("-".to_owned(), |measured| match measured.gflops() {
                Some(gflops) => format!("{} GFLOPS", crate::output::number(gflops)),
                None => format!("{} a call", crate::output::seconds(measured.seconds)),
            });
            let whose = task
                .as_ref()
                .map(|task| format!(" of {task}, practised"))
                .unwrap_or_default();
            line(&format!("seed{whose}: {speed}"));
            progress.message(if config.stepping.probe > 0 {
                "probing"
            } else {
                "sampling"
            });
        }
        Event::ProbeJudged(probe) => {
            progress.message(format!("probing, stage {} done", probe.stage.number()));
        }
        Event::ParentsChosen { .. } => progress.message("sampling"),
        Event::StepSampled(sampled) => {
            progress.message(format!("judging step {}", sampled.step + 1));
        }
        Event::StepFinished(finished) => {
            if let Some(text) = hotloop_run::report::text::step_line(state) {
                line(&folded(&text));
            }
            for warning in &finished.warnings {
                progress.aside(|| complain(&format!("step {}: {warning}", finished.step + 1)));
            }
            progress.message(format!("sampling step {}", finished.step + 2));
        }
        Event::CandidateMasked { why, .. } => {
            progress.aside(|| complain(&format!("masked: {why}")));
            progress.message(hotloop_run::report::view::now(state));
        }
        Event::CandidateReviewed(reviewed) => {
            progress.message("reviewing");
            if let Some(why) = &reviewed.why {
                progress.aside(|| complain(&format!("no opinion of the reviewer: {why}")));
            }
        }
        Event::CandidateConfirmed { .. } => progress.message("timing the fastest again"),
        Event::CandidateJudged { .. } => {
            progress.message(hotloop_run::report::view::now(state));
        }
        Event::CheckpointSaved { .. }
        | Event::ParentProfiled { .. }
        | Event::RunPaused { .. }
        | Event::RunEnded { .. } => {}
    }
}

/// Reports a received signal once, because stopping may take a while.
fn tell_of_stop(
    stop: &Stop,
    directory: PathBuf,
    complain: impl Fn(&str) + Send + 'static,
) -> Listening {
    let (done, ended) = std::sync::mpsc::channel::<()>();
    let stop = stop.clone();
    std::thread::spawn(move || {
        while let Err(std::sync::mpsc::RecvTimeoutError::Timeout) =
            ended.recv_timeout(Duration::from_millis(100))
        {
            if stop.asked() {
                let directory = directory.display();
                complain(&format!(
                    "stopping when the current work is done; press Ctrl-C again to stop at once ({directory} is safe)"
                ));
                return;
            }
        }
    });
    Listening(done)
}

/// Ends the listening thread when dropped.
struct Listening(
    #[expect(dead_code, reason = "dropping it is the message")] std::sync::mpsc::Sender<()>,
);
