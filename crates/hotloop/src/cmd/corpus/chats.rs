//! The corpus in the words of a run: what `hotloop tune` teaches a language model.

use std::io::Write;

use corpus::{Options, Program};
use flow::policy::{Chat, Message, Speaker};
use flow::prompt::{Ask, Prose, Shown, Wording};
use flow::random::Random;
use flow::{Render, Role, Stage, Task};
use serde_json::json;

use crate::cli::corpus::ChatsArgs;
use crate::cmd::judge::load;
use crate::failure::{Failure, Status};
use crate::nano;
use crate::output::say;
use crate::progress::Progress;

/// Percent of the chats that show another candidate instead of the seed.
const WITH_PARENT: usize = 40;

/// Writes chats.
pub(super) fn write(arguments: &ChatsArgs) -> Result<Status, Failure> {
    nano::check(&arguments.task)?;
    let task = load(&arguments.task)?;
    let unwritable = |error: std::io::Error| Failure::user(error.to_string()).hint("name another file with --out");
    let mut file = std::io::BufWriter::new(fs_err::File::create_new(&arguments.out).map_err(unwritable)?);
    let progress = Progress::spinner("drawing candidates", true);
    let mut random = Random::new(arguments.seed);
    let programs = programs(&arguments.task, arguments.seed, &mut random);
    let prose = Prose { wording: Wording::default(), begin: true, simd: bench::survey::simd().to_owned() };
    let mut written = 0;
    for (at, program) in programs.iter().enumerate() {
        if written == arguments.count {
            break;
        }
        let other = &programs[(at + 1) % programs.len()];
        let parent = (random.below(100) < WITH_PARENT && other.stage() <= program.stage()).then(|| other.source());
        let Some(chat) = example(&prose, &task, program, parent.as_deref()) else { continue };
        writeln!(file, "{}", json!({ "messages": chat.messages })).map_err(unwritable)?;
        written += 1;
    }
    file.flush().map_err(unwritable)?;
    drop(progress);
    say(&format!("{written} chats: {}", arguments.out.display()));
    Ok(Status::Fine)
}

/// The corpus's candidates of a task, in the order in which chats take them.
pub(super) fn programs(task: &str, seed: u64, random: &mut Random) -> Vec<Program> {
    let pool = corpus::Pool::draw_task(seed, Options::STANDARD.programs, task);
    let mut programs: Vec<Program> = pool.programs().copied().collect();
    random.shuffle(&mut programs);
    programs
}

/// What follows the signature, for candidates that put nothing before their function.
pub(super) fn body(source: &str) -> Option<&str> {
    let (before, body) = source.split_once("{\n")?;
    (!before.contains(['#', ';', '}'])).then_some(body)
}

/// A prompt and the candidate as its answer. None for candidates that put something before their function:
/// runs begin answers with its signature.
fn example(prose: &Prose, task: &Task, program: &Program, parent: Option<&str>) -> Option<Chat> {
    let stage = program.stage();
    let role = match parent {
        Some(_) if stage > Stage::RegisterBlocking => Role::Deepen,
        Some(_) => Role::Improve,
        None => Role::Explore,
    };
    let shown = Shown { source: parent.unwrap_or(&task.seed), verdict: None };
    let mut chat = prose.chat(&Ask { task, role, stage: Some(stage), variant: 0, parent: Some(shown) });
    let source = program.source();
    let content = format!("{}{}```", chat.begun, indented(body(&source)?));
    chat.messages.push(Message { role: Speaker::Assistant, content });
    Some(chat)
}

/// Canonical code indents by one blank a level; language models write four.
fn indented(body: &str) -> String {
    let line = |line: &str| {
        let code = line.trim_start_matches(' ');
        let depth = line.len() - code.len();
        format!("{}{code}\n", "    ".repeat(depth))
    };
    body.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_the_candidate_as_a_run_begins_it() {
        let task = load("matmul").expect("it is shipped");
        let prose = Prose { wording: Wording::default(), begin: true, simd: "avx512".to_owned() };
        let options = Options { programs: 400, records: 0, ..Options::STANDARD };
        let made = corpus::synth(&options);
        let mut seen = 0;
        for program in made.pool().programs().filter(|program| program.task() == "matmul") {
            let Some(chat) = example(&prose, &task, program, None) else { continue };
            let answer = &chat.messages.last().expect("an answer").content;
            assert!(answer.starts_with(&chat.begun) && answer.ends_with("}\n```"), "{answer}");
            let found = flow::Candidate::extract(answer, &task).expect("it holds a candidate");
            let canonical = corpus::canonical(&found.source);
            assert!(canonical.ends_with(program.source().split_once("{\n").expect("a body").1), "{canonical}");
            seen += 1;
        }
        assert!(seen > 50, "most candidates can be begun, but only {seen} were");
    }
}
