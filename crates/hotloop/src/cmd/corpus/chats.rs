//! The corpus as chats with a run's prompts, which `hotloop tune` trains on.

use std::io::Write;

use hotloop_corpus::{Options, Program, Rng};
use hotloop_flow::policy::Chat;
use hotloop_flow::random::Random;
use hotloop_flow::{Role, Stage};
use serde_json::json;

use super::cuda_chats;
use super::lesson::{Lesson, prose};
use crate::cli::corpus::ChatsArgs;
use crate::cmd::judge::load;
use crate::failure::{Failure, Status};
use crate::nano;
use crate::output::{count, say};
use crate::progress::Progress;

/// Percentage of chats that show a relative of the answer instead of the seed.
const WITH_PARENT: usize = 40;
/// Percentage of those in which the answer may use a technique that the relative lacks.
const DEEPENING: usize = 50;
/// Random streams for relatives and for `register`. They differ from those that drew the
/// candidates.
const STREAM: u64 = 2000;
const REGISTERS: u64 = 2001;

pub(super) fn write(arguments: &ChatsArgs) -> Result<Status, Failure> {
    let is_cuda = cuda_chats::knows(&arguments.task);
    if !is_cuda {
        nano::check_name(&arguments.task)?;
    }
    let task = load(&arguments.task)?;
    let unwritable = |error: std::io::Error| {
        Failure::user(error.to_string())
            .hint("name another file with --out")
            .of_file(error.kind())
    };
    let mut file =
        std::io::BufWriter::new(fs_err::File::create_new(&arguments.out).map_err(unwritable)?);
    let progress = Progress::spinner("drawing candidates", true);
    let (mut rng, mut registers) = (
        Rng::new(arguments.seed, STREAM),
        Rng::new(arguments.seed, REGISTERS),
    );
    let prose = prose();
    let lesson = Lesson {
        prose: &prose,
        task: &task,
    };
    let limit = arguments.count as usize;
    if is_cuda {
        let sources = cuda_chats::sources(&task, arguments.seed, limit);
        let chats = sources
            .iter()
            .map(|(source, stage)| cuda_chats::chat(&lesson, source, *stage));
        let written = put(&mut file, chats).map_err(unwritable)?;
        drop(progress);
        return Ok(told(written, arguments));
    }
    let programs = programs(&arguments.task, arguments.seed);
    let chats = programs.iter().filter_map(|program| {
        let in_registers = program
            .in_registers()
            .filter(|_| registers.percent(arguments.registers as usize));
        let source = in_registers.unwrap_or_else(|| program.source());
        chat(&lesson, (program, &source), parent(program, &mut rng))
    });
    let written = put(&mut file, chats.take(limit)).map_err(unwritable)?;
    drop(progress);
    Ok(told(written, arguments))
}

/// Writes chats, and returns how many there were.
fn put(file: &mut impl Write, chats: impl Iterator<Item = Chat>) -> std::io::Result<usize> {
    let mut written = 0;
    for chat in chats {
        writeln!(file, "{}", json!({ "messages": chat.messages }))?;
        written += 1;
    }
    file.flush()?;
    Ok(written)
}

fn told(written: usize, arguments: &ChatsArgs) -> Status {
    say(&format!(
        "{}: {}",
        count(written, "chat"),
        arguments.out.display()
    ));
    Status::Fine
}

/// The corpus's candidates for a task, in the order in which chats use them.
pub(super) fn programs(task: &str, seed: u64) -> Vec<Program> {
    let pool = hotloop_corpus::Pool::draw_task(seed, Options::STANDARD.programs, task);
    let mut programs: Vec<Program> = pool.programs().copied().collect();
    Random::new(seed).shuffle(&mut programs);
    programs
}

/// The parent in a chat whose answer is `program`: a relative from the same or an earlier stage, or
/// the seed.
fn parent(program: &Program, rng: &mut Rng) -> Option<(Role, Program)> {
    if !rng.percent(WITH_PARENT) {
        return None;
    }
    let stage = program.stage();
    let fits = |relative: &Program| body(&relative.source()).is_some();
    if stage > hotloop_flow::language::c::stages::REGISTER_BLOCKING && rng.percent(DEEPENING) {
        let earlier = program.relative(rng, |relative| relative.stage() < stage && fits(relative));
        return earlier.map(|relative| (Role::Deepen, relative));
    }
    let same = program.relative(rng, |relative| relative.stage() == stage && fits(relative));
    same.map(|relative| (Role::Improve, relative))
}

/// The code after the signature, because runs begin answers with the signature. The bench includes
/// every header that the corpus uses, and types can be declared within the function. Candidates
/// with anything else before the signature are left out.
pub(super) fn body(source: &str) -> Option<String> {
    let (before, body) = source.split_once("{\n")?;
    let before = before
        .rsplit_once('\n')
        .map_or("", |(before, _signature)| before);
    let mut inner = String::new();
    for line in before.lines() {
        if line.starts_with("typedef ") {
            inner.extend([" ", line, "\n"]);
        } else if !line.starts_with("#include") {
            return None;
        }
    }
    Some(inner + body)
}

/// A prompt with the candidate in the form of `source` as its answer; `None` for candidates that
/// cannot follow the signature.
fn chat(
    lesson: &Lesson<'_>,
    (program, source): (&Program, &str),
    parent: Option<(Role, Program)>,
) -> Option<Chat> {
    let (role, shown) = match parent {
        Some((role, relative)) => (role, written(lesson, relative.stage(), &relative.source())?),
        None => (Role::Explore, lesson.task.seed.clone()),
    };
    let stage = program.stage();
    Some(lesson.answered(stage, role, &shown, &written(lesson, stage, source)?))
}

/// The candidate as the text of an answer at its stage.
fn written(lesson: &Lesson<'_>, stage: Stage, source: &str) -> Option<String> {
    let begun = lesson.asked(stage, Role::Explore, "").begun;
    Some(format!(
        "{}{}",
        begun.trim_start_matches("```c\n"),
        indented(&body(source)?)
    ))
}

/// Canonical code indents by one space per level. Language models write four.
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
    use hotloop_flow::Device;
    use hotloop_flow::prompt::{Prose, Wording};

    use super::*;

    /// A candidate, what its chat shows, and the chat.
    type Taught = (Program, Option<(Role, Program)>, Option<Chat>);

    /// The chats of the corpus's first `count` candidates for `matmul`.
    fn chats(count: usize) -> Vec<Taught> {
        let task = load("matmul").expect("it is shipped");
        let prose = Prose {
            wording: Wording::default(),
            begin: true,
            device: Device::with_vectors("avx512"),
        };
        let lesson = Lesson {
            prose: &prose,
            task: &task,
        };
        let mut rng = Rng::new(1, STREAM);
        let pool = hotloop_corpus::Pool::draw_task(1, count, "matmul");
        let chat = |program: &Program| {
            let parent = parent(program, &mut rng);
            (
                *program,
                parent,
                super::chat(&lesson, (program, &program.source()), parent),
            )
        };
        pool.programs().map(chat).collect()
    }

    #[test]
    fn an_answer_is_the_candidate_as_a_run_begins_it() {
        let task = load("matmul").expect("it is shipped");
        for (program, _, chat) in chats(600) {
            let Some(chat) = chat else { continue };
            let answer = &chat.messages.last().expect("an answer").content;
            assert!(
                answer.starts_with(&chat.begun) && answer.ends_with("}\n```"),
                "{answer}"
            );
            let found =
                hotloop_flow::Candidate::extract(answer, &task).expect("it holds a candidate");
            let canonical = hotloop_corpus::canonical(found.source());
            assert!(
                canonical.ends_with(program.source().split_once("{\n").expect("a body").1),
                "{canonical}"
            );
        }
    }

    #[test]
    fn every_technique_of_the_corpus_is_taught() {
        let chats = chats(600);
        let answers: Vec<&str> = (chats.iter().filter_map(|(_, _, chat)| chat.as_ref()))
            .map(|chat| chat.messages.last().expect("an answer").content.as_str())
            .collect();
        assert!(
            answers.len() * 100 > chats.len() * 95,
            "{} of {} can be begun",
            answers.len(),
            chats.len()
        );
        for word in [
            "_mm512_fmadd_pd",
            "vector_size(64)",
            "#pragma omp parallel",
            "__builtin_prefetch",
            "memset(",
        ] {
            assert!(
                answers.iter().any(|answer| answer.contains(word)),
                "no answer has {word}"
            );
        }
    }

    #[test]
    fn register_is_used_where_an_unoptimised_tile_benefits() {
        let task = load("matmul").expect("it is shipped");
        let prose = Prose {
            wording: Wording::default(),
            begin: true,
            device: Device::with_vectors("avx512"),
        };
        let lesson = Lesson {
            prose: &prose,
            task: &task,
        };
        let pool = hotloop_corpus::Pool::draw_task(1, 600, "matmul");
        let tiles: Vec<_> = pool
            .programs()
            .filter_map(|tile| Some((tile, tile.in_registers()?)))
            .collect();
        assert!(tiles.len() > 20, "{}", tiles.len());
        for (tile, source) in tiles {
            let Some(chat) = super::chat(&lesson, (tile, &source), None) else {
                continue;
            };
            let answer = &chat.messages.last().expect("an answer").content;
            let found =
                hotloop_flow::Candidate::extract(answer, &task).expect("it holds a candidate");
            assert!(found.source().contains("register "), "{}", found.source());
            let told = |source: &str| {
                hotloop_corpus::nearest::Tokens::of(source)
                    .distance(&hotloop_corpus::nearest::Tokens::of(&tile.source()))
            };
            assert!(told(&source).written == 0.0, "the word is not counted");
        }
    }

    #[test]
    fn parents_are_relatives_within_the_rules_of_their_stage() {
        let mut seen = [0; 2];
        for (program, parent, chat) in chats(300) {
            let (Some((role, relative)), Some(chat)) = (parent, chat) else {
                continue;
            };
            let asked = &chat.messages[1].content;
            let shown = indented(&body(&relative.source()).expect("it has one"));
            assert!(asked.contains(shown.trim_end()), "{asked}");
            match role {
                Role::Deepen => assert!(relative.stage() < program.stage()),
                _ => assert_eq!(relative.stage(), program.stage()),
            }
            seen[usize::from(role == Role::Deepen)] += 1;
        }
        assert!(seen.iter().all(|count| *count > 10), "{seen:?}");
    }
}
