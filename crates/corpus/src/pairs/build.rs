//! The whole way from trees to records.

mod fast_only;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use hotloop_flow::Language;
use hotloop_flow::language::normalise;

use super::chat::Chat;
use super::compile::Compile;
use super::describe;
use super::layout::{self, Parboil, Twins};
use super::licence::{self, Licence};
use super::own::{self, Own};
use super::record::{Compiles, Record, Suite, Summary};
use super::side::{self, Side};
use super::slow;
use super::split;
use super::tree::{LeftOut, Tree, TreeError, extension, joined, parent};
use super::unit::Outlines;

/// What is built of what.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// A tree in Parboil's layout.
    pub parboil: Option<PathBuf>,
    /// A tree in Rodinia's layout.
    pub rodinia: Option<PathBuf>,
    /// Pairs that the user made.
    pub own: Option<Own>,
    /// The paper's rule for Parboil, exactly.
    pub paper: bool,
    /// The percentage of records to hold out.
    pub held_out: usize,
    pub seed: u64,
    /// The most tokens of a chat.
    pub max_tokens: usize,
    /// What counts tokens, for the card.
    pub tokens_by: String,
}

/// Writes slow versions where taking optimisations out mechanically gives none.
pub trait Writer {
    /// The model's name.
    fn name(&self) -> String;

    /// A slower version of `fast`; `None` if the answer holds none. `Err` is the model's own
    /// failure.
    fn slower(&mut self, fast: &str) -> Result<Option<String>, String>;
}

/// What a build works with.
pub struct Tools<'a> {
    pub compiler: Option<&'a mut dyn Compile>,
    pub writer: Option<&'a mut dyn Writer>,
    /// The number of tokens in a text.
    pub tokens: &'a dyn Fn(&str) -> usize,
    /// Told what is being read.
    pub progress: &'a dyn Fn(&str),
}

/// A data set.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    pub records: Vec<Record>,
    pub left_out: Vec<LeftOut>,
    pub summary: Summary,
}

impl Built {
    /// The records that are short enough for a chat and were not dropped, with their chats.
    pub fn chats(&self) -> impl Iterator<Item = (&Record, Chat)> {
        let most = self.summary.max_tokens;
        let taught = move |record: &&Record| record.chat_tokens <= most && record.dropped.is_none();
        let records = self.records.iter().filter(taught);
        records.map(|record| (record, Chat::of(record)))
    }
}

/// A build could not be finished.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Tree(#[from] TreeError),
    #[error("the compiler failed: {0}")]
    Compiler(String),
    #[error("the writer failed: {0}")]
    Writer(String),
    #[error("there is no pair in {0}")]
    Empty(String),
}

/// Builds a data set.
pub fn build(options: &Options, tools: Tools<'_>) -> Result<Built, BuildError> {
    let mut work = Work {
        options,
        tools,
        records: Vec::new(),
        left_out: Vec::new(),
        summary: Summary {
            paper: options.paper,
            max_tokens: options.max_tokens,
            tokens_by: options.tokens_by.clone(),
            ..Summary::default()
        },
    };
    if let Some(folder) = &options.parboil {
        work.parboil(&work.open(folder)?)?;
    }
    if let Some(folder) = &options.rodinia {
        work.rodinia(&work.open(folder)?)?;
    }
    if let Some(own) = &options.own {
        work.own(own)?;
    }
    work.finish()
}

struct Work<'o, 't> {
    options: &'o Options,
    tools: Tools<'t>,
    records: Vec<Record>,
    left_out: Vec<LeftOut>,
    summary: Summary,
}

/// What a record is made of, besides its two sides.
struct About<'a> {
    suite: Suite,
    benchmark: &'a str,
    slow_file: Option<&'a str>,
    file: &'a str,
    application: Option<String>,
    licence: Licence,
    build: Vec<String>,
    steps: Vec<String>,
    writer: Option<String>,
    notes: Vec<String>,
}

impl Work<'_, '_> {
    fn open(&self, folder: &std::path::Path) -> Result<Tree, BuildError> {
        (self.tools.progress)(&format!("listing {}", folder.display()));
        Ok(Tree::open(folder)?)
    }

    fn side(&mut self, outlines: &Outlines<'_>, file: &str) -> Result<Side, BuildError> {
        (self.tools.progress)(file);
        let side = if self.options.paper {
            side::cleaned(outlines, file, &mut self.tools.compiler)
        } else {
            side::sliced(outlines, file, &mut self.tools.compiler)
        };
        side.map_err(BuildError::Compiler)
    }

    /// The sides of every file with a kernel.
    fn units(
        &mut self,
        outlines: &Outlines<'_>,
        files: &[String],
    ) -> Result<BTreeMap<String, Side>, BuildError> {
        let mut units = BTreeMap::new();
        for file in files {
            units.insert(file.clone(), self.side(outlines, file)?);
        }
        self.summary.units.of += units.len();
        if self.tools.compiler.is_some() {
            let compiled = units.values().filter(|side| side.compiled == Some(true));
            *self.summary.units.compiled.get_or_insert(0) += compiled.count();
        }
        Ok(units)
    }

    fn parboil(&mut self, tree: &Tree) -> Result<(), BuildError> {
        let layout = Parboil::of(tree)?;
        let folders = layout.folders();
        let outlines = Outlines::of(tree, &folders);
        self.note_tree(&outlines);
        let files: Vec<String> = folders
            .iter()
            .flat_map(|folder| {
                tree.files()
                    .filter(move |file| parent(file).starts_with(&**folder))
            })
            .filter(|file| extension(file) == "cu")
            .map(str::to_owned)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let kernels = with_kernel(&outlines, &files);
        let same_named = layout.same_named(tree);
        let summary = &mut self.summary;
        summary.apps += layout.with(&["cuda"]);
        summary.apps_with_both += layout.with(&["cuda", "cuda_base"]);
        summary.same_named += same_named.len();
        summary.files += files.len();
        summary.files_with_kernel += kernels.len();
        let units = self.units(&outlines, &kernels)?;
        let twins = if self.options.paper {
            same_named
        } else {
            layout.twins(&outlines)
        };
        let tree_licence = licence::of_tree(tree);
        let used: BTreeSet<String> = twins
            .iter()
            .flat_map(|twins| [twins.slow.clone(), twins.fast.clone()])
            .collect();
        self.left_out
            .extend(layout::unpaired(&outlines, &folders, &used));
        for twins in &twins {
            let app = format!("benchmarks/{}", twins.benchmark);
            let about = About {
                suite: Suite::Parboil,
                benchmark: &twins.benchmark,
                slow_file: Some(&twins.slow),
                file: &twins.fast,
                application: describe::of_application(tree, &app, &twins.benchmark),
                licence: strictest(&outlines, &tree_licence, twins),
                build: build_lines(tree, &twins.fast),
                steps: Vec::new(),
                writer: None,
                notes: Vec::new(),
            };
            self.natural(&units, twins, about);
        }
        Ok(())
    }

    /// Takes a pair of files of a suite into the records, or says why not.
    fn natural(&mut self, units: &BTreeMap<String, Side>, twins: &Twins, about: About<'_>) {
        self.summary.considered += 1;
        let (slow, fast) = (units.get(&twins.slow), units.get(&twins.fast));
        let has = |side: Option<&Side>| side.is_some_and(|side| side.kernels > 0);
        let why = match (has(slow), has(fast)) {
            (true, true) => None,
            (false, true) => Some(layout::no_kernel(" on the slow side")),
            (true, false) => Some(layout::no_kernel(" on the fast side")),
            (false, false) => Some(layout::no_kernel(" on either side")),
        };
        let (Some(slow), Some(fast), None) = (slow, fast, &why) else {
            self.summary.dropped += 1;
            let why = why.unwrap_or_default();
            self.left_out.push(LeftOut::new(&twins.fast, why));
            return;
        };
        let identical = is_same(&slow.text, &fast.text);
        self.summary.identical += usize::from(identical);
        if !self.options.paper {
            let why = if identical {
                Some("both sides are equal after normalising")
            } else if is_same(
                &describe::without_constants(&slow.text),
                &describe::without_constants(&fast.text),
            ) {
                Some("the sides differ only in the value of a constant")
            } else {
                None
            };
            if let Some(why) = why {
                self.summary.dropped += 1;
                self.left_out.push(LeftOut::new(&twins.fast, why));
                return;
            }
        }
        let summary = &mut self.summary;
        summary.kept += 1;
        summary.kernels_slow += slow.kernels;
        summary.kernels_fast += fast.kernels;
        summary.helpers_slow += slow.helpers;
        summary.helpers_fast += fast.helpers;
        if self.tools.compiler.is_some() {
            let both = slow.compiled == Some(true) && fast.compiled == Some(true);
            *summary.compiled.get_or_insert(0) += usize::from(both);
        }
        self.record(slow, fast, about);
    }

    fn own(&mut self, own: &Own) -> Result<(), BuildError> {
        let found = own::pairs(own)?;
        self.summary.sources.extend(found.sources);
        self.left_out.extend(found.left_out);
        for pair in found.pairs {
            let mut sides = Vec::new();
            for (folder, file) in [&pair.slow, &pair.fast] {
                let tree = &found.trees[*folder];
                let outlines = &Outlines::of(tree, &[parent(file).to_owned()]);
                if outlines
                    .get(file)
                    .is_none_or(|read| read.outline.kernels().next().is_none())
                {
                    sides.push(Side::default());
                    continue;
                }
                sides.push(self.side(outlines, file)?);
            }
            let twins = Twins {
                benchmark: pair.benchmark.clone(),
                slow: format!("slow:{}", pair.slow.1),
                fast: pair.fast.1.clone(),
            };
            let tree = &found.trees[pair.fast.0];
            let head = tree
                .text(&pair.fast.1)
                .map(|text| text.text)
                .unwrap_or_default();
            let about = About {
                suite: Suite::Own,
                benchmark: &pair.benchmark,
                slow_file: Some(&pair.slow.1),
                file: &pair.fast.1,
                application: pair.description.clone(),
                licence: licence::of_file(&head, &licence::of_tree(tree)),
                build: build_lines(tree, &pair.fast.1),
                steps: Vec::new(),
                writer: None,
                notes: Vec::new(),
            };
            self.summary.same_named += 1;
            let fast = sides.pop().unwrap_or_default();
            let slow = sides.pop().unwrap_or_default();
            let units = BTreeMap::from([(twins.slow.clone(), slow), (twins.fast.clone(), fast)]);
            self.natural(&units, &twins, about);
        }
        Ok(())
    }

    /// Notes what reading a tree left out.
    fn note_tree(&mut self, outlines: &Outlines<'_>) {
        self.summary
            .sources
            .push(outlines.tree.root().display().to_string());
        self.left_out
            .extend(outlines.tree.left_out().iter().cloned());
        let unreadable = outlines.unreadable();
        self.left_out
            .extend(unreadable.map(|(file, why)| LeftOut::new(file, why)));
    }

    fn record(&mut self, slow: &Side, fast: &Side, about: About<'_>) {
        let difference = if about.steps.is_empty() {
            describe::of_difference(&slow.text, &fast.text)
        } else {
            format!("The faster version {}.", slow::told(&about.steps))
        };
        let description = match (&about.application, self.options.paper) {
            (Some(application), true) => application.clone(),
            (Some(application), false) => format!("{application}. {difference}"),
            (None, _) => difference.clone(),
        };
        let mut notes = about.notes;
        notes.extend(slow.notes.iter().map(|note| format!("slow: {note}")));
        notes.extend(fast.notes.iter().map(|note| format!("fast: {note}")));
        let compiles = slow
            .compiled
            .zip(fast.compiled)
            .map(|(slow_did, fast_did)| Compiles {
                slow: slow_did,
                fast: fast_did,
                slow_error: slow.error.clone(),
                fast_error: fast.error.clone(),
            });
        let tokens = self.tools.tokens;
        let mut record = Record {
            suite: about.suite,
            benchmark: about.benchmark.to_owned(),
            file: about.file.to_owned(),
            slow_file: about.slow_file.map(str::to_owned),
            description,
            application: about.application,
            difference,
            steps: about.steps,
            writer: about.writer,
            build: about.build,
            licence: about.licence,
            slow_blake3: blake3::hash(slow.text.as_bytes()).to_hex().to_string(),
            fast_blake3: blake3::hash(fast.text.as_bytes()).to_hex().to_string(),
            slow_tokens: tokens(&slow.text),
            fast_tokens: tokens(&fast.text),
            chat_tokens: 0,
            same_signature: slow.signature == fast.signature,
            compiles,
            run: None,
            dropped: None,
            held_out: false,
            notes,
            slow: slow.text.clone(),
            fast: fast.text.clone(),
        };
        record.chat_tokens = tokens(&Chat::of(&record).text());
        self.records.push(record);
    }

    fn finish(mut self) -> Result<Built, BuildError> {
        if self.records.is_empty() {
            return Err(BuildError::Empty(self.summary.sources.join(", ")));
        }
        let held = split::hold_out(&mut self.records, self.options.seed, self.options.held_out);
        let most = self.options.max_tokens;
        for record in self.records.iter().filter(|it| it.chat_tokens > most) {
            self.summary.too_long += 1;
            let tokens = record.chat_tokens;
            let why = format!("its chat is longer than {most} tokens: {tokens}");
            self.left_out.push(LeftOut::new(&record.file, why));
        }
        self.left_out.sort();
        self.left_out.dedup();
        let summary = &mut self.summary;
        summary.compiler = self.tools.compiler.as_ref().map(|compiler| compiler.name());
        summary.records = self.records.len();
        summary.held_out = self.records.iter().filter(|record| record.held_out).count();
        summary.train = summary.records - summary.held_out;
        summary.held_out_benchmarks = held;
        summary.tokens = self
            .records
            .iter()
            .map(|record| record.slow_tokens + record.fast_tokens)
            .sum();
        summary.left_out = self.left_out.len();
        Ok(Built {
            records: self.records,
            left_out: self.left_out,
            summary: self.summary,
        })
    }
}

fn with_kernel(outlines: &Outlines<'_>, files: &[String]) -> Vec<String> {
    let has = |file: &&String| {
        let read = outlines.get(file);
        read.is_some_and(|read| read.outline.kernels().next().is_some())
    };
    files.iter().filter(has).cloned().collect()
}

fn is_same(a: &str, b: &str) -> bool {
    normalise(Language::Cuda, a) == normalise(Language::Cuda, b)
}

/// The licence of the side that may less be shared.
fn strictest(outlines: &Outlines<'_>, tree: &Licence, twins: &Twins) -> Licence {
    let of = |file: &str| {
        let head = outlines.get(file).map_or("", |read| &read.head);
        licence::of_file(head, tree)
    };
    let (slow, fast) = (of(&twins.slow), of(&twins.fast));
    if slow.may_be_shared { fast } else { slow }
}

/// The lines of the `Makefile` beside a file that concern CUDA.
fn build_lines(tree: &Tree, file: &str) -> Vec<String> {
    let makefile = joined(parent(file), "Makefile");
    let text = tree
        .text(&makefile)
        .map(|text| text.text)
        .unwrap_or_default();
    let concerns = |line: &&str| {
        ["CUDACFLAGS", "NVCC", "nvcc", "LANGUAGE", "-arch"]
            .iter()
            .any(|mark| line.contains(mark))
            && !line.starts_with('#')
    };
    text.lines()
        .map(str::trim)
        .filter(concerns)
        .take(12)
        .map(str::to_owned)
        .collect()
}
