//! An executable that plays the bench's hidden roles, for this crate's tests.
//!
//! `bench-roles gpu-trial [small] [spread] [without-seccomp] [NAME...]` tries examiner and runner
//! on this machine's GPU, with plans made by hand, and prints what came of every candidate. Run it
//! in the repository's root. `small` is for the emulator, `spread` judges honest candidates twenty
//! times.
//!
//! `bench-roles module-trial PYTHON [PROBLEM ANSWER]...` judges answers for torch on the emulator.
#![expect(clippy::print_stdout, reason = "a trial reports")]

use std::path::Path;
use std::time::Instant;

use hotloop_bench::gpu::trial::Trial;
use hotloop_bench::torch;
use hotloop_flow::Verdict;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    hotloop_bench::role::play_if_asked();
    let mut words = std::env::args().skip(1);
    match words.next().as_deref() {
        Some("gpu-trial") => try_gpu(&words.collect::<Vec<_>>())?,
        Some("module-trial") => try_modules(&words.collect::<Vec<_>>())?,
        _ => {}
    }
    Ok(())
}

fn try_modules(words: &[String]) -> Result<(), Failure> {
    let [python, pairs @ ..] = words else {
        return Err("a Python, and problems with answers".into());
    };
    let mut judge = torch::trial::judge(std::env::current_exe()?, python.as_ref())?;
    for [problem, answer] in pairs.as_chunks::<2>().0 {
        let problem = std::fs::read_to_string(problem)?;
        let facts = judge.problem(&problem)??;
        let text = std::fs::read_to_string(answer)?;
        let path = Path::new(answer);
        let name = path.file_stem().unwrap_or_default();
        let name = name.display();
        match judge.judge(&problem, &facts, torch::Answer::named(path, &text)) {
            Ok(judged) => println!(
                "{name}: {}: {}",
                judged.verdict.label(),
                detail(&judged.verdict)
            ),
            Err(error) => println!("{name}: ERROR: {error}"),
        }
    }
    Ok(())
}

fn try_gpu(words: &[String]) -> Result<(), Failure> {
    let has = |word: &str| words.iter().any(|other| other == word);
    let since = Instant::now();
    let roles = std::env::current_exe()?;
    let mut trial = Trial::open(roles, !has("without-seccomp"), has("small"))?;
    println!(
        "opened in {:.3} s: {}",
        since.elapsed().as_secs_f64(),
        trial.facts()
    );
    let mut wrong = 0;
    for name in Trial::names() {
        let named = words
            .iter()
            .any(|word| Trial::names().contains(&word.as_str()));
        // The emulator alone lets a candidate move its marks.
        let possible = has("small") || name != "relu-forged-marks";
        if named && !has(name) || !possible {
            continue;
        }
        wrong += u32::from(!judge(&mut trial, name, has("small")));
    }
    println!("{wrong} verdicts are not as expected");
    if has("spread") {
        spread(&mut trial)?;
    }
    Ok(())
}

/// Whether a candidate's verdict is expected. An emulated GPU shares its processor with other
/// processes, so that its clocks may disagree about what is correct. Beside others, marks that were
/// moved earn no doubt, but the examiner's clock counts instead of them.
fn judge(trial: &mut Trial, name: &str, is_emulated: bool) -> bool {
    let expected = Trial::expected(name);
    match trial.judge(name) {
        Ok((verdict, seconds)) => {
            let label = verdict.label().name();
            let disturbed = is_emulated
                && expected == "correct"
                && label == "suspect"
                && verdict.detail().contains("the examiner's clock says");
            let timed = verdict.measured().map(|measured| &measured.timing);
            let unbelieved = timed.is_some_and(|timing| timing.kept == 0 && !timing.quiet);
            let right = disturbed
                || expected
                    .split(", ")
                    .any(|word| word == label || word == "unbelieved" && unbelieved);
            let mark = if right { "  " } else { "!!" };
            println!(
                "{mark} {name:28} {label:10} {:7.1} ms  {}",
                1e3 * seconds,
                detail(&verdict)
            );
            right
        }
        Err(error) => {
            println!("!! {name:28} ERROR {error}");
            false
        }
    }
}

fn detail(verdict: &Verdict) -> String {
    let Some(measured) = verdict.measured() else {
        return verdict.detail();
    };
    let timing = &measured.timing;
    format!(
        "{:9.2} us (min {:.2}, cv {:.2} %, {} of {} kept, quiet {}), roof {:.0} %, baseline {}, error {:.1e} {}",
        1e6 * measured.seconds,
        1e6 * timing.min_s,
        100.0 * timing.cv,
        timing.kept,
        timing.samples,
        timing.quiet,
        100.0 * measured.roof_fraction().unwrap_or(0.0),
        measured
            .baseline
            .as_ref()
            .map_or("none".into(), |it| format!("{:.2} us", 1e6 * it.seconds)),
        measured.checks.error,
        verdict.detail(),
    )
}

/// Judges honest candidates twenty times: how far do their times differ, and how many a second.
fn spread(trial: &mut Trial) -> Result<(), Failure> {
    for name in ["relu", "saxpy", "sum", "matmul", "spmv", "histogram"] {
        let mut seconds = Vec::new();
        let mut spent = 0.0;
        for _ in 0..20 {
            let (verdict, took) = trial.judge(name)?;
            spent += took;
            seconds.extend(verdict.correct().map(|measured| measured.seconds));
        }
        let mean = seconds.iter().sum::<f64>() / seconds.len().max(1) as f64;
        let variance = seconds
            .iter()
            .map(|it| (it - mean) * (it - mean))
            .sum::<f64>()
            / 19.0;
        println!(
            "{name:12} {} of 20 correct, mean {:9.2} us, cv {:.2} %, {:.1} ms a judgement",
            seconds.len(),
            1e6 * mean,
            100.0 * variance.sqrt() / mean,
            1e3 * spent / 20.0
        );
    }
    Ok(())
}
