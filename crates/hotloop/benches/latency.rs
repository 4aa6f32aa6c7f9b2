//! How long a person waits for `hotloop judge`, start-up included. Several programs take turns, so
//! that they meet the same machine.
//!
//! ```text
//! cargo bench -p hotloop --bench latency                     the program of this checkout
//! cargo bench -p hotloop --bench latency -- OLD NEW          these programs, side by side
//! cargo bench -p hotloop --bench latency -- OLD --rounds 9   more rounds; the table has their medians
//! cargo bench -p hotloop --bench latency -- --within 900     seconds for all of them; 270 otherwise
//! ```
//!
//! A round that would not end in time is not begun. The table says how many there were.

#![expect(clippy::print_stdout, reason = "a program that reports")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use hotloop_flow::statistics::median;
use serde_json::Value;

/// New candidates of one call.
const NEW: usize = 24;

/// Seconds, one number a round.
#[derive(Default)]
struct Waited {
    cached: Vec<f64>,
    new: Vec<f64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut programs, mut rounds, mut within) = (Vec::new(), 5, 270.0);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rounds" => rounds = words.next().ok_or("--rounds needs a number")?.parse()?,
            "--within" => within = words.next().ok_or("--within needs seconds")?.parse()?,
            // Cargo passes it to every bench.
            "--bench" => {}
            program => programs.push(PathBuf::from(program)),
        }
    }
    if programs.is_empty() {
        programs.push(PathBuf::from(env!("CARGO_BIN_EXE_hotloop")));
    }
    let begin = Instant::now();
    let folder = tempfile::tempdir()?;
    let cached = candidates(folder.path(), "cached", 1)?;
    let mut waited: Vec<Waited> = programs.iter().map(|_| Waited::default()).collect();
    let mut plain_s = Vec::new();
    for program in &programs {
        judge(program, &cached)?;
    }
    let (mut round, mut longest) = (0, 0.0_f64);
    while round < rounds && (round == 0 || begin.elapsed().as_secs_f64() + longest < within) {
        let round_begin = Instant::now();
        for (at, program) in programs.iter().enumerate() {
            let new = candidates(folder.path(), &format!("{round}-{at}"), NEW)?;
            waited[at].cached.push(judge(program, &cached)?);
            waited[at].new.push(judge(program, &new)?);
            let (cached, new) = (waited[at].cached[round], waited[at].new[round]);
            println!("round {round}, program {at}: one cached {cached:.2} s, {NEW} new {new:.2} s");
        }
        plain_s.push(plain(&programs[programs.len() - 1])?);
        println!("round {round}: the plain pipeline {:.2} s", plain_s[round]);
        round += 1;
        longest = longest.max(round_begin.elapsed().as_secs_f64());
    }
    println!("median of {round} rounds, in seconds");
    println!("program  one cached  {NEW} new  {NEW} by the plain pipeline  times as fast");
    let plain = median(&plain_s);
    for (at, waited) in waited.iter().enumerate() {
        let (cached, new) = (median(&waited.cached), median(&waited.new));
        let times = plain / new;
        println!("{at:<7}  {cached:>10.2}  {new:>6.2}  {plain:>24.2}  {times:>13.2}");
    }
    Ok(())
}

/// Sources that no other call has: a name of their own makes each a new candidate.
fn candidates(folder: &Path, name: &str, count: usize) -> std::io::Result<Vec<PathBuf>> {
    let apart = std::process::id();
    let write = |number: usize| {
        let path = folder.join(format!("{name}-{number}.c"));
        let source = format!(
            "static int tile_{apart}_{number}(void) {{ return {}; }}\n\
             void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {{\n\
             for (int i = 0; i < M * N; i++) C[i] = 0.0;\n\
             for (int t = 0; t < K; t += tile_{apart}_{number}())\n\
             for (int i = 0; i < M; i++)\n\
             for (int k = t; k < K && k < t + tile_{apart}_{number}(); k++)\n\
             for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];\n}}\n/* {name} */\n",
            8 + 8 * number
        );
        std::fs::write(&path, source)?;
        Ok(path)
    };
    (0..count).map(write).collect()
}

/// Seconds until `hotloop judge` has judged the files.
fn judge(program: &Path, files: &[PathBuf]) -> Result<f64, Box<dyn Error>> {
    let begin = Instant::now();
    let output = Command::new(program)
        .args(["judge", "matmul", "--json"])
        .args(files)
        .output()?;
    let seconds = begin.elapsed().as_secs_f64();
    let said = String::from_utf8_lossy(&output.stdout);
    let verdicts = said
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let correct = verdicts.filter(|line| line["verdict"] == "correct").count();
    if correct != files.len() {
        return Err(format!("{correct} of {} are correct: {said}", files.len()).into());
    }
    Ok(seconds)
}

/// Seconds that the plain pipeline (compile a program, run it) needs for as many candidates, by a
/// sample of four.
fn plain(program: &Path) -> Result<f64, Box<dyn Error>> {
    let output = Command::new(program)
        .args(["bench", "throughput", "--count", "4", "--json"])
        .output()?;
    let said: Value = serde_json::from_slice(&output.stdout)?;
    let seconds = said["plain_s"].as_f64().ok_or("no `plain_s`")?;
    Ok(seconds * NEW as f64)
}
