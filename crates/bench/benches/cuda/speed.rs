//! How many candidates a second, how long one takes, and how soon the GPU serves the next.

use std::time::Instant;

use hotloop_bench::{LocalBench, Settings};
use hotloop_flow::statistics::{mean, median};

use crate::crowd::{self, Entry, label};
use crate::fixtures::{self, Fixture};
use crate::{Asked, Ended, settings};

/// Candidates of a measurement of throughput.
const CROWD: usize = 320;
/// One in so many crashes.
const CRASHES: usize = 20;
/// The candidates of which the crowd consists.
const KERNELS: [&str; 6] = [
    "relu-float4",
    "matmul-tile32",
    "softmax-block-shared",
    "layernorm-block-shared",
    "sum-two-kernels",
    "conv2d-shared-tile",
];
/// Candidates that end their runner, each in another way.
const FAULTS: [&str; 5] = [
    "relu-trap",
    "relu-null-address",
    "relu-misaligned",
    "relu-endless",
    "relu-assert",
];

type Found = Result<Vec<Entry>, Box<dyn std::error::Error>>;

fn named(fixtures: &[Fixture], names: &[&str]) -> Found {
    let find = |name: &&str| {
        let found = fixtures.iter().find(|fixture| fixture.name == **name);
        let entry = found.map(|fixture| fixture.entry.clone());
        entry.ok_or_else(|| format!("{name}: no such file").into())
    };
    names.iter().map(find).collect()
}

fn kernels(asked: &Asked) -> Found {
    named(
        &fixtures::load(&asked.fixtures.join("cuda/honest"))?,
        &KERNELS,
    )
}

fn faults_of(asked: &Asked, names: &[&str]) -> Found {
    named(&fixtures::load(&asked.fixtures.join("cuda/cheats"))?, names)
}

/// A bench that has judged each kernel once, so that references are ready, and keeps no code.
fn warm(kernels: &[Entry]) -> Result<LocalBench, Box<dyn std::error::Error>> {
    let fresh = Settings {
        reuse: false,
        ..settings()?
    };
    let mut bench = LocalBench::start(fresh)?;
    crowd::judge(&mut bench, kernels, |_| {})?;
    Ok(bench)
}

pub(crate) fn throughput(asked: &Asked) -> Ended {
    let kernels = kernels(asked)?;
    let crash = faults_of(asked, &["relu-trap"])?;
    let mut bench = warm(&kernels)?;
    let mut number = 0;
    for (what, every) in [("clean", None), ("5 % crash", Some(CRASHES))] {
        let crowd: Vec<Entry> = (0..CROWD)
            .map(|index| {
                number += 1;
                match every {
                    Some(every) if index % every == every / 2 => crash[0].again(number),
                    Some(_) | None => kernels[index % kernels.len()].again(number),
                }
            })
            .collect();
        let begin = Instant::now();
        let judged = crowd::judge(&mut bench, &crowd, |_| {})?;
        let seconds = begin.elapsed().as_secs_f64();
        let is = |name: &str| judged.iter().filter(|it| label(it) == name).count();
        let of = |part: fn(&hotloop_flow::Judgement) -> f64| {
            let parts: Vec<f64> = judged
                .iter()
                .filter_map(|it| it.as_ref().ok())
                .map(part)
                .collect();
            mean(&parts) * 1e3
        };
        println!(
            "{what:10} {CROWD} in {seconds:.1} s: {:.1} a second; {} correct, {} crashed; mean {:.0} ms to plan, \
             {:.1} ms on the GPU",
            CROWD as f64 / seconds,
            is("correct"),
            is("crashed"),
            of(|it| it.seconds.compile),
            of(|it| it.seconds.run),
        );
    }
    Ok(())
}

pub(crate) fn latency(asked: &Asked) -> Ended {
    let kernels = kernels(asked)?;
    let mut bench = warm(&kernels)?;
    for (name, kernel) in KERNELS.iter().zip(&kernels) {
        let mut parts = [Vec::new(), Vec::new(), Vec::new()];
        for number in 0..5 {
            let begin = Instant::now();
            let judged =
                crowd::judge(&mut bench, &[kernel.again(1000 + number)], |_| {})?.remove(0)?;
            parts[0].push(begin.elapsed().as_secs_f64());
            parts[1].push(judged.seconds.compile);
            parts[2].push(judged.seconds.run);
        }
        let [all, plan, run] = parts.map(|part| median(&part) * 1e3);
        println!(
            "{name:26} {all:6.0} ms: {plan:6.0} ms to plan, {run:6.1} ms on the GPU (medians of 5)"
        );
    }
    Ok(())
}

/// After each fault a good candidate follows that is ready to run.
pub(crate) fn faults(asked: &Asked) -> Ended {
    let good = &kernels(asked)?[0];
    let mut bench = LocalBench::start(settings()?)?;
    crowd::judge(&mut bench, std::slice::from_ref(good), |_| {})?;
    for (name, fault) in FAULTS.iter().zip(faults_of(asked, &FAULTS)?) {
        let mut gaps = Vec::new();
        let mut labels = String::new();
        for number in 0..4 {
            let bad = crowd::judge(&mut bench, &[fault.again(number)], |_| {})?;
            let begin = Instant::now();
            let next = crowd::judge(&mut bench, std::slice::from_ref(good), |_| {})?;
            gaps.push(begin.elapsed().as_secs_f64() * 1e3);
            let both: Vec<_> = bad.iter().chain(&next).map(label).collect();
            labels = both.join(", then ");
        }
        let worst = gaps.iter().copied().fold(0.0, f64::max);
        println!(
            "{name:20} {labels}; the good one is judged within {worst:.0} ms of the fault's verdict ({} pairs)",
            gaps.len()
        );
    }
    Ok(())
}
