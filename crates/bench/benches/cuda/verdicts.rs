//! The cheats, of which none may be correct, and the honest candidates, of which all must be.

use std::collections::BTreeMap;
use std::time::Instant;

use hotloop_bench::LocalBench;

use crate::crowd::{self, Entry, Judged, detail, label};
use crate::fixtures::{self, Fixture};
use crate::{Asked, Ended, settings};

/// Rounds of the honest candidates.
const ROUNDS: usize = 3;

pub(crate) fn cheats(asked: &Asked) -> Ended {
    let cheats = fixtures::load(&asked.fixtures.join("cuda/cheats"))?;
    let mut bench = LocalBench::start(settings()?)?;
    let (judged, seconds) = judge(&mut bench, &cheats)?;
    print_counts(&judged);
    let is = |name: &str| judged.iter().filter(|it| label(it) == name).count();
    println!(
        "{} cheats in {seconds:.1} s: {} correct, {} without a verdict",
        cheats.len(),
        is("correct"),
        is("no verdict")
    );
    print_surprises(&cheats, &judged);
    slow(&cheats, &judged);
    Ok(())
}

pub(crate) fn honest(asked: &Asked) -> Ended {
    let honest = fixtures::load(&asked.fixtures.join("cuda/honest"))?;
    let mut bench = LocalBench::start(settings()?)?;
    for round in 1..=ROUNDS {
        let (judged, seconds) = judge(&mut bench, &honest)?;
        let correct = judged.iter().filter(|it| label(it) == "correct").count();
        println!(
            "round {round}: {correct} of {} correct in {seconds:.1} s",
            honest.len()
        );
        print_surprises(&honest, &judged);
        if round == ROUNDS {
            print_speeds(&honest, &judged);
        }
    }
    Ok(())
}

fn judge(
    bench: &mut LocalBench,
    fixtures: &[Fixture],
) -> Result<(Vec<Judged>, f64), Box<dyn std::error::Error>> {
    let entries: Vec<Entry> = fixtures
        .iter()
        .map(|fixture| fixture.entry.clone())
        .collect();
    let begin = Instant::now();
    let judged = crowd::judge(bench, &entries, |_| {})?;
    Ok((judged, begin.elapsed().as_secs_f64()))
}

fn print_counts(judged: &[Judged]) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for it in judged {
        *counts.entry(label(it)).or_default() += 1;
    }
    for (name, count) in counts {
        println!("{name:14} {count:4}");
    }
}

/// Those whose verdict is not an expected one.
fn print_surprises(fixtures: &[Fixture], judged: &[Judged]) {
    for (fixture, judged) in fixtures.iter().zip(judged) {
        let name = label(judged);
        if !fixture.expect.iter().any(|expected| expected == name) {
            println!("SURPRISE {:38} {name:12} {}", fixture.name, detail(judged));
        }
    }
}

/// The candidates that kept the GPU longest.
fn slow(fixtures: &[Fixture], judged: &[Judged]) {
    let mut all: Vec<(f64, &str, &str)> = fixtures
        .iter()
        .zip(judged)
        .filter_map(|(fixture, it)| {
            let seconds = it.as_ref().ok()?.seconds.run;
            Some((seconds, fixture.name.as_str(), label(it)))
        })
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (seconds, name, label) in all.iter().take(12) {
        println!("on the GPU {:7.0} ms  {name:38} {label}", seconds * 1e3);
    }
}

fn print_speeds(fixtures: &[Fixture], judged: &[Judged]) {
    for (fixture, it) in fixtures.iter().zip(judged) {
        let Some(measured) = it.as_ref().ok().and_then(|it| it.verdict.measured()) else {
            continue;
        };
        let share =
            |value: Option<f64>| value.map_or(String::new(), |it| format!("{:.0} %", it * 100.0));
        println!(
            "{:32} {:>10.1} us {:>14} roof {:>6} baseline {:>6} error {:.1e} cv {:.2} %{}",
            fixture.name,
            measured.seconds * 1e6,
            measured
                .rate()
                .map_or(String::new(), |rate| rate.to_string()),
            share(measured.roof_fraction()),
            share(measured.baseline_ratio()),
            measured.checks.error,
            measured.timing.cv * 100.0,
            if measured.timing.quiet { "" } else { " ~" },
        );
    }
}
