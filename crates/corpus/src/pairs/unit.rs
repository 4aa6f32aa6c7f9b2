//! Cuts kernels out of their program so that they stand alone.
//!
//! A kernel file of a benchmark seldom compiles by itself: its types, macros and constants stand in
//! the file that includes it. So a slice begins from that root file: its includes are put in their
//! places, and what the kernels name, directly or by others, is kept in its order.

use std::collections::{BTreeMap, BTreeSet};

use super::item::{Item, Kind, Wrap};
use super::outline::Outline;
use super::tree::{self, Tree};
use super::words::{bare, words};

/// The most items that a root file may have with its includes.
const ITEMS: usize = 50_000;

/// The outlines of a tree's sources, read once.
#[derive(Debug)]
pub(super) struct Outlines<'a> {
    pub(super) tree: &'a Tree,
    read: BTreeMap<String, Result<Read, String>>,
}

/// A file as read.
#[derive(Debug, Clone)]
pub(super) struct Read {
    pub(super) outline: Outline,
    /// The first lines, which may hold a licence.
    pub(super) head: String,
    pub(super) notes: Vec<String>,
}

impl<'a> Outlines<'a> {
    /// Reads every source below these folders.
    pub(super) fn of(tree: &'a Tree, folders: &[String]) -> Self {
        let within = |file: &&str| {
            tree::is_source(file)
                && folders
                    .iter()
                    .any(|folder| folder.is_empty() || file.starts_with(&format!("{folder}/")))
        };
        let read = tree.files().filter(within).map(|file| {
            let read = tree.text(file).map(|text| Read {
                outline: Outline::of(&text.text),
                head: head(&text.text),
                notes: text.notes,
            });
            (file.to_owned(), read)
        });
        Self {
            tree,
            read: read.collect(),
        }
    }

    pub(super) fn get(&self, file: &str) -> Option<&Read> {
        self.read.get(file)?.as_ref().ok()
    }

    /// Files that could not be read, with the reason.
    pub(super) fn unreadable(&self) -> impl Iterator<Item = (&str, &str)> {
        self.read
            .iter()
            .filter_map(|(file, read)| Some((file.as_str(), read.as_ref().err()?.as_str())))
    }

    /// Files that include `file`, directly or by others, and are included by nobody; at last the
    /// file itself.
    pub(super) fn roots(&self, file: &str) -> Vec<String> {
        let mut seen = BTreeSet::from([file.to_owned()]);
        let mut next = vec![file.to_owned()];
        let mut roots = Vec::new();
        while let Some(at) = next.pop() {
            let includers: Vec<&String> = self
                .read
                .keys()
                .filter(|other| self.includes(other).any(|included| included == at))
                .collect();
            if includers.is_empty() && at != file {
                roots.push(at);
            }
            for includer in includers {
                if seen.insert(includer.clone()) {
                    next.push(includer.clone());
                }
            }
        }
        roots.sort_by_key(|root| (!tree::is_cuda(root), root.clone()));
        roots.push(file.to_owned());
        roots
    }

    fn includes(&self, file: &str) -> impl Iterator<Item = String> {
        let items = self.get(file).map(|read| &read.outline.items[..]);
        let includes = items.unwrap_or(&[]).iter().filter_map(move |item| {
            matches!(item.kind, Kind::Include { .. })
                .then(|| self.tree.included(file, item.names.first()?))?
        });
        includes.collect::<Vec<_>>().into_iter()
    }

    /// The items of a file with its includes in their places, each with the file that it is from.
    fn flat<'b>(&'b self, root: &'b str) -> Vec<(&'b str, Item)> {
        let mut out = Vec::new();
        let mut seen = BTreeSet::new();
        self.flatten(root, &[], &mut seen, &mut out);
        out
    }

    fn flatten<'b>(
        &'b self,
        file: &'b str,
        wraps: &[Wrap],
        seen: &mut BTreeSet<&'b str>,
        out: &mut Vec<(&'b str, Item)>,
    ) {
        let Some((file, Ok(read))) = self.read.get_key_value(file) else {
            return;
        };
        if !seen.insert(file) || out.len() > ITEMS {
            return;
        }
        for item in &read.outline.items {
            let inside = [wraps, &item.wraps].concat();
            match (item.kind, item.names.first()) {
                (Kind::Include { .. }, Some(name)) => {
                    let found = self.tree.included(file, name);
                    let found = found.and_then(|found| self.read.get_key_value(&found));
                    if let Some((found, _)) = found {
                        self.flatten(found, &inside, seen, out);
                    }
                }
                _ => out.push((
                    file,
                    Item {
                        wraps: inside,
                        ..item.clone()
                    },
                )),
            }
        }
    }

    /// The kernels of `file` with everything that they need, as the root file has it.
    pub(super) fn slice(&self, root: &str, file: &str) -> Slice {
        let items = self.flat(root);
        let chosen = chosen(&items, file);
        let kept: Vec<&Item> = items
            .iter()
            .zip(&chosen)
            .filter_map(|((_, item), chosen)| chosen.then_some(item))
            .collect();
        Slice {
            text: written(&kept),
            root: root.to_owned(),
        }
    }

    /// The device items of a file alone, as the paper cleans it.
    pub(super) fn cleaned(&self, file: &str) -> String {
        let items = self.get(file).map(|read| &read.outline.items[..]);
        let kept: Vec<&Item> = items
            .unwrap_or(&[])
            .iter()
            // A struct with device methods is device code, too.
            .filter(|item| item.kind.is_device() || item.methods > 0)
            .collect();
        written(&kept)
    }
}

/// Kernels that stand alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) text: String,
    /// The root file.
    pub(super) root: String,
}

fn head(text: &str) -> String {
    text.lines().take(80).collect::<Vec<_>>().join("\n")
}

/// Which items the kernels of `file` need.
fn chosen(items: &[(&str, Item)], file: &str) -> Vec<bool> {
    let mut chosen: Vec<bool> = items
        .iter()
        .map(|(from, item)| *from == file && item.kind == Kind::Kernel)
        .collect();
    // Names, and whether something calls them.
    let mut needed: BTreeMap<String, bool> = BTreeMap::new();
    let add = |item: &Item, needed: &mut BTreeMap<String, bool>| {
        let wraps = item.wraps.iter().map(|wrap| wrap.open.as_str());
        for text in wraps.chain([item.text.as_str()]) {
            for word in words(&bare(text)) {
                *needed.entry(word.text.to_owned()).or_default() |= word.called;
            }
        }
    };
    for ((_, item), _) in items.iter().zip(&chosen).filter(|(_, chosen)| **chosen) {
        add(item, &mut needed);
    }
    loop {
        let mut grew = false;
        for (at, (_, item)) in items.iter().enumerate() {
            if !chosen[at] && is_needed(item, &needed) {
                chosen[at] = true;
                grew = true;
                add(item, &mut needed);
            }
        }
        if !grew {
            return chosen;
        }
    }
}

fn is_needed(item: &Item, needed: &BTreeMap<String, bool>) -> bool {
    let named = || item.names.iter().any(|name| needed.contains_key(name));
    let called = || {
        item.names
            .iter()
            .any(|name| needed.get(name) == Some(&true))
    };
    let is_operator = || item.names.iter().any(|name| name.starts_with("operator"));
    match item.kind {
        Kind::Helper | Kind::Host if is_operator() => {
            // An operator is used without its name. Its first type tells whose it is.
            types(&item.parameters)
                .iter()
                .any(|name| needed.contains_key(*name))
        }
        // Device code may call a function without a qualifier, which some compilers allow.
        Kind::Host => called() && !item.names.iter().any(|name| name == "main"),
        Kind::Helper
        | Kind::DevicePrototype
        | Kind::DeviceData
        | Kind::Texture
        | Kind::Constant
        | Kind::Type
        | Kind::Macro => named(),
        Kind::Kernel | Kind::Prototype | Kind::Data | Kind::Include { .. } => false,
    }
}

/// The names of types in a list of parameters: those that end no parameter.
fn types(parameters: &str) -> Vec<&str> {
    let ends_one = |behind: &str| behind.trim_start().starts_with([',', ')', '[', '=']);
    words(parameters)
        .into_iter()
        .filter(|word| !ends_one(&parameters[word.at + word.text.len()..]))
        .map(|word| word.text)
        .filter(|name| !["const", "volatile"].contains(name))
        .collect()
}

/// The items as text, with what stands around them.
fn written(items: &[&Item]) -> String {
    let mut text = String::new();
    let mut open: Vec<&Wrap> = Vec::new();
    let mut last: Option<Kind> = None;
    for item in items {
        let shared = open
            .iter()
            .zip(&item.wraps)
            .take_while(|(open, wrap)| **open == *wrap)
            .count();
        for wrap in open.drain(shared..).rev() {
            text.extend([wrap.close, "\n"]);
        }
        let is_line = |kind: Kind| !matches!(kind, Kind::Kernel | Kind::Helper | Kind::Host);
        if last.is_some_and(|last| !(is_line(last) && is_line(item.kind))) {
            text.push('\n');
        }
        for wrap in &item.wraps[shared..] {
            text.extend([wrap.open.as_str(), "\n"]);
            open.push(wrap);
        }
        if item.kind == Kind::Host {
            text.push_str(&annotated(&item.text));
        } else {
            text.push_str(&item.text);
        }
        text.push('\n');
        last = Some(item.kind);
    }
    for wrap in open.into_iter().rev() {
        text.extend([wrap.close, "\n"]);
    }
    text
}

/// A function that device code calls, with the qualifier that it lacks.
fn annotated(text: &str) -> String {
    let has_template = text.starts_with("template");
    let place = if has_template {
        text.find('>').map_or(0, |end| end + 1)
    } else {
        0
    };
    let (before, after) = text.split_at(place);
    let space = if has_template { " " } else { "" };
    format!("{before}{space}__device__ {}", after.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(files: &[(&str, &str)], root: &str, file: &str) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            fs_err::write(folder.path().join(name), text).expect("it is ours");
        }
        let tree = Tree::open(folder.path()).expect("it is a folder");
        Outlines::of(&tree, &[String::new()]).slice(root, file).text
    }

    #[test]
    fn a_kernel_gets_the_types_and_macros_of_the_file_that_includes_it() {
        let main = "#include <stdio.h>\n#define BLOCK 8\n#define UNUSED 1\nstruct Node { int x; };\n\
            __constant__ float weights[BLOCK];\n#include \"kernel.cu\"\n\
            int main() { k<<<1, 1>>>(0); }\n";
        let kernel = "__device__ int unused(int a) { return a; }\n\
            __device__ int twice(int a) { return a * BLOCK; }\n\
            __global__ void k(Node *n) { n->x = twice(weights[0]); }\n";
        let text = slice(
            &[("main.cu", main), ("kernel.cu", kernel)],
            "main.cu",
            "kernel.cu",
        );
        assert_eq!(
            text,
            "#define BLOCK 8\nstruct Node { int x; };\n__constant__ float weights[BLOCK];\n\n\
             __device__ int twice(int a) { return a * BLOCK; }\n\n\
             __global__ void k(Node *n) { n->x = twice(weights[0]); }\n"
        );
    }

    #[test]
    fn conditions_and_namespaces_stay_around_what_they_held() {
        let text = "#ifndef A_H\n#define A_H\nnamespace n {\n#ifdef FAST\n__device__ int f() { return 1; }\n\
            #else\n__device__ int f() { return 2; }\n#endif\n__global__ void k(int *a) { a[0] = f(); }\n}\n\
            #endif\n";
        assert_eq!(
            slice(&[("a.cu", text)], "a.cu", "a.cu"),
            "namespace n {\n#ifdef FAST\n__device__ int f() { return 1; }\n#endif\n\n#ifdef FAST\n#else\n\
             __device__ int f() { return 2; }\n#endif\n\n__global__ void k(int *a) { a[0] = f(); }\n}\n"
        );
    }

    #[test]
    fn operators_of_the_host_that_a_kernel_uses_are_annotated() {
        let text = "inline float2 operator+(float2 a, float2 b) { a.x += b.x; return a; }\n\
            inline char3 operator-(char3 a, char3 b) { return a; }\n\
            template <class T> T twice(T a) { return a + a; }\n\
            void host(float2 *a) { }\n\
            __global__ void k(float2 *a) { float2 host = a[0]; a[1] = twice(host + host); }\n";
        let sliced = slice(&[("a.cu", text)], "a.cu", "a.cu");
        assert!(
            sliced.starts_with("__device__ inline float2 operator+"),
            "{sliced}"
        );
        assert!(
            sliced.contains("template <class T> __device__ T twice"),
            "{sliced}"
        );
        assert!(
            !sliced.contains("char3") && !sliced.contains("void host"),
            "{sliced}"
        );
    }

    #[test]
    fn a_file_that_includes_itself_ends() {
        let text = "#include \"a.cu\"\n__global__ void k() {}\n";
        assert_eq!(
            slice(&[("a.cu", text)], "a.cu", "a.cu"),
            "__global__ void k() {}\n"
        );
    }
}
