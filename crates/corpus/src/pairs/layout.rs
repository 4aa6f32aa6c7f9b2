//! Which files of a suite belong together.
//!
//! Parboil keeps variants of a benchmark side by side: `benchmarks/APP/src/cuda_base` is naive and
//! `benchmarks/APP/src/cuda` optimised. Rodinia has `cuda/APP`, optimised only.

use std::collections::{BTreeMap, BTreeSet};

use super::outline::Outline;
use super::tree::{LeftOut, Tree, TreeError, extension, is_cuda, joined, name, parent};
use super::unit::Outlines;
use super::words::{bare, words};

/// Two files that may be a pair.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Twins {
    pub(super) benchmark: String,
    pub(super) slow: String,
    pub(super) fast: String,
}

/// A tree in the layout of Parboil.
#[derive(Debug, Default)]
pub(super) struct Parboil {
    /// The variants of each benchmark that has one for CUDA.
    pub(super) variants: BTreeMap<String, BTreeSet<String>>,
}

impl Parboil {
    pub(super) fn of(tree: &Tree) -> Result<Self, TreeError> {
        let mut variants: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for file in tree.files() {
            if let ["benchmarks", app, "src", variant, _, ..] =
                file.split('/').collect::<Vec<_>>()[..]
                && variant.starts_with("cuda")
            {
                let known = variants.entry(app.to_owned()).or_default();
                known.insert(variant.to_owned());
            }
        }
        if variants.is_empty() {
            return Err(TreeError::Layout {
                folder: tree.root().to_owned(),
                wanted: "files in benchmarks/APP/src/cuda*/, as Parboil has".to_owned(),
            });
        }
        Ok(Self { variants })
    }

    pub(super) fn folder(app: &str, variant: &str) -> String {
        format!("benchmarks/{app}/src/{variant}")
    }

    pub(super) fn folders(&self) -> Vec<String> {
        let pairs = self.variants.iter().flat_map(|(app, variants)| {
            variants
                .iter()
                .map(move |variant| Self::folder(app, variant))
        });
        pairs.collect()
    }

    /// How many benchmarks have a variant of this name.
    pub(super) fn with(&self, wanted: &[&str]) -> usize {
        let has = |variants: &&BTreeSet<String>| wanted.iter().all(|name| variants.contains(*name));
        self.variants.values().filter(has).count()
    }

    /// The paper's rule: files of the same name in `cuda_base` and `cuda`.
    pub(super) fn same_named(&self, tree: &Tree) -> Vec<Twins> {
        let mut found = Vec::new();
        for app in self.variants.keys() {
            let (slow, fast) = (Self::folder(app, "cuda_base"), Self::folder(app, "cuda"));
            for file in within(tree, &slow).filter(|file| extension(file) == "cu") {
                let twin = joined(&fast, name(file));
                if tree.has(&twin) {
                    found.push(Twins {
                        benchmark: app.clone(),
                        slow: file.to_owned(),
                        fast: twin,
                    });
                }
            }
        }
        found
    }

    /// The better rule: every optimised variant with its naive one, files by name and then the only
    /// kernel file that is left on each side.
    pub(super) fn twins(&self, outlines: &Outlines<'_>) -> Vec<Twins> {
        let mut found = Vec::new();
        for (app, variants) in &self.variants {
            let is_base = |variant: &str| variant.contains("base");
            for fast in variants.iter().filter(|variant| !is_base(variant)) {
                let slow = ["_base", "-base"].iter().find_map(|base| {
                    let rest = fast.strip_prefix("cuda").unwrap_or("");
                    let own = format!("cuda{base}{rest}");
                    let plain = format!("cuda{base}");
                    [own, plain]
                        .into_iter()
                        .find(|slow| variants.contains(slow))
                });
                let Some(slow) = slow else { continue };
                let folders = (Self::folder(app, &slow), Self::folder(app, fast));
                found.extend(in_variants(outlines, app, &folders.0, &folders.1));
            }
        }
        found
    }
}

/// The pairs of kernel files in two folders of a tree.
fn in_variants(outlines: &Outlines<'_>, app: &str, slow: &str, fast: &str) -> Vec<Twins> {
    let found = matched(kernels(outlines, slow), kernels(outlines, fast));
    let twins = found.into_iter().map(|(slow, fast)| Twins {
        benchmark: app.to_owned(),
        slow,
        fast,
    });
    twins.collect()
}

/// The pairs of kernel files in two trees.
pub(super) fn in_trees(slow: &Outlines<'_>, fast: &Outlines<'_>) -> Vec<(String, String)> {
    matched(kernels(slow, ""), kernels(fast, ""))
}

/// The files of a folder that have a kernel, by their path in it.
fn kernels(outlines: &Outlines<'_>, folder: &str) -> BTreeMap<String, String> {
    let files = within(outlines.tree, folder).filter(|file| {
        let read = outlines.get(file);
        is_cuda(file) && read.is_some_and(|read| read.outline.kernels().next().is_some())
    });
    let below = |file: &str| {
        let rest = file.strip_prefix(folder).unwrap_or(file);
        rest.trim_start_matches('/').to_owned()
    };
    files.map(|file| (below(file), file.to_owned())).collect()
}

/// Files of the same path, and then the only ones that are left.
fn matched(
    mut slow: BTreeMap<String, String>,
    mut fast: BTreeMap<String, String>,
) -> Vec<(String, String)> {
    let same: Vec<String> = slow
        .keys()
        .filter(|name| fast.contains_key(*name))
        .cloned()
        .collect();
    let mut found = Vec::new();
    for name in same {
        found.extend(slow.remove(&name).zip(fast.remove(&name)));
    }
    if let (1, 1) = (slow.len(), fast.len()) {
        found.extend(slow.into_values().zip(fast.into_values()));
    }
    found
}

fn within<'a>(tree: &'a Tree, folder: &'a str) -> impl Iterator<Item = &'a str> {
    tree.files().filter(move |file| {
        folder.is_empty()
            || file
                .strip_prefix(folder)
                .is_some_and(|rest| rest.starts_with('/'))
    })
}

/// Files of a tree in the layout of Rodinia, each with its benchmark.
pub(super) fn rodinia(tree: &Tree) -> Result<Vec<(String, String)>, TreeError> {
    let files: Vec<(String, String)> = tree
        .files()
        .filter(|file| is_cuda(file))
        .filter_map(|file| {
            let rest = file.strip_prefix("cuda/")?;
            let (app, _) = rest.split_once('/')?;
            Some((app.to_owned(), file.to_owned()))
        })
        .collect();
    if files.is_empty() {
        return Err(TreeError::Layout {
            folder: tree.root().to_owned(),
            wanted: "file cuda/APP/*.cu, as Rodinia has".to_owned(),
        });
    }
    Ok(files)
}

/// What a kernel file can be de-optimised of.
const MARKS: [&str; 3] = ["__shared__", "__constant__", "texture"];

/// Whether a file carries an optimisation that can be taken out.
pub(super) fn is_optimised(outline: &Outline) -> bool {
    outline.items.iter().any(|item| {
        let bare = bare(&item.text);
        let unrolled =
            item.text.contains("#pragma unroll") || item.text.contains("# pragma unroll");
        unrolled || words(&bare).iter().any(|word| MARKS.contains(&word.text))
    })
}

/// A file without a kernel, in words.
pub(super) fn no_kernel(side: &str) -> String {
    format!("it has no kernel body{side}")
}

/// The benchmark of a file in a generic tree: its folder, or else its stem.
pub(super) fn benchmark(file: &str) -> String {
    let folder = name(parent(file));
    let stem = name(file).rsplit_once('.').map_or(file, |(stem, _)| stem);
    if folder.is_empty() { stem } else { folder }.to_owned()
}

/// Everything of a folder that took no part, with the reason.
pub(super) fn unpaired(
    outlines: &Outlines<'_>,
    folders: &[String],
    used: &BTreeSet<String>,
) -> Vec<LeftOut> {
    let files = folders
        .iter()
        .flat_map(|folder| within(outlines.tree, folder));
    files
        .filter(|file| is_cuda(file) && !used.contains(*file))
        .map(|file| {
            let kernels = outlines
                .get(file)
                .map(|read| read.outline.kernels().count());
            let why = match kernels {
                None => "it cannot be read".to_owned(),
                Some(0) => no_kernel(""),
                Some(_) => "no other file is its counterpart".to_owned(),
            };
            LeftOut::new(file, why)
        })
        .collect()
}
