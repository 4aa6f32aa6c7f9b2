//! How long an answer takes here and by `KernelBench`'s own evaluator, on the same kernels and problems.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use hotloop_bench::{LocalBench, Settings};
use hotloop_flow::statistics::median;
use serde::Deserialize;
use serde_json::json;

use crate::crowd::{self, Entry, label};
use crate::fixtures;
use crate::{Asked, Ended, settings};

const PROGRAM: &str = include_str!("evaluator.py");
/// Judgements of one candidate here.
const JUDGEMENTS: usize = 5;
/// Runs that this bench verifies at least: 17 calls, and the timed runs, each of which is verified.
const VERIFIED: usize = 27;
const TIMED: usize = 10;

/// A kernel, and how `KernelBench` sees it.
struct Side {
    kernel: &'static str,
    problem: &'static str,
    wrapper: &'static str,
    declared: &'static str,
    called: &'static str,
}

const SIDES: [Side; 2] = [
    Side {
        kernel: "relu-float4",
        problem: "import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
def get_inputs():
    return [torch.rand(16777216)]
def get_init_inputs():
    return []
",
        wrapper: "torch::Tensor run(torch::Tensor x) {
    auto y = torch::empty_like(x);
    solve(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}",
        declared: "torch::Tensor run(torch::Tensor x);",
        called: "x",
    },
    Side {
        kernel: "matmul-tile32",
        problem: "import torch
class Model(torch.nn.Module):
    def forward(self, x, y):
        return torch.matmul(x, y)
def get_inputs():
    return [torch.rand(1024, 1024), torch.rand(1024, 1024)]
def get_init_inputs():
    return []
",
        wrapper: "torch::Tensor run(torch::Tensor x, torch::Tensor y) {
    auto z = torch::empty_like(x);
    solve(x.data_ptr<float>(), y.data_ptr<float>(), z.data_ptr<float>(), x.size(0));
    return z;
}",
        declared: "torch::Tensor run(torch::Tensor x, torch::Tensor y);",
        called: "x, y",
    },
];

#[derive(Deserialize)]
struct Reply {
    seconds: f64,
    correct: Option<bool>,
    runtime_ms: Option<f64>,
}

pub(crate) fn run(asked: &Asked) -> Ended {
    let Some(checkout) = &asked.kernelbench else {
        return Err("--kernelbench DIR names none".into());
    };
    let honest = fixtures::load(&asked.fixtures.join("cuda/honest"))?;
    let mut bench = LocalBench::start(Settings {
        reuse: false,
        ..settings()?
    })?;
    let mut jobs = Vec::new();
    let mut here = Vec::new();
    for side in &SIDES {
        let found = honest.iter().find(|fixture| fixture.name == side.kernel);
        let entry = &found
            .ok_or_else(|| format!("{}: no such file", side.kernel))?
            .entry;
        here.push(judge(&mut bench, entry)?);
        let source = entry.candidate.as_ref().map_err(String::as_str)?.source();
        let job = json!({
            "problem": side.problem,
            "answer": answer(side, source),
            "verified": VERIFIED,
            "timed": TIMED,
        });
        jobs.push(job.to_string());
    }
    drop(bench);
    let theirs = evaluate(checkout, &(jobs.join("\n") + "\n"))?;
    for ((side, (seconds, verdict)), reply) in SIDES.iter().zip(here).zip(&theirs) {
        println!(
            "{:16} here {:7.3} s ({verdict}); KernelBench's evaluator {:7.2} s (correct: {:?}, {:?} ms): {:.0} times",
            side.kernel,
            seconds,
            reply.seconds,
            reply.correct,
            reply.runtime_ms,
            reply.seconds / seconds,
        );
    }
    if theirs.len() < SIDES.len() {
        return Err("the evaluator ended early".into());
    }
    Ok(())
}

/// Median seconds of one candidate with nothing cached, and the last verdict. References are ready.
fn judge(
    bench: &mut LocalBench,
    entry: &Entry,
) -> Result<(f64, &'static str), Box<dyn std::error::Error>> {
    let (mut seconds, mut verdict) = (Vec::new(), "");
    for number in 0..=JUDGEMENTS {
        let begin = Instant::now();
        let judged = crowd::judge(bench, &[entry.again(5000 + number)], |_| {})?;
        if number > 0 {
            seconds.push(begin.elapsed().as_secs_f64());
        }
        verdict = label(&judged[0]);
    }
    Ok((median(&seconds), verdict))
}

fn answer(side: &Side, kernel: &str) -> String {
    let Side {
        wrapper,
        declared,
        called,
        ..
    } = side;
    format!(
        "import torch
from torch.utils.cpp_extension import load_inline
cuda = r'''#include <torch/extension.h>
{kernel}
{wrapper}'''
built = load_inline(name='answer_{}', cpp_sources='{declared}', cuda_sources=cuda, functions=['run'])
class ModelNew(torch.nn.Module):
    def forward(self, {called}):
        return built.run({called})
",
        side.kernel.replace('-', "_")
    )
}

fn evaluate(checkout: &Path, jobs: &str) -> Result<Vec<Reply>, Box<dyn std::error::Error>> {
    let mut child = Command::new("python3")
        .args(["-c", PROGRAM])
        .arg(checkout)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("python3: {error}"))?;
    if let Some(mut to) = child.stdin.take() {
        to.write_all(jobs.as_bytes())?;
    }
    let told = child.wait_with_output()?;
    // The evaluator prints for people, too.
    Ok(String::from_utf8_lossy(&told.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect())
}
