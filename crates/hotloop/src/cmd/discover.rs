//! `hotloop discover`: arms with equal budgets on one task, and one verdict.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use hotloop_run::discovery::{self, Arm, Comparison, Finding, Outcome, Verdict};
use hotloop_run::experiment::plan::{Job, Plan};
use hotloop_run::{Layered, RunState, store};
use serde_json::json;

use crate::cli::discover::DiscoverArgs;
use crate::cmd::experiment::plan;
use crate::cmd::{report, train};
use crate::failure::{Failure, Status};
use crate::output::table::Table;
use crate::output::{complain, count, number, say, say_json};

/// Seconds that a run may take beside its steps: loading, preparing, timing the fastest again.
const BESIDE_S: f64 = 120.0;
/// The limit of a run that has neither seconds nor a share of a budget.
const NO_LIMIT_S: f64 = 1e7;
/// The file that every run starts from, unless the user names one.
const BASE: &str = "discover.toml";

/// Runs a discovery, or the rest of it.
pub(crate) fn run(arguments: &DiscoverArgs) -> Result<Status, Failure> {
    if let Some(folder) = &arguments.verdict {
        return tell(folder, arguments.json).map(|()| Status::Fine);
    }
    let task = arguments.task.as_deref().unwrap_or_default();
    let base_of = |path: &Path| -> Result<String, Failure> {
        fs_err::read_to_string(path).map_err(|error| Failure::user(error.to_string()))
    };
    let base = arguments.file.as_deref().map(base_of).transpose()?;
    let out = out(arguments, task);
    let plan = Plan {
        budget_s: arguments.budget,
        jobs: jobs(arguments, task, &out),
    };
    check(&plan, arguments, base.as_deref())?;
    let budget_s = arguments.budget.unwrap_or(f64::INFINITY);
    if arguments.dry_run {
        return plan::foretell(&plan, budget_s, arguments.json);
    }
    if arguments.file.is_none() {
        write_base(&out)?;
    }
    if !arguments.json {
        introduce(arguments, task, &out);
    }
    let status = plan::drive(&plan, &out, budget_s, arguments.json)?.status;
    tell(&out, arguments.json)?;
    Ok(status)
}

/// Writes the file that every run starts from, unless an earlier call did.
fn write_base(out: &Path) -> Result<(), Failure> {
    const SAID: &str = "# Everything is set on the command line of each run.\n";
    let unwritable = |error: std::io::Error| {
        Failure::user(error.to_string()).hint("choose another folder with --out")
    };
    fs_err::create_dir_all(out).map_err(unwritable)?;
    let path = out.join(BASE);
    match fs_err::File::create_new(&path) {
        Ok(mut file) => file.write_all(SAID.as_bytes()).map_err(unwritable),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let there = fs_err::read(&path).map_err(unwritable)?;
            // A kill may have left less of it.
            if SAID.as_bytes().starts_with(&there) {
                return fs_err::write(&path, SAID).map_err(unwritable);
            }
            let path = path.display();
            Err(
                Failure::user(format!("{path}: it exists, and no discovery wrote it")).hint(
                    format!(
                        "choose another --out, move it away, or start from it with --file {path}"
                    ),
                ),
            )
        }
        Err(error) => Err(unwritable(error)),
    }
}

fn out(arguments: &DiscoverArgs, task: &str) -> PathBuf {
    let name = Path::new(task).file_name().unwrap_or_default();
    let usual = || Path::new("runs").join(format!("discover-{}", name.display()));
    let out = arguments.out.clone().unwrap_or_else(usual);
    std::path::absolute(&out).unwrap_or(out)
}

/// One job for each arm and seed. All arms of a seed come before the next seed.
fn jobs(arguments: &DiscoverArgs, task: &str, out: &Path) -> Vec<Job> {
    let runs = arguments.arms.len() as f64 * arguments.seeds as f64;
    let share_s = arguments.budget.map_or(NO_LIMIT_S, |budget| budget / runs);
    let seconds = arguments.seconds.map_or(share_s, |steps| steps + BESIDE_S);
    let file = arguments.file.clone().unwrap_or_else(|| out.join(BASE));
    let file = std::path::absolute(&file).unwrap_or(file);
    let seeds = 1..=arguments.seeds;
    let pairs = seeds.flat_map(|seed| arguments.arms.iter().map(move |arm| (*arm, seed)));
    pairs
        .map(|(arm, seed)| {
            let name = format!("{}-{seed}", arm.name());
            let folder = out.join(&name);
            let ends = ends(arguments);
            let mut sets = sets(arguments, task, arm, seed);
            sets.push(format!("directory={}", folder.display()));
            let folder_name = folder.display().to_string();
            Job {
                name,
                seconds,
                commands: vec![command(&["train", &file.display().to_string()], &sets)],
                resume: Some(command(&["train", "--resume", &folder_name], &ends)),
                needs: Vec::new(),
                against: None,
                show: false,
                have: false,
                folder,
            }
        })
        .collect()
}

/// What ends a run.
fn ends(arguments: &DiscoverArgs) -> Vec<String> {
    vec![
        "budget.steps=0".to_owned(),
        format!("budget.answers={}", arguments.answers),
        format!("budget.seconds={}", arguments.seconds.unwrap_or(0.0)),
    ]
}

/// The overrides of a run. The user's come last, except for what makes the arms differ.
fn sets(arguments: &DiscoverArgs, task: &str, arm: Arm, seed: u64) -> Vec<String> {
    let model = arguments.model.iter().map(|model| format!("model={model}"));
    let arms = arm.sets().iter().map(|set| (*set).to_owned());
    ends(arguments)
        .into_iter()
        .chain(model)
        // A probe costs answers that no budget counts, and the verdict does not use it.
        .chain(["loop.probe=0".to_owned(), format!("task={task}")])
        .chain(arguments.set.iter().cloned())
        .chain([format!("seed={seed}")])
        .chain(arms)
        .collect()
}

fn command(words: &[&str], sets: &[String]) -> Vec<String> {
    let sets = sets
        .iter()
        .flat_map(|set| ["--set".to_owned(), set.clone()]);
    words
        .iter()
        .map(|word| (*word).to_owned())
        .chain(sets)
        .collect()
}

/// Finds mistakes in all runs before the first one starts.
fn check(plan: &Plan, arguments: &DiscoverArgs, base: Option<&str>) -> Result<(), Failure> {
    let mut arms = arguments.arms.clone();
    arms.sort_unstable();
    arms.dedup();
    if arms.len() < arguments.arms.len() {
        return Err(Failure::user("an arm is named twice").hint("--seeds repeats an arm"));
    }
    if arguments.answers == 0 && arguments.seconds.is_none() {
        return Err(Failure::user("nothing would end the runs").hint("give --answers or --seconds"));
    }
    let file = arguments
        .file
        .as_deref()
        .map(|file| file.display().to_string());
    let text = file.as_deref().zip(base);
    for job in &plan.jobs {
        let words = job.commands[0].iter().skip(2);
        let sets: Vec<String> = words.filter(|word| *word != "--set").cloned().collect();
        train::plan(&job.name, &sets, |sets| Layered::read(text, sets))?;
    }
    Ok(())
}

fn introduce(arguments: &DiscoverArgs, task: &str, out: &Path) {
    let answers = match arguments.answers {
        0 => "as many answers as fit".to_owned(),
        answers => count(answers as usize, "judged answer"),
    };
    let seeds = count(arguments.seeds as usize, "seed");
    let arms: Vec<String> = arguments
        .arms
        .iter()
        .map(|arm| format!("  {:<10} {}", arm.name(), arm.summary()))
        .collect();
    say(&format!(
        "{task}: {answers} for each arm and seed, {seeds}, in {}\n{}",
        out.display(),
        arms.join("\n")
    ));
}

/// Reads the runs in a folder, writes their report, and prints outcomes and verdict.
fn tell(folder: &Path, json: bool) -> Result<(), Failure> {
    let runs = runs(folder)?;
    let outcomes: Vec<Outcome> = runs.iter().map(|(_, outcome)| outcome.clone()).collect();
    let verdict = discovery::verdict::of(&outcomes);
    if json {
        say_json(&json!({"outcomes": outcomes, "verdict": verdict}));
        return Ok(());
    }
    let folders: Vec<PathBuf> = runs.into_iter().map(|(path, _)| path).collect();
    say(&format!("\n{}", table(&outcomes).render()));
    for comparison in &verdict.comparisons {
        say(&line(comparison));
    }
    for note in &verdict.notes {
        complain(note);
    }
    say(&format!("\n{}", sentence(&verdict)));
    say(&format!(
        "report: {}",
        report::write(&folders, folder)?.display()
    ));
    Ok(())
}

/// The runs in folders called ARM-SEED that have begun.
fn runs(folder: &Path) -> Result<Vec<(PathBuf, Outcome)>, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::user(error.to_string())
            .hint("name a folder that `hotloop discover` or `hotloop experiment` wrote")
    };
    let mut paths = Vec::new();
    for entry in fs_err::read_dir(folder).map_err(unreadable)? {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.sort();
    let mut runs = Vec::new();
    for path in paths {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let Some((arm, seed)) = name.rsplit_once('-') else {
            continue;
        };
        if seed.parse::<u64>().is_err() || !path.join("run.toml").exists() {
            continue;
        }
        let text = store::config(&path).map_err(|error| report::unreadable(&error))?;
        let read = Layered::read(Some(("run.toml", &text)), &[]);
        let config = read.map_err(|all| train::mistakes(&all))?.config;
        let state = RunState::read(&path).map_err(|error| report::unreadable(&error.into()))?;
        runs.push((path, Outcome::of(arm, &config, &state)));
    }
    if runs.is_empty() {
        return Err(
            Failure::user(format!("{}: no run there has begun", folder.display()))
                .hint("runs lie in folders called ARM-SEED, such as search-1"),
        );
    }
    Ok(runs)
}

fn table(outcomes: &[Outcome]) -> Table {
    let unit = outcomes.first().map_or("", |one| one.unit);
    let mut table = Table::new()
        .left("arm")
        .right("seed")
        .right("answers")
        .right("correct")
        .right("seconds")
        .right(format!("best, {unit}"))
        .right("of baseline")
        .left("best of 64")
        .left("answers to 10, 20, 50 %");
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    for one in outcomes {
        let share = 100.0 * one.correct as f64 / one.answers.max(1) as f64;
        let best_of = one.best_of.iter().find(|best| best.k == 64).map(|best| {
            let speed = best.speed;
            format!(
                "{} [{}, {}]",
                number(speed.value),
                number(speed.low),
                number(speed.high)
            )
        });
        let reached = one
            .reached
            .iter()
            .map(|reached| or_dash(reached.answers.map(|answers| answers.to_string())));
        let open = if one.ended.is_some() { "" } else { " (open)" };
        table.row([
            format!("{}{open}", one.arm),
            one.seed.to_string(),
            one.answers.to_string(),
            format!("{share:.0} %"),
            format!("{:.0}", one.seconds),
            or_dash(one.best.map(number)),
            or_dash(one.of_baseline.map(|ratio| format!("{ratio:.2}"))),
            or_dash(best_of),
            reached.collect::<Vec<_>>().join(", "),
        ]);
    }
    table
}

fn line(comparison: &Comparison) -> String {
    let Comparison {
        arm,
        against,
        seeds,
        times,
        interval,
    } = comparison;
    let range = interval.map_or("no interval from one seed".to_owned(), |(low, high)| {
        format!("[{low:.2}, {high:.2}]")
    });
    let seeds = count(seeds.len(), "seed");
    format!(
        "{arm}: the best code is {times:.2} times as fast as that of {against}, {range} over {seeds}"
    )
}

/// The verdict in one sentence.
fn sentence(verdict: &Verdict) -> String {
    let control = verdict.control.as_deref().unwrap_or("a control");
    match verdict.finding {
        Finding::Learning => {
            let better = verdict
                .comparisons
                .iter()
                .filter(|one| one.interval.is_some_and(|(low, _)| low > 1.0));
            let names: Vec<&str> = better.map(|one| one.arm.as_str()).collect();
            format!(
                "verdict: learning found faster code than {control} with as many answers ({})",
                names.join(", ")
            )
        }
        Finding::Search => format!(
            "verdict: {control} found faster code than every arm that learns, with as many answers"
        ),
        Finding::Undecided => format!(
            "verdict: undecided; the intervals allow that learning helps and that it does not, against {control}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command};

    fn arguments(line: &str) -> DiscoverArgs {
        let words = std::iter::once("hotloop").chain(line.split(' '));
        match Cli::try_parse_from(words).expect("it is a command").command {
            Command::Discover(arguments) => arguments,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn arms_differ_in_their_own_keys_only_and_seeds_come_one_after_the_other() {
        let asked = arguments(
            "discover matmul --model nano --answers 50 --seeds 2 --arms search,entropic --set seed=9",
        );
        let jobs = jobs(&asked, "matmul", Path::new("/out"));
        let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
        assert_eq!(names, ["search-1", "entropic-1", "search-2", "entropic-2"]);
        let has = |at: usize, set: &str| jobs[at].commands[0].iter().any(|word| word == set);
        for at in 0..4 {
            assert!(
                has(at, "budget.answers=50") && has(at, "model=nano") && has(at, "loop.probe=0")
            );
        }
        assert!(has(0, "learning.rate=0") && !has(1, "learning.rate=0"));
        // The user's seed does not make all runs equal.
        let last = |at: usize| {
            jobs[at].commands[0]
                .iter()
                .rfind(|word| word.starts_with("seed="))
        };
        assert_eq!(
            (last(0).map(String::as_str), last(2).map(String::as_str)),
            (Some("seed=1"), Some("seed=2"))
        );
    }

    #[test]
    fn mistakes_are_found_before_anything_runs() {
        let fails = |line: &str| {
            let asked = arguments(line);
            let plan = Plan {
                budget_s: None,
                jobs: jobs(&asked, "matmul", Path::new("/out")),
            };
            check(&plan, &asked, None)
                .expect_err(line)
                .what()
                .to_owned()
        };
        assert!(fails("discover matmul --model nano --arms search,search").contains("twice"));
        assert!(fails("discover matmul --model nano --answers 0").contains("end"));
        assert!(fails("discover matmul --model nano --set learning.k=0").contains("learning.k"));
        assert!(fails("discover matmul").contains("model"));
    }

    #[test]
    fn a_foreign_run_file_is_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("out");
        write_base(&out).expect("nothing is there");
        write_base(&out).expect("an earlier call wrote it");
        let path = out.join(BASE);
        std::fs::write(&path, "seed = 7\n").expect("written");
        let refused = write_base(&out).expect_err("somebody else wrote it");
        assert!(
            refused.what().contains("discover.toml: it exists"),
            "{}",
            refused.what()
        );
        assert_eq!(
            std::fs::read_to_string(&path).expect("it is there"),
            "seed = 7\n"
        );
    }

    #[test]
    fn a_verdict_names_who_won() {
        let verdict = |finding, interval| Verdict {
            finding,
            control: Some("search".to_owned()),
            comparisons: vec![Comparison {
                arm: "entropic".to_owned(),
                against: "search".to_owned(),
                seeds: vec![1, 2, 3],
                times: 1.5,
                interval: Some(interval),
            }],
            notes: Vec::new(),
        };
        let won = verdict(Finding::Learning, (1.2, 1.9));
        assert!(
            sentence(&won).contains("learning found faster code than search")
                && sentence(&won).contains("(entropic)")
        );
        assert!(
            line(&won.comparisons[0])
                .contains("1.50 times as fast as that of search, [1.20, 1.90] over 3 seeds")
        );
        assert!(
            sentence(&verdict(Finding::Search, (0.5, 0.9)))
                .contains("search found faster code than every arm")
        );
        assert!(sentence(&verdict(Finding::Undecided, (0.5, 1.9))).contains("undecided"));
    }
}
