//! Compares the ways to decode: their results and their speed.

use hotloop_flow::policy::Completion;
use hotloop_policy::Precision;
use hotloop_policy::cuda::{self, DecodeWay, Engine, Trains, With};
use hotloop_policy::pack::{Pack, Sequence};
use serde_json::json;

use crate::sampling::{GREEDY, PLAIN, generation, prompts};
use crate::speed::{self, Asked};
use crate::tiny::{self, Kind};
use crate::{Outcome, Verdicts};

/// Compares every way with the trainer's logprobs on tiny models.
pub(crate) fn all() -> Outcome {
    let mut verdicts = Verdicts::default();
    for kind in Kind::chosen() {
        agree(&mut verdicts, kind)?;
    }
    verdicts.done()
}

/// Tests with and without an adapter, and with several numbers of slots, so that rows are padded
/// and slots refilled.
fn agree(verdicts: &mut Verdicts, kind: Kind) -> Outcome {
    let network = kind.network();
    let adapter = tiny::adapter(&network.config, 0.0);
    let mut engine = Engine::new(
        &network.config,
        &network.weights,
        Trains::Lora(&adapter),
        Precision::Bf16,
    )?;
    let asked = prompts(&network.config);
    let brief = [asked[0].clone(), asked[2].clone()];
    for (name, with) in [("no adapter", With::Nothing), ("adapter", With::Trained)] {
        let (mut plain, mut drawn) = (Vec::new(), Vec::new());
        for way in DecodeWay::ALL {
            engine.set_decode_way(way)?;
            let label = format!(
                "{} of {} {name} {}",
                kind.name(),
                network.config.head_dim,
                way.name()
            );
            if engine.decode_way() != way {
                println!("   {label}: does not serve here, so it is the plain way");
            }
            // Rows are padded to 16, 32 and 64. Each has a separate kernel.
            for (slots, asked, count, tokens) in [
                (2, &asked[..], 1, 24),
                (12, &asked, 5, 24),
                (32, &brief, 16, 6),
                (64, &brief, 32, 6),
            ] {
                let answers =
                    engine.generate(with, asked, count, &generation(PLAIN, slots, tokens, &[]))?;
                let gap = gap(&mut engine, with, PLAIN.temperature, &answers)?;
                verdicts.check(
                    &format!("{label}: {slots} slots against the trainer"),
                    gap,
                    2e-2,
                );
                if slots != 12 {
                    continue;
                }
                if way == DecodeWay::Plain {
                    drawn = answers;
                } else {
                    let apart = apart(&drawn, &answers);
                    verdicts.check(
                        &format!("{label}: draws of the first step apart from plain ones"),
                        apart,
                        0.2,
                    );
                }
            }
            let greedy = engine.generate(with, &asked, 1, &generation(GREEDY, 3, 40, &[]))?;
            if way == DecodeWay::Plain {
                plain = greedy;
                continue;
            }
            // If tokens differ, both must have been equally good: the trainer's logprob of each
            // equals the best, except for rounding.
            let same = plain
                .iter()
                .zip(&greedy)
                .filter(|(a, b)| a.tokens == b.tokens)
                .count();
            let gap = gap(&mut engine, with, 1.0, &greedy)?;
            println!(
                "   {label}: {same} of {} greedy answers are the plain way's",
                plain.len()
            );
            verdicts.check(&format!("{label}: greedy against the trainer"), gap, 2e-2);
        }
    }
    Ok(())
}

/// The share of answers with the same beginning whose next token differs. The seeds are equal, so
/// this happens only at the edge between two tokens.
fn apart(a: &[Completion], b: &[Completion]) -> f64 {
    let alike: Vec<_> = a
        .iter()
        .zip(b)
        .filter(|(a, b)| a.tokens[0] == b.tokens[0])
        .collect();
    alike
        .iter()
        .filter(|(a, b)| a.tokens[1] != b.tokens[1])
        .count() as f64
        / alike.len() as f64
}

/// Mean distance between the sampler's and the trainer's logprobs.
fn gap(
    engine: &mut Engine,
    with: With,
    temperature: f32,
    answers: &[Completion],
) -> Result<f64, cuda::Error> {
    let (mut gap, mut tokens) = (0.0, 0);
    for answer in answers {
        let pack = Pack::new(&[Sequence::answer(&answer.prompt_tokens, &answer.tokens)]);
        let scores = engine.score(with, &pack, temperature)?;
        let each = scores.iter().zip(&answer.logprobs);
        gap += each
            .map(|(scored, logprob)| f64::from((scored.logprob - logprob).abs()))
            .sum::<f64>();
        tokens += scores.len();
    }
    Ok(gap / tokens as f64)
}

/// Numbers of answers for measuring speed.
const BATCHES: [usize; 3] = [1, 16, 64];

/// Prints a table with the milliseconds per step of every way.
pub(crate) fn paces(asked: &Asked) -> Outcome {
    let names = DecodeWay::ALL
        .map(|way| format!("{:>8}", way.name()))
        .join(" ");
    let mut table = vec![format!(
        "model  adapter  batch  {names}   fastest of bandwidth"
    )];
    for shape in asked.shapes(2) {
        for (name, lora) in [("r16", speed::lora()), ("none", speed::no_lora())] {
            let mut engine = Engine::random(&shape.config(), Some(&lora), Precision::Bf16)?;
            let mut lines = BATCHES.map(|batch| format!("{:<6} {name:<8} {batch:>5} ", shape.name));
            let mut shares = [0.0f64; BATCHES.len()];
            for way in DecodeWay::ALL {
                engine.set_decode_way(way)?;
                for ((batch, line), share) in BATCHES.into_iter().zip(&mut lines).zip(&mut shares) {
                    let decoded = speed::decoded(&mut engine, shape, batch)?;
                    *line = format!("{line} {:>8.3}", decoded.ms);
                    *share = share.max(decoded.share);
                    asked.add(&json!({
                        "side": "engine", "section": "ways", "model": shape.name, "batch": batch, "adapter": name,
                        "way": way.name(), "ms_per_step": decoded.ms, "of_bandwidth": decoded.share,
                    }));
                }
            }
            for (line, share) in lines.iter_mut().zip(shares) {
                *line = format!("{line} {:>12.1}%", share * 100.0);
            }
            println!("   {}", lines.join("\n   "));
            table.extend(lines);
        }
    }
    println!("\nms a step, 600 tokens:\n{}", table.join("\n"));
    Ok(())
}
