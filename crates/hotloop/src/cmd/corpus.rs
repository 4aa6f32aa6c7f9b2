//! `hotloop corpus`: the synthetic corpus, and the nano policy trained on it.

mod chats;
mod cuda_chats;
mod lesson;
mod nearest;
mod pairs;
mod pairs_run;
mod taught;
mod teach;
mod winners;

use std::path::Path;
use std::time::Instant;

use hotloop_corpus::{Manifest, Options, Record};
use hotloop_policy::engine::{Engine, Learning, Settings};
use hotloop_policy::model::Weights;
use hotloop_policy::pack::Sequence;
use hotloop_policy::save::Storage;
use hotloop_policy::text::{Text, Turn};
use hotloop_policy::train::{Decay, Schedule};
use hotloop_policy::tune::{Lessons, pair};

use crate::cli::corpus::{CorpusArgs, CorpusCommand, DrawnArgs, NanoArgs, SynthArgs};
use crate::failure::{Failure, Status};
use crate::output::table::Table;
use crate::output::{count, say, say_json};
use crate::progress::Progress;
use crate::stop::Stop;
use crate::tuning;
use crate::{models, nano};

/// Tokens in one step of pre-training.
const BATCH_TOKENS: usize = 1 << 16;
/// Steps over which the rate rises.
const WARM_UP: u64 = 100;
/// Weight decay on all weights, because there are more examples than the model can memorise.
const WEIGHT_DECAY: f64 = 0.05;

/// Makes a corpus or the nano policy.
pub(crate) fn run(arguments: &CorpusArgs) -> Result<Status, Failure> {
    match &arguments.command {
        CorpusCommand::Synth(arguments) => synth(arguments),
        CorpusCommand::Chats(arguments) => chats::write(arguments),
        CorpusCommand::Winners(arguments) => winners::write(arguments),
        CorpusCommand::Pairs(arguments) => pairs::write(arguments),
        CorpusCommand::PairsRun(arguments) => pairs_run::run(arguments),
        CorpusCommand::Teach(arguments) => teach::run(arguments),
        CorpusCommand::Nearest(arguments) => nearest::run(arguments),
        CorpusCommand::Nano(arguments) => pretrain(arguments),
    }
}

fn synth(arguments: &SynthArgs) -> Result<Status, Failure> {
    vacant(&arguments.out)?;
    let progress = Progress::spinner("drawing candidates", !arguments.json);
    let manifest =
        hotloop_corpus::write(&options(&arguments.drawn), &arguments.out).map_err(|error| {
            Failure::user(error.to_string())
                .hint("name another folder with --out")
                .of_file(error.source.kind())
        })?;
    drop(progress);
    if arguments.json {
        say_json(&manifest);
    } else {
        say(&told(&manifest, &arguments.out));
    }
    Ok(Status::Fine)
}

fn options(drawn: &DrawnArgs) -> Options {
    let standard = Options::STANDARD;
    Options {
        seed: drawn.seed,
        programs: drawn.programs.unwrap_or(standard.programs),
        records: drawn.records.unwrap_or(standard.records),
        ..standard
    }
}

/// Checks that a folder does not exist yet.
fn vacant(folder: &Path) -> Result<(), Failure> {
    if folder.exists() {
        return Err(
            Failure::user(format!("{}: it already exists", folder.display()))
                .hint("name another with --out"),
        );
    }
    Ok(())
}

fn told(manifest: &Manifest, folder: &Path) -> String {
    let mut table = Table::new().left("part").right("records");
    for (part, records) in &manifest.counts {
        table.row([part.as_str(), &records.to_string()]);
    }
    format!(
        "{}\n{} of {:.0} tokens on average, {} at most\n{} to learn, {} held out: {}",
        table.render(),
        count(manifest.programs, "distinct candidate"),
        manifest.tokens.mean,
        manifest.tokens.max,
        count(manifest.train, "record"),
        manifest.validation,
        folder.display()
    )
}

fn pretrain(arguments: &NanoArgs) -> Result<Status, Failure> {
    vacant(&arguments.out)?;
    let stop = Stop::listen()?;
    let progress = Progress::spinner("drawing candidates", true);
    let options = options(&arguments.drawn);
    let records = hotloop_corpus::synth(&options);
    let bpe = hotloop_corpus::tokenizer(records.pool());
    let (validation, training): (Vec<Record>, Vec<Record>) =
        records.partition(|record| record.is_validation(options.validation_percent));
    progress.message("preparing the model");
    let mut engine = fresh(&bpe, arguments)?;
    progress.message("cutting examples into tokens");
    let mut lessons = Lessons {
        examples: examples(&engine, &training)?,
        origins: (1..=training.len())
            .map(|number| format!("record {number}"))
            .collect(),
        held_out: examples(&engine, &validation)?,
        batch_tokens: BATCH_TOKENS,
        batch_examples: usize::MAX,
        patience: None,
        epochs: arguments.epochs,
        seed: arguments.drawn.seed,
    };
    drop((training, validation, progress));
    if lessons.examples.is_empty() {
        return Err(Failure::user("there is nothing to learn from").hint("ask for more --records"));
    }
    // Neighbouring held-out records come from one bucket. A stride covers all buckets.
    let every = (lessons.held_out.len() / 512).max(1);
    lessons.held_out = lessons.held_out.into_iter().step_by(every).collect();
    engine.set_schedule(Schedule {
        peak: arguments.rate,
        warmup: WARM_UP.min(lessons.steps() / 10),
        decay: Decay::Cosine {
            total: lessons.steps(),
        },
    });
    let began = Instant::now();
    let tuned = tuning::tune(&mut engine, &lessons, &arguments.out, &stop, false)?;
    if tuned.stopped {
        return Err(Failure::interrupted());
    }
    engine
        .save_model(&arguments.out, Storage::Bf16)
        .map_err(|error| models::engine_failure(&error))?;
    say(&format!(
        "{}, {:.1} M tokens in {:.0} s; held-out loss {:.4} -> {:.4}: {}",
        count(tuned.steps as usize, "step"),
        tuned.tokens as f64 / 1e6,
        began.elapsed().as_secs_f64(),
        tuned.before.unwrap_or(f64::NAN),
        tuned.after.unwrap_or(f64::NAN),
        arguments.out.display()
    ));
    Ok(Status::Fine)
}

/// An untrained nano policy with the corpus's vocabulary.
fn fresh(bpe: &hotloop_corpus::bpe::Bpe, arguments: &NanoArgs) -> Result<Engine, Failure> {
    let json = bpe.tokenizer_json().to_string();
    let text = Text::new(
        json,
        nano::TEMPLATE.to_owned(),
        hotloop_corpus::nano_prompt::END.to_owned(),
    )
    .map_err(|why| {
        Failure::machine(format!("the corpus's vocabulary is not a tokenizer: {why}"))
    })?;
    let end = text.encode(hotloop_corpus::nano_prompt::END);
    let [end] = end[..] else {
        return Err(Failure::machine("the end token is not one token"));
    };
    let config = nano::shape(bpe.len(), end);
    let weights = Weights::random(&config, arguments.drawn.seed);
    let mut settings = Settings::answering(0, arguments.device);
    settings.learning = Learning::Full;
    settings.training.optim.beta2 = 0.95;
    settings.training.optim.weight_decay = WEIGHT_DECAY;
    settings.training.seed = arguments.drawn.seed;
    Engine::new(config, weights, text, nano::NAME.to_owned(), settings)
        .map_err(|error| models::engine_failure(&error))
}

fn examples(engine: &Engine, records: &[Record]) -> Result<Vec<Sequence>, Failure> {
    let chats: Vec<Vec<Turn>> = records
        .iter()
        .map(|record| pair(&record.prompt, &record.answer))
        .collect();
    engine
        .examples(&chats)
        .map_err(|error| models::engine_failure(&error))
}
