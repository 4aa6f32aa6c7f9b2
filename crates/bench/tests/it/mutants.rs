//! Hides cheats automatically. Whatever hides them, none is correct. Honest programs stay correct
//! in the same disguise.
//!
//! A mutant counts only if it compiles without a screen. Each run judges a few of them; all of them
//! by `cargo test -p hotloop-bench --test it mutants -- --ignored --nocapture`.

mod compiler;
mod macros;
mod program;
mod shapes;
mod statements;
mod ways;
mod words;

use std::collections::BTreeMap;
use std::time::Instant;

use hotloop_flow::Label;

use crate::fixtures::{self, Fixture};
use crate::{patient, settings};
use compiler::Compiler;
use ways::{WAYS, Way};

/// Minimum number of ways in which every cheat is hidden.
const LEAST: usize = 10;

/// Number of honest programs that each way disguises in a full run.
const HONEST: usize = 6;

/// Number of cheats whose mutants are judged before a full run reports for the first time.
const AT_ONCE: usize = 20;

/// A fixture in disguise.
struct Mutant {
    fixture: Fixture,
    way: &'static str,
    of: String,
}

fn mutant(fixture: &Fixture, way: &Way) -> Option<Mutant> {
    let source = String::from_utf8_lossy(&fixture.source);
    let hidden = (way.hide)(source.trim_start_matches('\u{feff}'))?;
    Some(Mutant {
        way: way.name,
        of: fixture.name.clone(),
        fixture: Fixture {
            name: format!("{} ({})", fixture.name, way.name),
            source: hidden.into_bytes(),
            ..fixture.clone()
        },
    })
}

/// A cheat in all ways, starting with the `first`.
fn hidden(cheat: &Fixture, first: usize) -> impl Iterator<Item = Mutant> {
    let ways = WAYS.iter().cycle().skip(first % WAYS.len());
    ways.take(WAYS.len()).filter_map(|way| mutant(cheat, way))
}

/// The same on every machine and in every run.
fn draw(words: &[&str]) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for byte in words.concat().bytes() {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    state
}

/// The results of some mutants.
#[derive(Default)]
struct Tally {
    made: usize,
    compiled: BTreeMap<String, usize>,
    not_compiled: BTreeMap<&'static str, usize>,
    labels: BTreeMap<String, usize>,
    surprises: Vec<String>,
}

impl Tally {
    /// The mutants that compile.
    fn sift(&mut self, compiler: &Compiler, mutants: Vec<Mutant>) -> Vec<Fixture> {
        self.made += mutants.len();
        let sources: Vec<&[u8]> = mutants
            .iter()
            .map(|mutant| mutant.fixture.source.as_slice())
            .collect();
        let which = compiler.which_compile(&sources);
        let mut ready = Vec::new();
        for (mutant, compiles) in mutants.into_iter().zip(which) {
            if compiles {
                *self.compiled.entry(mutant.of).or_default() += 1;
                ready.push(mutant.fixture);
            } else {
                *self.not_compiled.entry(mutant.way).or_default() += 1;
            }
        }
        ready
    }

    /// For each way, the first fixture in a random order that the way can hide and that still
    /// compiles.
    fn sample(&mut self, compiler: &Compiler, fixtures: &[Fixture]) -> Vec<Fixture> {
        let mut first = |way: &Way| {
            let mut order: Vec<&Fixture> = fixtures.iter().collect();
            order.sort_by_key(|fixture| draw(&[way.name, &fixture.name]));
            order
                .into_iter()
                .filter_map(|fixture| mutant(fixture, way))
                .find_map(|mutant| self.sift(compiler, vec![mutant]).pop())
        };
        let sample: Vec<Fixture> = WAYS.iter().filter_map(&mut first).collect();
        assert_eq!(sample.len(), WAYS.len(), "every way hides something");
        sample
    }

    /// Judges mutants that compile. `expected` returns whether a label is right.
    fn judge(
        &mut self,
        settings: &hotloop_bench::Settings,
        mutants: &[Fixture],
        expected: fn(Label) -> bool,
    ) {
        for (fixture, judged) in mutants.iter().zip(fixtures::judge_each(settings, mutants)) {
            let (label, fine) = match &judged {
                Ok(judgement) => (
                    judgement.verdict.label().name().to_owned(),
                    expected(judgement.verdict.label()),
                ),
                Err(_) => ("machine error".to_owned(), false),
            };
            if !fine {
                keep(fixture);
                let why =
                    judged.map_or_else(|error| error.what, |judgement| judgement.verdict.detail());
                self.surprises
                    .push(format!("{}: {label}: {why}", fixture.name));
            }
            *self.labels.entry(label).or_default() += 1;
        }
    }

    fn judged(&self) -> usize {
        self.labels.values().sum()
    }

    fn report(&self, what: &str, since: Instant) -> String {
        format!(
            "{what}: {} made, {} compile, {} correct, {:.0} s\nverdicts: {:?}\ndo not compile: {:?}",
            self.made,
            self.judged(),
            self.labels.get("correct").unwrap_or(&0),
            since.elapsed().as_secs_f64(),
            self.labels,
            self.not_compiled
        )
    }

    fn conclude(&self) {
        assert!(
            self.judged() * 5 >= self.made * 4,
            "only {} of {} mutants compile",
            self.judged(),
            self.made
        );
        assert!(
            self.surprises.is_empty(),
            "{} surprises:\n{}",
            self.surprises.len(),
            self.surprises.join("\n")
        );
    }
}

/// Writes an unexpected mutant to the folder in `HOTLOOP_MUTANTS`, if it is set.
fn keep(fixture: &Fixture) {
    if let Some(folder) = std::env::var_os("HOTLOOP_MUTANTS") {
        let file = fixture
            .name
            .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let path = std::path::Path::new(&folder).join(file).with_extension("c");
        std::fs::write(path, &fixture.source).unwrap();
    }
}

fn not_correct(label: Label) -> bool {
    label != Label::Correct
}

fn correct(label: Label) -> bool {
    label == Label::Correct
}

/// The fixtures of a folder that compile unchanged, restricted to those that `HOTLOOP_FIXTURE`
/// names, if it is set.
fn compiling(folder: &str, compiler: &Compiler) -> Vec<Fixture> {
    let only = std::env::var("HOTLOOP_FIXTURE").unwrap_or_default();
    let mut fixtures = fixtures::load(folder);
    fixtures.retain(|fixture| fixture.name.contains(&only));
    let sources: Vec<&[u8]> = fixtures
        .iter()
        .map(|fixture| fixture.source.as_slice())
        .collect();
    let mut which = compiler.which_compile(&sources).into_iter();
    fixtures.retain(|_| which.next() == Some(true));
    fixtures
}

/// Whether the bench refuses the code itself and not its result. A disguise can help only such
/// cheats.
fn is_refused(fixture: &Fixture) -> bool {
    fixture.expect.iter().any(|label| label == "refused")
}

#[test]
fn a_sample_of_hidden_cheats_earns_nothing() {
    let (_turn, begin) = (crate::turn(), Instant::now());
    let compiler = Compiler::new();
    let mut cheats = fixtures::load("cheats");
    cheats.retain(is_refused);
    let mut tally = Tally::default();
    let sample = tally.sample(&compiler, &cheats);
    tally.judge(&settings(), &sample, not_correct);
    println!("{}", tally.report("hidden cheats", begin));
    tally.conclude();
}

#[test]
fn a_sample_of_disguised_honest_programs_is_correct() {
    let (_turn, begin) = (crate::turn(), Instant::now());
    let compiler = Compiler::new();
    let mut honest = fixtures::load("honest");
    honest.retain(|fixture| fixture.threads == 1);
    let mut tally = Tally::default();
    let sample = tally.sample(&compiler, &honest);
    tally.judge(&settings(), &sample, correct);
    println!("{}", tally.report("disguised honest programs", begin));
    tally.conclude();
}

#[test]
#[ignore = "takes most of an hour: every cheat in every disguise"]
fn no_hidden_cheat_earns_anything() {
    let (_turn, begin) = (crate::turn(), Instant::now());
    let compiler = Compiler::new();
    let mut tally = Tally::default();
    let cheats = compiling("cheats", &compiler);
    let (screened, others): (Vec<Fixture>, Vec<Fixture>) =
        cheats.iter().cloned().partition(is_refused);
    for some in screened.chunks(AT_ONCE) {
        let hidden = some.iter().flat_map(|cheat| hidden(cheat, 0)).collect();
        let hidden = tally.sift(&compiler, hidden);
        tally.judge(&settings(), &hidden, not_correct);
        println!("{}", tally.report("so far", begin));
    }
    // A third more than needed, because some do not compile.
    let some = others.iter().enumerate();
    let some = some.flat_map(|(index, cheat)| hidden(cheat, index).take(LEAST * 4 / 3));
    let some = tally.sift(&compiler, some.collect());
    tally.judge(&patient(), &some, not_correct);
    println!(
        "{}",
        tally.report(&format!("{} cheats", cheats.len()), begin)
    );
    let few: Vec<&str> = cheats
        .iter()
        .filter(|cheat| {
            tally
                .compiled
                .get(&cheat.name)
                .is_none_or(|&hidden| hidden < LEAST)
        })
        .map(|cheat| cheat.name.as_str())
        .collect();
    println!("hidden in less than {LEAST} ways: {few:?}");
    tally.conclude();
}

#[test]
#[ignore = "takes minutes: several honest programs in every disguise"]
fn disguised_honest_programs_are_correct() {
    let (_turn, begin) = (crate::turn(), Instant::now());
    let compiler = Compiler::new();
    let mut tally = Tally::default();
    let honest = compiling("honest", &compiler);
    let disguised = WAYS.iter().flat_map(|way| {
        let mut order: Vec<&Fixture> = honest.iter().collect();
        order.sort_by_key(|fixture| draw(&["honest", way.name, &fixture.name]));
        let mutants = order.into_iter().filter_map(|fixture| mutant(fixture, way));
        mutants.take(HONEST)
    });
    let disguised = tally.sift(&compiler, disguised.collect());
    tally.judge(&settings(), &disguised, correct);
    println!("{}", tally.report("disguised honest programs", begin));
    tally.conclude();
}
