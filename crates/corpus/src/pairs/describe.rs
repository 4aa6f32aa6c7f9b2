//! Sentences about a pair: what its application does, and what its optimisation is.
//!
//! The paper's description names the application, in the words of the suite. No suite says what was
//! optimised, so that is derived from the difference of the two sides.

use std::collections::{BTreeMap, BTreeSet};

use super::item::Kind;
use super::outline::Outline;
use super::tree::Tree;
use super::words::{bare, words};

/// `APP - ` and the first sentence of the application's `DESCRIPTION`, as the paper has it. `None`
/// without such a file.
pub(super) fn of_application(tree: &Tree, folder: &str, app: &str) -> Option<String> {
    let text = tree.text(&format!("{folder}/DESCRIPTION")).ok()?.text;
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = flat
        .match_indices(". ")
        .map(|(at, _)| at)
        .find(|at| !flat[..*at].ends_with("e.g") && !flat[..*at].ends_with("i.e"))
        .unwrap_or(flat.trim_end_matches('.').len());
    let sentence = flat.get(..end).filter(|sentence| !sentence.is_empty())?;
    Some(format!("{} - {sentence}", app.to_uppercase()))
}

/// What a side makes use of.
#[derive(Debug, Default, PartialEq, Eq)]
struct Traits {
    counts: BTreeMap<&'static str, usize>,
    parameters: BTreeMap<String, String>,
    macros: BTreeMap<String, String>,
    calls: BTreeSet<String>,
}

/// A trait: the words that show it, what is said if only the fast side has it, and if only the slow
/// side has it.
const TRAITS: [(&[&str], &str, &str); 13] = [
    (
        &["__shared__"],
        "stages data in shared memory",
        "does without shared memory",
    ),
    (
        &["texture", "tex1D", "tex1Dfetch", "tex2D", "tex3D"],
        "reads through textures",
        "reads global memory instead of textures",
    ),
    (
        &["__constant__"],
        "keeps small tables in constant memory",
        "reads tables from global memory",
    ),
    (
        &["__ldg"],
        "loads through the read-only cache",
        "uses plain loads",
    ),
    (
        &["__restrict__", "__restrict"],
        "tells the compiler that pointers do not alias",
        "gives no promise about pointers",
    ),
    (
        &[
            "__fmul_rn",
            "__fadd_rn",
            "__fdividef",
            "__sinf",
            "__cosf",
            "__expf",
            "__logf",
            "__powf",
            "__mul24",
            "__umul24",
            "rsqrtf",
            "__frsqrt_rn",
            "__saturatef",
            "__usad",
        ],
        "uses intrinsics",
        "uses plain arithmetic instead of intrinsics",
    ),
    (
        &[
            "__shfl_sync",
            "__shfl_down_sync",
            "__shfl_xor_sync",
            "__ballot_sync",
            "__ballot",
            "__shfl",
        ],
        "exchanges values within a warp",
        "exchanges nothing within a warp",
    ),
    (
        &[
            "float2", "float4", "int2", "int4", "uint4", "double2", "uchar4", "ushort2",
        ],
        "loads or computes on vectors",
        "loads single elements",
    ),
    (
        &["__launch_bounds__"],
        "bounds the registers of a thread",
        "leaves registers to the compiler",
    ),
    (
        &[
            "atomicAdd",
            "atomicMax",
            "atomicMin",
            "atomicOr",
            "atomicCAS",
            "atomicInc",
        ],
        "uses atomic operations",
        "avoids atomic operations",
    ),
    (
        &["__syncthreads"],
        "lets the threads of a block work together",
        "lets every thread work alone",
    ),
    (
        &["double"],
        "computes in double",
        "computes in single precision",
    ),
    (&["unroll"], "unrolls loops", "leaves loops rolled"),
];

impl Traits {
    fn of(text: &str) -> Self {
        let mut traits = Self::default();
        // A pragma's words stay: only comments and literals go.
        let bare = bare(text);
        for word in words(&bare) {
            let known = TRAITS
                .iter()
                .filter(|(names, ..)| names.contains(&word.text));
            for (names, ..) in known {
                *traits.counts.entry(names[0]).or_default() += 1;
            }
            if word.called {
                traits.calls.insert(word.text.to_owned());
            }
        }
        for item in Outline::of(text).items {
            let Some(name) = item.names.first().cloned() else {
                continue;
            };
            match item.kind {
                Kind::Kernel => drop(traits.parameters.insert(name, item.parameters)),
                Kind::Macro => drop(traits.macros.insert(name, plain(&item.text))),
                _ => {}
            }
        }
        traits
    }

    fn count(&self, name: &str) -> usize {
        self.counts.get(name).copied().unwrap_or(0)
    }
}

/// What the fast side does otherwise, as one sentence.
pub(super) fn of_difference(slow: &str, fast: &str) -> String {
    let (slow, fast) = (Traits::of(slow), Traits::of(fast));
    let mut said = Vec::new();
    for (names, gained, lost) in TRAITS {
        let name = names[0];
        match (slow.count(name), fast.count(name)) {
            (0, 1..) => said.push(gained.to_owned()),
            (1.., 0) => said.push(lost.to_owned()),
            (before, after) if name == "__shared__" && after > before => {
                said.push("stages more data in shared memory".to_owned());
            }
            (before, after) if name == "__syncthreads" && after < before => {
                said.push("has fewer barriers".to_owned());
            }
            (before, after) if name == "atomicAdd" && after < before => {
                said.push("uses fewer atomic operations".to_owned());
            }
            _ => {}
        }
    }
    match (slow.parameters.len(), fast.parameters.len()) {
        (before, after) if after > before => said.push("splits the work over more kernels".into()),
        (before, after) if after < before => said.push("does the work in fewer kernels".into()),
        _ if !slow.parameters.keys().eq(fast.parameters.keys()) => {
            said.push("renames kernels".into());
        }
        _ if slow.parameters != fast.parameters => said.push("changes kernel parameters".into()),
        _ => {}
    }
    said.extend(changed_macros(&slow.macros, &fast.macros));
    if said.is_empty() {
        said.push("arranges its computation otherwise".to_owned());
    }
    let last = said.pop().unwrap_or_default();
    if said.is_empty() {
        format!("The faster version {last}.")
    } else {
        format!("The faster version {} and {last}.", said.join(", "))
    }
}

fn changed_macros(
    slow: &BTreeMap<String, String>,
    fast: &BTreeMap<String, String>,
) -> Option<String> {
    let changed: Vec<&str> = slow
        .iter()
        .filter(|(name, text)| fast.get(*name).is_some_and(|other| other != *text))
        .map(|(name, _)| name.as_str())
        .take(4)
        .collect();
    (!changed.is_empty()).then(|| format!("defines {} otherwise", changed.join(", ")))
}

/// A text without comments and repeated white space.
pub(super) fn plain(text: &str) -> String {
    bare(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text in which the values of plain numeric macros are unknown. Two sides that are then equal
/// differ only in a tuning constant.
pub(super) fn without_constants(text: &str) -> String {
    let is_constant = |line: &str| {
        let line = bare(line);
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["#define", name, value] => {
                !name.contains('(')
                    && value
                        .trim_matches(['(', ')', '-', 'u', 'U', 'l', 'L', 'f'])
                        .parse::<f64>()
                        .is_ok()
            }
            _ => false,
        }
    };
    text.lines()
        .filter(|line| !is_constant(line))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_tells_what_the_fast_side_gained_and_lost() {
        let slow = "__global__ void k(float *a) { a[0] = tex1Dfetch(t, 0); __syncthreads(); __syncthreads(); }";
        let fast = "__global__ void k(float *a) { __shared__ float s[2];\n#pragma unroll\nfor (;;) ; __syncthreads(); }";
        assert_eq!(
            of_difference(slow, fast),
            "The faster version stages data in shared memory, reads global memory instead of textures, has fewer \
             barriers and unrolls loops."
        );
        assert_eq!(
            of_difference("#define IDX(a) a\n", "#define IDX(a) (a + 1)\n"),
            "The faster version defines IDX otherwise."
        );
        assert!(of_difference("a", "b").contains("arranges its computation otherwise"));
    }

    #[test]
    fn only_values_of_numeric_macros_are_unknown() {
        let text = "#define A 8\n#define B (24u) // c\n#define C(x) 8\n#define D x\nint a = 8;";
        assert_eq!(
            without_constants(text),
            "#define C(x) 8\n#define D x\nint a = 8;"
        );
    }

    #[test]
    fn the_application_is_described_by_its_first_sentence() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("DESCRIPTION");
        fs_err::write(path, "It sums, e.g. rows.\nMore is\nsaid. ").expect("it is ours");
        let tree = Tree::open(folder.path()).expect("it is one");
        // The folder of the application is the tree itself.
        assert_eq!(
            of_application(&tree, ".", "sum").as_deref(),
            Some("SUM - It sums, e.g. rows")
        );
        assert_eq!(of_application(&tree, "none", "sum"), None);
    }
}
