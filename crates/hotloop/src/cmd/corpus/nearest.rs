//! The distance of programs from the corpus, which shows whether a policy found or memorised them.

use hotloop_corpus::nearest::{Tokens, nearest};
use serde_json::json;

use super::{chats, cuda_chats};
use crate::cli::corpus::NearestArgs;
use crate::cmd::judge::load;
use crate::failure::{Failure, Status};
use crate::nano;
use crate::output::table::Table;
use crate::output::{count, say, say_json};
use crate::progress::Progress;

/// Candidates of a CUDA task that files are compared with, unless a number is named.
const CUDA_PROGRAMS: usize = 4000;

/// Prints the nearest candidate of the corpus for each file.
pub(super) fn run(arguments: &NearestArgs) -> Result<Status, Failure> {
    if !cuda_chats::knows(&arguments.task) {
        nano::check_name(&arguments.task)?;
    }
    let programs: Vec<(String, Tokens)> = arguments
        .file
        .iter()
        .map(|file| read(file))
        .collect::<Result<_, _>>()?;
    let progress = Progress::spinner("drawing candidates", !arguments.json);
    let items = items(arguments)?;
    let tokens: Vec<Tokens> = items.iter().map(|(source, _)| Tokens::of(source)).collect();
    progress.message("comparing");
    let mut table = Table::new()
        .left("file")
        .right("tokens")
        .right("distance")
        .right("as written")
        .left("nearest");
    let mut nearest_sources = Vec::new();
    for (name, program) in &programs {
        let (at, distance) =
            nearest(program, &tokens).ok_or_else(|| Failure::user("the corpus is empty"))?;
        let (source, stage) = &items[at];
        if arguments.json {
            let line = json!({
                "file": name, "task": arguments.task, "tokens": program.len(), "compared": items.len(),
                "distance": distance.nameless, "as_written": distance.written,
                "nearest": source, "nearest_tokens": tokens[at].len(), "nearest_stage": stage,
            });
            if !progress.aside(|| say_json(&line)) {
                return Ok(Status::Fine);
            }
            continue;
        }
        let cells = [
            program.len().to_string(),
            shown(distance.nameless),
            shown(distance.written),
        ];
        table.row(
            [name.clone()]
                .into_iter()
                .chain(cells)
                .chain([format!("stage {stage}")]),
        );
        nearest_sources.push(format!("nearest to {name}:\n{source}"));
    }
    drop(progress);
    if !arguments.json {
        let compared = count(items.len(), "candidate");
        say(&format!(
            "{}\ncompared: {compared}\n\n{}",
            table.render(),
            nearest_sources.join("\n")
        ));
    }
    Ok(Status::Fine)
}

fn shown(distance: f64) -> String {
    format!("{distance:.3}")
}

fn read(file: &std::path::Path) -> Result<(String, Tokens), Failure> {
    let name = file.display().to_string();
    let bytes = fs_err::read(file).map_err(|error| Failure::user(error.to_string()))?;
    let tokens = Tokens::of(&String::from_utf8_lossy(&bytes));
    if tokens.is_empty() {
        return Err(Failure::user(format!("{name}: there is no code in it")));
    }
    Ok((name, tokens))
}

/// The sources to compare the files with, and their stages.
fn items(arguments: &NearestArgs) -> Result<Vec<(String, u8)>, Failure> {
    if cuda_chats::knows(&arguments.task) {
        let task = load(&arguments.task)?;
        let count = arguments
            .count
            .map_or(CUDA_PROGRAMS, |count| count as usize);
        let sources = cuda_chats::sources(&task, arguments.seed, count);
        let numbered = sources
            .into_iter()
            .map(|(source, stage)| (source, stage.number()));
        return Ok(numbered.collect());
    }
    let programs = chats::programs(&arguments.task, arguments.seed);
    let sources = programs
        .iter()
        .map(|program| (program.source(), program.stage().number()));
    Ok(match arguments.count {
        Some(count) => sources
            .filter(|(source, _)| chats::body(source).is_some())
            .take(count as usize)
            .collect(),
        None => sources.collect(),
    })
}
