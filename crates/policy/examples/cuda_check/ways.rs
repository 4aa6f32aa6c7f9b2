//! The ways to decode: whether they agree, how fast each is, and which constants of the fused ones are best.

use policy::Precision;
use policy::cpu::Generation;
use policy::cuda::{self, DecodeWay, Engine, Trains, Tuning, With};
use policy::pack::{Pack, Sequence};
use policy::sample::{Answer, Draw};
use serde_json::json;

use crate::sampling::{GREEDY, PLAIN, generation, prompts};
use crate::speed::{self, Rows, SHAPES};
use crate::tiny::{self, Kind};
use crate::{Outcome, Verdicts};

/// Settings that `tune` measures, the usual ones first.
const SETTINGS: [&str; 19] = [
    "",
    "groups=2",
    "groups=2,phase=1024",
    "groups=3,warps=12",
    "groups=3,warps=12,phase=1024",
    "groups=4,warps=16,phase=1024",
    "groups=4",
    "groups=1,across=8",
    "split_groups=1",
    "split_groups=2",
    "split_across=4",
    "blocks=264",
    "blocks=66",
    "phase=256",
    "phase=1024,blocks=120",
    "prefetch=0",
    "depth=4,depth_full=3",
    "head_groups=8,head_across=2",
    "head_groups=2,head_across=8",
];

/// Every way on tiny models against the trainer's logprobs, then their speeds.
pub(crate) fn all(rows: &Rows) -> Outcome {
    let mut verdicts = Verdicts::default();
    for kind in Kind::chosen() {
        agree(&mut verdicts, kind)?;
    }
    verdicts.done()?;
    if emulated()? {
        println!("   speeds are a GPU's affair");
        return Ok(());
    }
    speeds(rows)
}

fn emulated() -> Result<bool, cuda::Error> {
    let engine = Engine::random(&Kind::ALL[0].config_with_heads(64), None, Precision::Bf16)?;
    Ok(engine.facts()?.0.contains("emulator"))
}

/// With and without an adapter, at several numbers of slots, so that rows are padded and slots filled again.
fn agree(verdicts: &mut Verdicts, kind: Kind) -> Outcome {
    let network = kind.network();
    let adapter = tiny::adapter(&network.config, 0.0);
    let mut engine = Engine::new(&network, Trains::Lora(&adapter), Precision::Bf16)?;
    let asked = prompts(&network.config);
    let brief = [asked[0].clone(), asked[2].clone()];
    for (name, with) in [("no adapter", With::Nothing), ("adapter", With::Trained)] {
        let (mut plain, mut drawn) = (Vec::new(), Vec::new());
        for way in DecodeWay::ALL {
            engine.set_decode_way(way, Tuning::from_environment()?)?;
            let label = format!("{} of {} {name} {}", kind.name(), network.config.head_dim, way.name());
            // Rows are padded to 8, 16, 32 and 64: each of these is a kernel of its own.
            for (slots, asked, count, tokens) in
                [(2, &asked[..], 1, 24), (12, &asked, 5, 24), (32, &brief, 16, 6), (64, &brief, 32, 6)]
            {
                let answers = answers(&mut engine, with, asked, count, &generation(PLAIN, slots, tokens, &[]))?;
                let gap = gap(&mut engine, with, (asked, count), PLAIN, &answers)?;
                verdicts.check(&format!("{label}: {slots} slots against the trainer"), gap, 2e-2);
                if slots != 12 {
                    continue;
                }
                if way == DecodeWay::Plain {
                    drawn = answers;
                } else {
                    let apart = apart(&drawn, &answers);
                    verdicts.check(&format!("{label}: draws of the first step apart from plain ones"), apart, 0.2);
                }
            }
            let greedy = answers(&mut engine, with, &asked, 1, &generation(GREEDY, 3, 40, &[]))?;
            if way == DecodeWay::Plain {
                plain = greedy;
                continue;
            }
            // Where tokens part, both must have been as good: the trainer's logprob of each is the best's but for rounding.
            let same = plain.iter().zip(&greedy).filter(|(a, b)| a.tokens == b.tokens).count();
            let gap = gap(&mut engine, with, (&asked, 1), Draw { temperature: 1.0, ..GREEDY }, &greedy)?;
            println!("   {label}: {same} of {} greedy answers are the plain way's", plain.len());
            verdicts.check(&format!("{label}: greedy against the trainer"), gap, 2e-2);
        }
    }
    Ok(())
}

fn answers(
    engine: &mut Engine,
    with: With,
    prompts: &[Vec<u32>],
    count: usize,
    how: &Generation,
) -> Result<Vec<Answer>, cuda::Error> {
    Ok(engine.generate(with, prompts, count, how)?.into_iter().map(|(answer, _)| answer).collect())
}

/// Of answers that begin alike, the share whose next token is another: by the same seeds, so only at the edge of two tokens.
fn apart(a: &[Answer], b: &[Answer]) -> f64 {
    let alike: Vec<_> = a.iter().zip(b).filter(|(a, b)| a.tokens[0] == b.tokens[0]).collect();
    alike.iter().filter(|(a, b)| a.tokens[1] != b.tokens[1]).count() as f64 / alike.len() as f64
}

/// Mean distance of the sampler's logprobs to the trainer's.
fn gap(
    engine: &mut Engine,
    with: With,
    (prompts, count): (&[Vec<u32>], usize),
    draw: Draw,
    answers: &[Answer],
) -> Result<f64, cuda::Error> {
    let (mut gap, mut tokens) = (0.0, 0);
    for (number, answer) in answers.iter().enumerate() {
        let pack = Pack::new(&[Sequence::answer(&prompts[number / count], &answer.tokens)]);
        let scores = engine.score(with, &pack, draw.temperature)?;
        let each = scores.iter().zip(&answer.logprobs);
        gap += each.map(|(scored, logprob)| f64::from((scored.logprob - logprob).abs())).sum::<f64>();
        tokens += scores.len();
    }
    Ok(gap / tokens as f64)
}

/// Numbers of answers that speeds are measured at.
const BATCHES: [usize; 3] = [1, 16, 64];

/// Milliseconds a step of every way, one table.
fn speeds(rows: &Rows) -> Outcome {
    let mut table = vec!["model  adapter  batch     plain    fused  chained   chained of bandwidth".to_owned()];
    for shape in &SHAPES[..2] {
        for (name, lora) in [("none", speed::no_lora()), ("r16", speed::lora())] {
            let mut engine = Engine::random(&shape.config(), Some(&lora), Precision::Bf16)?;
            let mut lines = BATCHES.map(|batch| format!("{:<6} {name:<8} {batch:>5} ", shape.name));
            for way in DecodeWay::ALL {
                engine.set_decode_way(way, Tuning::from_environment()?)?;
                for (batch, line) in BATCHES.into_iter().zip(&mut lines) {
                    let decoded = speed::decoded(&mut engine, shape, batch)?;
                    *line = format!("{line} {:>8.3}", decoded.ms);
                    if way == DecodeWay::Chained {
                        *line = format!("{line} {:>12.1}%", decoded.share * 100.0);
                    }
                    rows.add(&json!({
                        "side": "engine", "section": "ways", "model": shape.name, "batch": batch, "adapter": name,
                        "way": way.name(), "ms_per_step": decoded.ms, "of_bandwidth": decoded.share,
                    }));
                }
            }
            println!("   {}", lines.join("\n   "));
            table.extend(lines);
        }
    }
    println!("\nms a step, 600 tokens:\n{}", table.join("\n"));
    Ok(())
}

/// What every setting is measured at: an adapter and a number of answers.
const TUNED: [(&str, With, usize); 4] =
    [("none", With::Nothing, 1), ("none", With::Nothing, 64), ("r16", With::Trained, 1), ("r16", With::Trained, 64)];

/// Milliseconds a step of the chained way with several settings of its constants, best first.
pub(crate) fn tune(rows: &Rows) -> Outcome {
    let lora = speed::lora();
    for shape in &SHAPES[..2] {
        let mut engine = Engine::random(&shape.config(), Some(&lora), Precision::Bf16)?;
        let mut found = TUNED.map(|_| Vec::new());
        for setting in SETTINGS {
            engine.set_decode_way(DecodeWay::Chained, Tuning::default().set(setting)?)?;
            for ((name, with, batch), found) in TUNED.into_iter().zip(&mut found) {
                // One that does not fit the machine is no reason to lose the others.
                let ms = match speed::brief(&mut engine, with, batch) {
                    Ok(ms) => ms,
                    Err(error) => {
                        println!("   {} adapter {name}, {batch} answers, {setting}: {error}", shape.name);
                        continue;
                    }
                };
                println!("   {} adapter {name}, {batch} answers, {setting}: {ms:.3} ms", shape.name);
                rows.add(&json!({
                    "side": "engine", "section": "tune", "model": shape.name, "batch": batch, "adapter": name,
                    "setting": setting, "ms_per_step": ms,
                }));
                found.push((ms, setting));
            }
        }
        for ((name, _, batch), mut found) in TUNED.into_iter().zip(found) {
            found.sort_by(|a, b| a.0.total_cmp(&b.0));
            println!("{} adapter {name}, {batch} answers:", shape.name);
            for (ms, setting) in found {
                println!("  {ms:>8.3} ms  {}", if setting.is_empty() { "as it is" } else { setting });
            }
        }
    }
    Ok(())
}
