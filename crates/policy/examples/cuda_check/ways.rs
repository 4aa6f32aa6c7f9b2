//! The ways to decode: whether they agree, how fast each is, and which constants of the fused ones are best.

use hotloop_policy::Precision;
use hotloop_policy::cpu::Generation;
use hotloop_policy::cuda::{self, Choice, DecodeWay, Engine, Trains, Tuning, With};
use hotloop_policy::pack::{Pack, Sequence};
use hotloop_policy::sample::{Answer, Draw};
use serde_json::json;

use crate::sampling::{GREEDY, PLAIN, generation, prompts};
use crate::speed::{self, Asked, SHAPES};
use crate::tiny::{self, Kind};
use crate::{Outcome, Verdicts};

/// Settings that `tune` measures, the usual ones first.
const SETTINGS: [&str; 13] = [
    "",
    "warps=8",
    "blocks=100",
    "warps=8,blocks=100",
    "groups=4",
    "groups=4,warps=8",
    "slices=0",
    "slices=2",
    "slices=2,warps=8",
    "slices=6",
    "groups=5,across=2",
    "split_groups=1",
    "depth=2",
];

/// Every way on tiny models against the trainer's logprobs.
pub(crate) fn all() -> Outcome {
    let mut verdicts = Verdicts::default();
    for kind in Kind::chosen() {
        agree(&mut verdicts, kind)?;
    }
    verdicts.done()
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
            let label = format!(
                "{} of {} {name} {}",
                kind.name(),
                network.config.head_dim,
                way.name()
            );
            if engine.decode_way() != way {
                println!("   {label}: does not serve here, so it is the plain way");
            }
            // Rows are padded to 16, 32 and 64: each of these is a kernel of its own.
            for (slots, asked, count, tokens) in [
                (2, &asked[..], 1, 24),
                (12, &asked, 5, 24),
                (32, &brief, 16, 6),
                (64, &brief, 32, 6),
            ] {
                let answers = answers(
                    &mut engine,
                    with,
                    asked,
                    count,
                    &generation(PLAIN, slots, tokens, &[]),
                )?;
                let gap = gap(&mut engine, with, (asked, count), PLAIN, &answers)?;
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
            if way == DecodeWay::Chosen {
                let found = engine.decode_choices();
                let untried = found.iter().filter(|choice| choice.tried == 0).count();
                verdicts.check(
                    &format!("{label}: of {} shapes untried", found.len()),
                    untried as f64,
                    0.5,
                );
            }
            let greedy = answers(
                &mut engine,
                with,
                &asked,
                1,
                &generation(GREEDY, 3, 40, &[]),
            )?;
            if way == DecodeWay::Plain {
                plain = greedy;
                continue;
            }
            // Where tokens part, both must have been as good: the trainer's logprob of each is the best's but for rounding.
            let same = plain
                .iter()
                .zip(&greedy)
                .filter(|(a, b)| a.tokens == b.tokens)
                .count();
            let gap = gap(
                &mut engine,
                with,
                (&asked, 1),
                Draw {
                    temperature: 1.0,
                    ..GREEDY
                },
                &greedy,
            )?;
            println!(
                "   {label}: {same} of {} greedy answers are the plain way's",
                plain.len()
            );
            verdicts.check(&format!("{label}: greedy against the trainer"), gap, 2e-2);
        }
    }
    clocked(verdicts, &mut engine, &brief)
}

fn answers(
    engine: &mut Engine,
    with: With,
    prompts: &[Vec<u32>],
    count: usize,
    how: &Generation,
) -> Result<Vec<Answer>, cuda::Error> {
    Ok(engine
        .generate(with, prompts, count, how)?
        .into_iter()
        .map(|(answer, _)| answer)
        .collect())
}

/// Of answers that begin alike, the share whose next token is another: by the same seeds, so only at the edge of two tokens.
fn apart(a: &[Answer], b: &[Answer]) -> f64 {
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
        gap += each
            .map(|(scored, logprob)| f64::from((scored.logprob - logprob).abs()))
            .sum::<f64>();
        tokens += scores.len();
    }
    Ok(gap / tokens as f64)
}

/// Numbers of answers that speeds are measured at.
const BATCHES: [usize; 3] = [1, 16, 64];

/// Milliseconds a step of every way, one table.
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
                engine.set_decode_way(way, Tuning::from_environment()?)?;
                for ((batch, line), share) in BATCHES.into_iter().zip(&mut lines).zip(&mut shares) {
                    let decoded = speed::decoded(&mut engine, shape, batch)?;
                    *line = format!("{line} {:>8.3}", decoded.ms);
                    *share = share.max(decoded.share);
                    asked.add(&json!({
                        "side": "engine", "section": "ways", "model": shape.name, "batch": batch, "adapter": name,
                        "way": way.name(), "ms_per_step": decoded.ms, "of_bandwidth": decoded.share,
                    }));
                }
                choices(&engine);
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

/// What trying cuBLAS's algorithms has found, where that was the way.
fn choices(engine: &Engine) {
    for choice in engine.decode_choices() {
        let [rows, columns, length] = choice.size;
        let Choice {
            products,
            tried,
            usual_us,
            fastest_us,
            ..
        } = choice;
        println!(
            "   {rows:>4} x {columns:>6} x {length:>5}, {products:>2} a step: {usual_us:>7.2} us as it is, {fastest_us:>7.2} by the fastest of {tried}"
        );
    }
}

/// What every setting is measured at: an adapter and a number of answers.
const TUNED: [(&str, With, usize); 4] = [
    ("none", With::Nothing, 1),
    ("none", With::Nothing, 64),
    ("r16", With::Trained, 1),
    ("r16", With::Trained, 64),
];

/// Milliseconds a step of the chained way with several settings of its constants, best first.
pub(crate) fn tune(asked: &Asked) -> Outcome {
    let lora = speed::lora();
    for shape in asked.shapes(2) {
        let mut engine = Engine::random(&shape.config(), Some(&lora), Precision::Bf16)?;
        let mut found = TUNED.map(|_| Vec::new());
        for setting in SETTINGS {
            engine.set_decode_way(DecodeWay::Chained, Tuning::default().set(setting)?)?;
            for ((name, with, batch), found) in TUNED.into_iter().zip(&mut found) {
                // One that does not fit the machine is no reason to lose the others.
                let ms = match speed::brief(&mut engine, with, batch) {
                    Ok(ms) => ms,
                    Err(error) => {
                        println!(
                            "   {} adapter {name}, {batch} answers, {setting}: {error}",
                            shape.name
                        );
                        continue;
                    }
                };
                println!(
                    "   {} adapter {name}, {batch} answers, {setting}: {ms:.3} ms",
                    shape.name
                );
                asked.add(&json!({
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
                println!(
                    "  {ms:>8.3} ms  {}",
                    if setting.is_empty() {
                        "as it is"
                    } else {
                        setting
                    }
                );
            }
        }
    }
    Ok(())
}

/// Clocks are noted at every place of every product, in their order; where the chained way does not serve there are none.
fn clocked(verdicts: &mut Verdicts, engine: &mut Engine, prompts: &[Vec<u32>]) -> Outcome {
    engine.set_decode_way(
        DecodeWay::Chained,
        Tuning::from_environment()?.set("clocks=1")?,
    )?;
    answers(
        engine,
        With::Nothing,
        prompts,
        1,
        &generation(PLAIN, 2, 4, &[]),
    )?;
    let backwards = |places: &Vec<[u64; 2]>| {
        places
            .windows(2)
            .filter(|pair| pair[1][0] <= pair[0][0])
            .count()
    };
    let clocks = engine.decode_clocks()?;
    let missing = clocks
        .len()
        .abs_diff(if engine.decode_way() == DecodeWay::Chained {
            CLOCKED.len()
        } else {
            0
        });
    let wrong = missing + clocks.iter().map(backwards).sum::<usize>();
    verdicts.check("clocks that do not go on", wrong as f64, 0.0);
    Ok(())
}

/// Names of the products that clocks are noted in, and of what lies between their places.
const CLOCKED: [&str; 4] = ["qkv", "o", "gate, up", "down"];
const SPANS: [&str; 6] = [
    "waiting", "rows", "products", "together", "cluster", "finish",
];

/// Where the time of the chained way's products goes, in the first block of each: cycles from place to place, and
/// nanoseconds from begin to end and to the end of the product before.
pub(crate) fn clocks() -> Outcome {
    let lora = speed::lora();
    for shape in &SHAPES[..2] {
        let mut engine = Engine::random(&shape.config(), Some(&lora), Precision::Bf16)?;
        engine.set_decode_way(
            DecodeWay::Chained,
            Tuning::from_environment()?.set("clocks=1")?,
        )?;
        for (name, with, batch) in TUNED {
            let ms = speed::brief(&mut engine, with, batch)?;
            println!(
                "{}, adapter {name}, {batch} answers: {ms:.3} ms a step with clocks",
                shape.name
            );
            print_clocks(&engine.decode_clocks()?);
        }
    }
    Ok(())
}

fn print_clocks(kinds: &[Vec<[u64; 2]>]) {
    let spans: Vec<String> = SPANS.iter().map(|span| format!("{span:>9}")).collect();
    println!(
        "  {:<9}{}    ns in all  since the end before",
        "cycles",
        spans.concat()
    );
    for (number, (kind, places)) in CLOCKED.iter().zip(kinds).enumerate() {
        let cycles: Vec<String> = places
            .windows(2)
            .map(|pair| format!("{:>9}", pair[1][0].saturating_sub(pair[0][0])))
            .collect();
        let (first, last) = (places[0][1], places[places.len() - 1][1]);
        // Attention lies between qkv and o; what was before qkv is another layer's.
        let since = number
            .checked_sub(1)
            .and_then(|before| last.checked_sub(kinds[before].last()?[1]));
        let since = since.map_or_else(String::new, |ns| ns.to_string());
        println!(
            "  {kind:<9}{}  {:>11}  {since:>20}",
            cycles.concat(),
            last.saturating_sub(first)
        );
    }
}
