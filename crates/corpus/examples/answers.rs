//! Writes answers of a corpus as C files for judging: `answers FOLDER SEED PER_TASK`.

use std::collections::{HashMap, HashSet};

use hotloop_corpus::Options;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |at: usize| {
        arguments
            .get(at)
            .and_then(|text| text.parse().ok())
            .unwrap_or(1)
    };
    let folder = arguments.get(1).map_or("sample", String::as_str);
    fs_err::create_dir_all(folder)?;
    let options = Options {
        seed: number(2) as u64,
        programs: 60_000,
        records: 100_000,
        ..Options::STANDARD
    };
    let (mut counts, mut seen) = (HashMap::<String, usize>::new(), HashSet::new());
    for record in hotloop_corpus::synth(&options) {
        // Half of the mixture is matmul, and so is half of the sample.
        let wanted = number(3) * if record.task == "matmul" { 5 } else { 1 };
        let count = counts.entry(record.task.clone()).or_default();
        if *count < wanted && seen.insert(record.answer.clone()) {
            fs_err::write(
                format!("{folder}/{}-{count:04}.c", record.task),
                &record.answer,
            )?;
            *count += 1;
        }
        if counts.values().sum::<usize>() >= number(3) * 10 {
            break;
        }
    }
    Ok(())
}
