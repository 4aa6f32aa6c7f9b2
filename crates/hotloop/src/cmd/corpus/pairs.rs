//! `hotloop corpus pairs`: slow and fast CUDA from suites of benchmarks.

use hotloop_corpus::pairs::{
    self, BuildError, Built, Compile, Options, Own, Summary, Tools, Writer,
};
use hotloop_flow::Sampling;
use hotloop_flow::policy::{Chat, Message, Policy, Speaker};
use hotloop_policy::text::Text;

use crate::cli::pairs::PairsArgs;
use crate::failure::{Failure, Status};
use crate::models;
use crate::nvrtc::Nvrtc;
use crate::output::table::Table;
use crate::output::{count, say, say_json};
use crate::progress::Progress;
use crate::runs;
use crate::stop::Stop;

/// The most tokens of a slow version.
const WRITTEN_TOKENS: u32 = 4096;

pub(super) fn write(arguments: &PairsArgs) -> Result<Status, Failure> {
    if arguments.out.exists() {
        let what = format!("{}: it already exists", arguments.out.display());
        return Err(Failure::user(what).hint("name another with --out"));
    }
    let options = options(arguments)?;
    let stop = Stop::listen()?;
    let text = tokenizer(arguments)?;
    let tokens = |source: &str| match &text {
        Some(text) => text.encode(source).len(),
        None => plain_tokens(source),
    };
    let mut writer = arguments
        .writer
        .as_ref()
        .map(|model| open_writer(arguments, model, &stop))
        .transpose()?;
    let mut compiler = if arguments.no_compile {
        None
    } else {
        Nvrtc::find(arguments.arch)
    };
    if compiler.is_none() && arguments.arch.is_some() {
        return Err(Failure::machine(
            "NVRTC is not on this machine, or does not know this architecture",
        )
        .hint("`pip install nvidia-cuda-nvrtc` and set LD_LIBRARY_PATH, or leave --arch out"));
    }
    let progress = Progress::spinner("reading", !arguments.json);
    let tools = Tools {
        compiler: compiler
            .as_mut()
            .map(|compiler| compiler as &mut dyn Compile),
        writer: writer.as_mut().map(|writer| writer as &mut dyn Writer),
        tokens: &tokens,
        progress: &|what| progress.message(what.to_owned()),
    };
    let built = pairs::build(&options, tools).map_err(|error| failed(&error))?;
    drop(progress);
    pairs::write(&built, &arguments.out).map_err(|error| {
        Failure::user(error.to_string())
            .hint("name another folder with --out")
            .of_file(error.kind())
    })?;
    if arguments.json {
        say_json(&built.summary);
    } else {
        say(&told(&built, arguments));
    }
    Ok(Status::Fine)
}

fn options(arguments: &PairsArgs) -> Result<Options, Failure> {
    let own = match (&arguments.slow, &arguments.fast, &arguments.list) {
        (Some(slow), Some(fast), _) => Some(Own::Folders {
            slow: slow.clone(),
            fast: fast.clone(),
        }),
        (_, _, Some(list)) => Some(Own::List(list.clone())),
        _ => None,
    };
    if arguments.parboil.is_none() && arguments.rodinia.is_none() && own.is_none() {
        return Err(Failure::user("no suite and no pairs are named")
            .hint("name a folder with --parboil or --rodinia, two with --slow and --fast, or a file with --list"));
    }
    Ok(Options {
        parboil: arguments.parboil.clone(),
        rodinia: arguments.rodinia.clone(),
        own,
        paper: arguments.paper,
        held_out: usize::from(arguments.held_out),
        seed: arguments.seed,
        max_tokens: arguments.max_tokens,
        tokens_by: match &arguments.tokenizer {
            Some(model) => format!("the tokenizer of {model}"),
            None => "words and signs, without a model's tokenizer".to_owned(),
        },
    })
}

fn tokenizer(arguments: &PairsArgs) -> Result<Option<Text>, Failure> {
    let Some(model) = &arguments.tokenizer else {
        return Ok(None);
    };
    let place = models::find(model)?;
    // A folder with a tokenizer alone is enough.
    let path = place.path();
    let text = if path.join("config.json").exists() || !path.is_dir() {
        models::open(&path)?.text()
    } else {
        Text::from_directory(&path)
    };
    text.map(Some).map_err(|error| models::unreadable(&error))
}

/// Words and signs, each as one token.
fn plain_tokens(source: &str) -> usize {
    let mut count = 0;
    let mut within = false;
    for letter in source.chars() {
        let is_word = letter.is_alphanumeric() || letter == '_';
        let goes_on = is_word && within;
        count += usize::from(!(letter.is_whitespace() || goes_on));
        within = is_word;
    }
    count
}

fn failed(error: &BuildError) -> Failure {
    match error {
        BuildError::Tree(_) => Failure::user(error.to_string()).hint(
            "--parboil and --rodinia take folders in the suites' own layouts; --slow and --fast take any two",
        ),
        BuildError::Empty(_) => Failure::user(error.to_string())
            .hint("a pair needs a kernel with a body on both sides"),
        BuildError::Compiler(_) => Failure::machine(error.to_string())
            .hint("--no-compile builds without a compiler"),
        BuildError::Writer(_) => Failure::machine(error.to_string()),
    }
}

fn told(built: &Built, arguments: &PairsArgs) -> String {
    let Summary {
        apps,
        apps_with_both,
        same_named,
        considered,
        dropped,
        kept,
        identical,
        kernels_slow,
        kernels_fast,
        compiled,
        ..
    } = built.summary;
    let mut table = Table::new().left("what").right("count");
    let mut row = |what: &str, count: usize| {
        if count > 0 {
            table.row([what, &count.to_string()]);
        }
    };
    row("applications with CUDA", apps);
    row("  with a naive version, too", apps_with_both);
    row("pairs of files of the same name", same_named);
    row("pairs considered", considered);
    row("  dropped", dropped);
    row("  equal after normalising", identical);
    row("  kept", kept);
    row("kernels on the slow side", kernels_slow);
    row("kernels on the fast side", kernels_fast);
    row("kept pairs that compile", compiled.unwrap_or(0));
    if let Some(rodinia) = &built.summary.rodinia {
        row("optimised files with a kernel", rodinia.files_with_kernel);
        row("  with a derived slow side", rodinia.kept);
        row(
            "  of which both sides compile",
            rodinia.compiled.unwrap_or(0),
        );
    }
    let summary = &built.summary;
    row("chats over the limit of tokens", summary.too_long);
    let compiler = match &summary.compiler {
        Some(name) => format!(
            "{name} compiles {} of {} kernel files",
            summary.units.compiled.unwrap_or(0),
            summary.units.of
        ),
        None => "nothing was compiled: NVRTC is not on this machine".to_owned(),
    };
    format!(
        "{}\n{compiler}\n{} to learn, {} held out ({}), {} left out with a reason: {}",
        table.render(),
        count(summary.train, "record"),
        summary.held_out,
        summary.held_out_benchmarks.join(", "),
        count(summary.left_out, "file"),
        arguments.out.display()
    )
}

/// A policy that writes slow versions.
struct Author {
    policy: Box<dyn Policy>,
    name: String,
    seed: u64,
}

fn open_writer(arguments: &PairsArgs, model: &str, stop: &Stop) -> Result<Author, Failure> {
    let device = hotloop_policy::Device::Auto;
    Ok(Author {
        policy: runs::answering(model, arguments.writer_adapter.as_deref(), device, stop)?,
        name: model.to_owned(),
        seed: arguments.seed,
    })
}

/// What the writer is told.
const WRITER: &str = "You rewrite optimised CUDA kernels as the naive versions that they came from. Keep the name and \
the parameters of every kernel, and what it computes for every input. Make it slower and simpler: use global memory \
where it stages data in shared memory, access memory without care for coalescing, leave loops rolled, use no vector \
loads, no intrinsics and no textures. Keep types, macros and helpers that are still used. Answer with one complete \
code block.";

impl Writer for Author {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn slower(&mut self, fast: &str) -> Result<Option<String>, String> {
        let message = |role, content: String| Message { role, content };
        let chat = Chat {
            messages: vec![
                message(Speaker::System, WRITER.to_owned()),
                message(
                    Speaker::User,
                    format!(
                        "The optimised version:\n\n```cuda\n{}\n```\n",
                        fast.trim_end()
                    ),
                ),
            ],
            begun: String::new(),
        };
        let sampling = Sampling {
            temperature: 0.0,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
            max_tokens: WRITTEN_TOKENS,
            stop: Vec::new(),
            seed: self.seed,
        };
        match self.policy.sample(&[chat], 1, &sampling) {
            Ok(answers) => Ok(answers.first().and_then(|answer| block(&answer.text))),
            // A kernel that is too long for this model is no failure of the model.
            Err(hotloop_flow::PolicyError::ContextExceeded { .. }) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The last code block of an answer, after its reasoning.
fn block(answer: &str) -> Option<String> {
    let answer = hotloop_flow::language::reasoning::answer(answer);
    let last = answer.split("```").skip(1).step_by(2).last()?;
    let (_, code) = last.split_once('\n')?;
    (!code.trim().is_empty()).then(|| format!("{}\n", code.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_signs_are_counted() {
        assert_eq!(plain_tokens("int a_1 = b[2];\n"), 8);
        assert_eq!(plain_tokens(""), 0);
    }

    #[test]
    fn the_last_block_after_the_reasoning_counts() {
        let answer = "<think>```cuda\nno\n```</think>Here:\n```cuda\none\n```\nor\n```\ntwo\n```\n";
        assert_eq!(block(answer).as_deref(), Some("two\n"));
        assert_eq!(block("prose"), None);
    }
}
