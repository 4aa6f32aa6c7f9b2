//! `hotloop task`: lists, shows and checks tasks.

pub(crate) mod kernelbench;

use std::path::Path;

use hotloop_bench::{Settings, lint};
use hotloop_corpus::generated::{self, Family};
use hotloop_flow::formula::Sizes;
use hotloop_flow::{Rules, Task};
use serde_json::{Value, json};

use crate::cli::{TaskArgs, TaskCommand};
use crate::cmd::judge::load;
use crate::failure::{Failure, Status};
use crate::output::table::Table;
use crate::output::{count, number, say, say_json};
use crate::progress::Progress;
use crate::stop::Stop;

pub(crate) fn run(arguments: &TaskArgs) -> Result<Status, Failure> {
    match &arguments.command {
        TaskCommand::List(arguments) => match &arguments.kernelbench {
            Some(folder) => kernelbench::list(folder, arguments),
            None => list(arguments.json),
        },
        TaskCommand::Show { task } => show(task),
        TaskCommand::Check { task } => check(task),
        TaskCommand::Generate {
            out,
            count,
            seed,
            families,
            json,
        } => generate(out, *count, *seed, families, *json),
    }
}

fn sizes(sizes: &Sizes) -> String {
    let list: Vec<String> = sizes
        .iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    list.join(", ")
}

/// What `task list --json` prints of a task.
fn facts(task: &Task) -> Value {
    let (spec, function) = (&task.spec, task.function());
    let stages = spec.stages.iter().map(|rules| &rules.spec.name);
    json!({
        "task": spec.name,
        "summary": spec.summary,
        "language": spec.language,
        "signature": task.signature(),
        "timed": function.sizes.timed,
        "hidden": function.sizes.hidden,
        "stages": stages.collect::<Vec<_>>(),
        "hash": task.hash,
    })
}

/// Writes generated tasks, all or none.
fn generate(
    out: &Path,
    many: u32,
    seed: u64,
    families: &[Family],
    json: bool,
) -> Result<Status, Failure> {
    let unwritable = |error: std::io::Error| {
        Failure::user(error.to_string())
            .hint("name another folder with --out")
            .of_file(error.kind())
    };
    if out.exists() {
        let error = Failure::user(format!("{}: it exists already", out.display()));
        return Err(error.hint("name another folder with --out"));
    }
    let above = out.parent().filter(|above| !above.as_os_str().is_empty());
    let above = above.unwrap_or(Path::new("."));
    fs_err::create_dir_all(above).map_err(unwritable)?;
    let whole = tempfile::tempdir_in(above).map_err(unwritable)?;
    let tasks = generated::generate(seed, families, many as usize);
    for task in &tasks {
        let folder = whole.path().join(&task.name);
        fs_err::create_dir(&folder).map_err(unwritable)?;
        let files = &task.files;
        for (name, text) in [
            ("task.toml", &files.toml),
            ("prompt.md", &files.prompt),
            ("seed.c", &files.seed),
            ("reference.c", &files.reference),
        ] {
            fs_err::write(folder.join(name), text).map_err(unwritable)?;
        }
    }
    fs_err::rename(whole.keep(), out).map_err(unwritable)?;
    for task in tasks.iter().filter(|_| json) {
        say_json(&json!({
            "task": task.name,
            "family": task.family.name(),
            "operations": task.operations,
            "folder": out.join(&task.name),
        }));
    }
    if !json {
        let names: Vec<&str> = families.iter().map(|family| family.name()).collect();
        say(&format!(
            "{} of {}: {}",
            count(tasks.len(), "task"),
            names.join(", "),
            out.display()
        ));
    }
    Ok(Status::Fine)
}

fn list(json: bool) -> Result<Status, Failure> {
    if json {
        for name in hotloop_bench::tasks::shipped() {
            say(&facts(&load(name)?).to_string());
        }
        return Ok(Status::Fine);
    }
    let mut table = Table::new().left("task").left("summary");
    for name in hotloop_bench::tasks::shipped() {
        let task = load(name)?;
        let hidden = task.function().sizes.hidden.len();
        table.row([name, &task.spec.summary]);
        table.below(task.signature());
        let hidden = if hidden == 0 {
            String::new()
        } else {
            format!("; verified at {}", count(hidden, "hidden size"))
        };
        table.below(format!(
            "timed at {}{hidden}",
            sizes(&task.function().sizes.timed)
        ));
    }
    say(&table.render());
    Ok(Status::Fine)
}

fn stage(Rules { spec, .. }: Rules<'_>) -> String {
    let forbidden: Vec<&str> = spec.forbids.iter().map(|one| one.name()).collect();
    let forbids = match forbidden.as_slice() {
        [] => "forbids nothing".to_owned(),
        all => format!("forbids {}", all.join(", ")),
    };
    format!("{}: {forbids}", spec.name)
}

fn show(name: &str) -> Result<Status, Failure> {
    let task = load(name)?;
    let (spec, function) = (&task.spec, task.function());
    let timed = &function.sizes.timed;
    let work = task.work(timed);
    let mut table = Table::new().left("").left("");
    table.row(["task", &spec.name]);
    table.row(["summary", &spec.summary]);
    table.row(["signature", &task.signature()]);
    table.row(["timed at", &sizes(timed)]);
    for hidden in &function.sizes.hidden {
        table.row(["verified at", &sizes(hidden)]);
    }
    if !function.sizes.drawn.is_empty() {
        let of =
            |(name, (least, most)): (&String, &(i64, i64))| format!("{name} = {least} to {most}");
        let drawn: Vec<String> = function.sizes.drawn.iter().map(of).collect();
        table.row([
            "verified at",
            &format!("{}, drawn anew for every candidate", drawn.join(", ")),
        ]);
    }
    let bytes = work.bytes.unwrap_or(0.0);
    let moved = format!("{} MB", number(bytes / 1e6));
    let cost = match work.flops {
        Some(flops) => format!(
            "{} MFLOP, {moved}, {} FLOP per byte",
            number(flops / 1e6),
            number(flops / bytes)
        ),
        None => format!("{moved}, no operations counted"),
    };
    for rules in spec.stages.iter() {
        table.row([&rules.stage.to_string(), &stage(rules)]);
    }
    table.row(["cost", &cost]);
    let bound = task.bound(timed);
    let bound = if bound == 0.0 {
        "equal".to_owned()
    } else {
        format!("{bound:.2e} of the reference's scale")
    };
    table.row(["bound", &format!("{bound} ({})", spec.verify.why)]);
    let baseline = spec.baseline.map_or("none", |library| library.name());
    table.row(["baseline", baseline]);
    say(&format!(
        "{}\n\nThe prompt:\n\n{}",
        table.render(),
        task.prompt.trim_end()
    ));
    Ok(Status::Fine)
}

fn check(names: &[String]) -> Result<Status, Failure> {
    let is_all = |name: &String| name == "all";
    let names: Vec<String> = if names.iter().any(is_all) {
        hotloop_bench::tasks::here().map(str::to_owned).collect()
    } else {
        names.to_vec()
    };
    let tasks: Vec<Task> = names
        .iter()
        .map(|name| load(name))
        .collect::<Result<_, _>>()?;
    let stop = Stop::listen()?;
    let languages = crate::settings::languages(&tasks);
    let mut judging = {
        let _progress = Progress::spinner("preparing the machine", true);
        // Only verdicts matter here. A seed's time only needs to be long enough to measure.
        crate::judging::Judging::start(
            Settings {
                rounds: 1,
                languages,
                ..crate::settings::own()?
            },
            stop,
        )?
    };
    let mut unsound = Vec::new();
    for task in tasks {
        let name = task.spec.name.clone();
        let progress = Progress::spinner(format!("checking {name}"), true);
        let findings = lint::lint(task, &mut |jobs| judging.replies(jobs))?;
        drop(progress);
        let mut table = Table::new().left("").left("").left("");
        for finding in &findings {
            table.row([finding.mark.word(), &finding.about, &finding.says]);
        }
        say(&format!("{name}\n{}\n", table.render()));
        if findings
            .iter()
            .any(|finding| finding.mark == lint::Mark::Error)
        {
            unsound.push(name);
        }
    }
    if unsound.is_empty() {
        say(&format!("{} checked: sound.", count(names.len(), "task")));
        return Ok(Status::Fine);
    }
    Err(Failure::user(format!("not sound: {}", unsound.join(", ")))
        .hint("tasks/README.md says what a task and its bound must hold"))
}
