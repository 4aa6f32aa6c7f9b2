//! The structural features of a source, as table III of Mikasa et al. lists them. They are read
//! from tokens, for kernels of the kind that models write.
//!
//! What counts:
//! - **blocking**: the step of a loop that another loop starts from (`i = ib`), or whose
//!   step of at least 16 bounds a loop inside it;
//! - **threads**: the OpenMP construct around the deepest nest of loops;
//! - **prefetch**: the number added to a loop's variable in a prefetched address. If it is a
//!   block's size, or the prefetch is outside the innermost loops, it is a block boundary;
//! - **accumulators**: local variables in which products are summed (every array element counts);
//! - **register tile**: the steps of the two nearest loops around that sum which do not block;
//! - **read-modify-write**: an output is read back before it is stored.

mod nest;
mod tile;

use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use hotloop_flow::count;
use hotloop_flow::language::c::lex::{self, Token, TokenKind};
use nest::Nest;
use tile::{pointers, register_tile, sums};

/// Steps of smaller loops are register tiles, not cache blocks.
const LEAST_BLOCK: u64 = 16;

/// How work is split over threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Threads {
    /// One thread.
    None,
    /// `parallel for` over one loop.
    ParallelFor,
    /// `parallel for` over this many loops at once.
    Collapse(u32),
    /// A parallel region that computes its own share from the thread's number.
    ManualSplit,
    Tasks,
}

impl std::fmt::Display for Threads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => f.pad("none"),
            Self::ParallelFor => f.pad("parallel for"),
            Self::Collapse(loops) => f.pad(&format!("collapse({loops})")),
            Self::ManualSplit => f.pad("manual split"),
            Self::Tasks => f.pad("tasks"),
        }
    }
}

/// How far ahead memory is prefetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prefetch {
    /// Not at all.
    None,
    /// This many iterations ahead in the loop over this variable.
    Ahead(String, u64),
    /// The next block.
    BlockBoundary,
    /// Somehow.
    Other,
}

impl std::fmt::Display for Prefetch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => f.pad("none"),
            Self::Ahead(variable, distance) => f.pad(&format!("{variable}+{distance}")),
            Self::BlockBoundary => f.pad("block boundary"),
            Self::Other => f.pad("yes"),
        }
    }
}

/// The structural features of a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Features {
    /// Distinct block sizes, outermost first.
    pub blocking: Vec<u64>,
    /// How work is split over threads.
    pub threads: Threads,
    /// How far ahead memory is prefetched.
    pub prefetch: Prefetch,
    /// Local variables in which products are summed.
    pub accumulators: u64,
    /// Rows and columns kept in registers, if more than one element is.
    pub register_tile: Option<(u64, u64)>,
    /// Whether an output is read back before it is stored.
    pub read_modify_write: bool,
    /// Bits of the widest explicit vectors.
    pub simd_bits: Option<u32>,
}

impl Features {
    /// The features of a source.
    pub fn of(source: &str) -> Self {
        let lexed = lex::lex(source);
        let nest = Nest::of(&lexed);
        let blocks = blocking_loops(&nest);
        let mut blocking: Vec<u64> = Vec::new();
        for step in blocks.iter().filter_map(|at| nest.loops[*at].step) {
            if !blocking.contains(&step) {
                blocking.push(step);
            }
        }
        let sums = sums(&nest);
        let simd_bits = simd_bits(&nest);
        let accumulators = sums
            .accumulators
            .values()
            .copied()
            .fold(0, u64::saturating_add);
        Self {
            threads: threads(&nest),
            prefetch: prefetch(&nest, &blocks),
            register_tile: register_tile(&nest, &blocks, &sums, simd_bits, accumulators),
            read_modify_write: reads_back(&nest),
            blocking,
            accumulators,
            simd_bits,
        }
    }

    /// All of them in one sentence.
    pub fn told(&self) -> String {
        let tile = self
            .register_tile
            .map_or("none".to_owned(), |(rows, columns)| {
                format!("{rows} x {columns}")
            });
        let simd = self
            .simd_bits
            .map_or("none".to_owned(), |bits| format!("{bits} bits"));
        format!(
            "Blocking {}; threads: {}; prefetch: {}; {}; register tile {tile}; explicit vectors: \
             {simd}; {} the output.",
            self.blocking_text(),
            self.threads,
            self.prefetch,
            count(self.accumulators as usize, "accumulator"),
            if self.read_modify_write {
                "reads back"
            } else {
                "only writes"
            }
        )
    }

    /// The block sizes as table III writes them.
    pub fn blocking_text(&self) -> String {
        let sizes: Vec<String> = self.blocking.iter().map(u64::to_string).collect();
        if sizes.is_empty() {
            "none".to_owned()
        } else {
            sizes.join(", ")
        }
    }
}

/// The loops that block, by their place in `nest.loops`.
fn blocking_loops(nest: &Nest<'_>) -> BTreeSet<usize> {
    let mentions = |range: &Range<usize>, name: &str| {
        nest.tokens[range.clone()]
            .iter()
            .any(|token| token.is_ident(name))
    };
    let blocks = |at: &usize| {
        let outer = &nest.loops[*at];
        let Some(step) = outer.step.filter(|step| *step > 1) else {
            return false;
        };
        nest.loops
            .iter()
            .filter(|inner| outer.contains(inner.at))
            .any(|inner| {
                let starts_there = mentions(&inner.start, &outer.variable);
                let bound = &nest.tokens[inner.condition.clone()];
                let bounded = bound
                    .iter()
                    .position(|token| token.is_punct("<"))
                    .map(|less| &bound[less + 1..]);
                starts_there
                    || (step >= LEAST_BLOCK
                        && bounded.and_then(|bound| nest.value(bound)) == Some(step))
            })
    };
    (0..nest.loops.len()).filter(blocks).collect()
}

/// If there are several constructs, the one around the deepest nest of loops does the work.
fn threads(nest: &Nest<'_>) -> Threads {
    let splits = nest
        .tokens
        .iter()
        .any(|token| token.is_ident("omp_get_thread_num"));
    let of_pragma = |pragma: &nest::Pragma| {
        let has = |word: &str| pragma.words.iter().any(|found| found == word);
        if !has("omp") {
            return None;
        }
        let collapse = pragma
            .words
            .iter()
            .position(|word| word == "collapse")
            .and_then(|at| pragma.words.get(at + 2));
        let threads = match collapse.and_then(|count| count.parse().ok()) {
            Some(count) if count > 1 => Threads::Collapse(count),
            _ if has("task") || has("taskloop") => Threads::Tasks,
            _ if has("for") => Threads::ParallelFor,
            _ if has("parallel") && splits => Threads::ManualSplit,
            _ => return None,
        };
        let depth = nest.depth(&(pragma.before..nest.statement_end(pragma.before)));
        Some((depth, threads))
    };
    // The first of equals wins, because a region's manual split precedes the loops inside it.
    let mut found: Option<(usize, Threads)> = None;
    for (depth, threads) in nest.pragmas.iter().filter_map(of_pragma) {
        if found.is_none_or(|(deepest, _)| depth > deepest) {
            found = Some((depth, threads));
        }
    }
    found.map_or(Threads::None, |(_, threads)| threads)
}

fn prefetch(nest: &Nest<'_>, blocks: &BTreeSet<usize>) -> Prefetch {
    let mut found = Prefetch::None;
    for (at, token) in nest.tokens.iter().enumerate() {
        if !is_prefetch(token) {
            continue;
        }
        let Some(close) = nest.closing(at + 1) else {
            continue;
        };
        match prefetched(nest, at, &nest.tokens[at + 2..close], blocks) {
            ahead @ Prefetch::Ahead(..) => return ahead,
            other if found == Prefetch::None || found == Prefetch::Other => found = other,
            _ => {}
        }
    }
    found
}

fn is_prefetch(token: &Token<'_>) -> bool {
    token.is_ident("_mm_prefetch") || token.is_ident("__builtin_prefetch")
}

/// Looks for `variable + number` in a prefetched address.
fn prefetched(
    nest: &Nest<'_>,
    at: usize,
    address: &[Token<'_>],
    blocks: &BTreeSet<usize>,
) -> Prefetch {
    let around: Vec<&nest::Loop> = nest.around(at).collect();
    let blocks_of = |name: &str| {
        blocks
            .iter()
            .map(|block| &nest.loops[*block])
            .any(|each| each.variable == name && each.contains(at))
    };
    for window in address.windows(3).filter(|window| window[1].is_punct("+")) {
        let pairs = [(&window[0], &window[2]), (&window[2], &window[0])];
        for (variable, added) in pairs {
            let looped = around
                .iter()
                .rev()
                .find(|each| variable.is_ident(&each.variable));
            let (Some(looped), Some(distance)) = (looped, nest.value(std::slice::from_ref(added)))
            else {
                continue;
            };
            // Where the sum runs over k, `B[k*N + j + 8]` points at another column, not ahead in
            // time.
            let innermost = around
                .last()
                .is_some_and(|last| last.variable == looped.variable);
            if blocks_of(&looped.variable) && looped.step == Some(distance) {
                return Prefetch::BlockBoundary;
            }
            if innermost {
                return Prefetch::Ahead(looped.variable.clone(), distance);
            }
        }
    }
    let holds_loops = around
        .last()
        .is_some_and(|last| nest.loops.iter().any(|each| last.contains(each.at)));
    if holds_loops {
        Prefetch::BlockBoundary
    } else {
        Prefetch::Other
    }
}

/// Whether something is both loaded from and stored to.
fn reads_back(nest: &Nest<'_>) -> bool {
    let pointers = pointers(nest);
    let mut stored = BTreeSet::new();
    let mut loaded = BTreeSet::new();
    let mut skip_to = 0;
    for (at, token) in nest.tokens.iter().enumerate() {
        if at < skip_to || token.kind != TokenKind::Ident {
            continue;
        }
        if is_prefetch(token) {
            skip_to = nest.closing(at + 1).unwrap_or(at);
        } else if token.text.contains("_store") || token.text.contains("_stream_") {
            let close = nest.closing(at + 1).unwrap_or(nest.tokens.len());
            let address =
                (at + 1..close).find(|index| pointers.contains(nest.tokens[*index].text.as_ref()));
            if let Some(address) = address {
                stored.insert(nest.tokens[address].text.as_ref());
                skip_to = address + 1;
            }
        } else if pointers.contains(token.text.as_ref()) && nest.is_punct(at + 1, "[") {
            let after = nest
                .closing(at + 1)
                .map_or(nest.tokens.len(), |close| close + 1);
            match nest.tokens.get(after).map(|token| token.text.as_ref()) {
                Some("=") => drop(stored.insert(token.text.as_ref())),
                Some("+=" | "-=") => return true,
                _ => drop(loaded.insert(token.text.as_ref())),
            }
        } else if pointers.contains(token.text.as_ref()) && nest.is_punct(at + 1, "+") {
            loaded.insert(token.text.as_ref());
        }
    }
    !stored.is_disjoint(&loaded)
}

fn simd_bits(nest: &Nest<'_>) -> Option<u32> {
    let bits = |at: usize| {
        let token = &nest.tokens[at];
        let name = token.text.as_ref();
        let found = |prefixes: [&str; 2]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        match token.kind {
            TokenKind::Ident if found(["__m512", "_mm512_"]) => Some(512),
            TokenKind::Ident if found(["__m256", "_mm256_"]) => Some(256),
            TokenKind::Ident
                if name.starts_with("__m128")
                    || (name.starts_with("_mm_") && !is_prefetch(token)) =>
            {
                Some(128)
            }
            TokenKind::Ident if name.trim_matches('_') == "vector_size" => {
                let bytes = nest.value(&nest.tokens[at + 2..nest.closing(at + 1)?])?;
                u32::try_from(bytes).ok()?.checked_mul(8)
            }
            _ => None,
        }
    };
    (0..nest.tokens.len()).filter_map(bits).max()
}

#[cfg(test)]
mod tests;
