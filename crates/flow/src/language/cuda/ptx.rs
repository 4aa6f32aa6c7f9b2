//! Finds the techniques of compiled device code, from its PTX.
//!
//! The PTX shows what a source hides in macros, templates and headers. What counts:
//! - **shared memory**: the state space `.shared`, matrix loads, addresses of other blocks;
//! - **vector loads**: `.v2`, `.v4`, `.v8` and `.b128` of global or generic memory, and wide
//!   registers whose parts are elements (see `registers`);
//! - **warp primitives**: `shfl`, `vote`, `match`, `redux`, `elect`, `activemask`, `movmatrix` and
//!   barriers of a warp;
//! - **tensor cores**: `mma`, `wmma`, `wgmma`, `tcgen05` and the moves of matrices;
//! - **asynchronous copies**: `cp.async`, bulk copies, `mbarrier`, and everything `.async`;
//! - **inline assembly**: the compiler's mark, where the source can hold any (see `assembly`), unless
//!   line information puts it into a header.
//!
//! An instruction counts wherever it stands, because PTX is free in its form: `shfl .sync` may be
//! spread over lines, and comments may stand between its parts. A line with `#` counts as all
//! techniques, because an assembler with a preprocessor would expand macros.

mod addresses;
mod halves;
mod operands;
mod registers;
pub mod words;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::assembly::Assembly;
use super::stages::TECHNIQUES;
use crate::technique::{Scan, Technique};
use addresses::Addresses;
pub use addresses::WideAccess;
use operands::is_elsewhere;
use registers::{Apart, Registers};
use words::{Piece, Word};

/// The techniques of the PTX of a candidate, by the size of the task's elements.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PtxScan {
    /// Where some elements have eight bytes.
    eight_bytes: Scan,
    /// Where all are smaller: eight bytes that are only moved are two elements or more.
    smaller: Scan,
    /// The accesses of eight bytes. Only a plan tells whether they are two elements.
    wide: Vec<WideAccess>,
}

impl PtxScan {
    /// The techniques for a task some of whose elements have eight bytes, or none.
    pub fn of(&self, has_eight_bytes: bool) -> &Scan {
        if has_eight_bytes {
            &self.eight_bytes
        } else {
            &self.smaller
        }
    }

    /// Loads, stores and atomic operations of eight bytes, by the parameters of kernels that their
    /// addresses come from.
    pub fn wide(&self) -> &[WideAccess] {
        &self.wide
    }
}

/// The techniques of the PTX of a candidate, whose text says where assembly can come from. Where the
/// PTX has line information, the lines are the source's.
pub fn scan_ptx(ptx: &str, assembly: Assembly) -> PtxScan {
    let (uses, wide) = read(ptx, assembly);
    let mut scan = PtxScan {
        wide,
        ..PtxScan::default()
    };
    for Use {
        technique,
        line,
        text,
        is_source_line,
        is_of_smaller,
    } in uses
    {
        let text = if is_source_line {
            text
        } else {
            format!("{text} (in the PTX)")
        };
        if !is_of_smaller {
            scan.eight_bytes.note(technique, line, text.clone());
        }
        scan.smaller.note(technique, line, text);
    }
    scan
}

/// One use of a technique.
pub(super) struct Use {
    pub(super) technique: Technique,
    pub(super) line: u32,
    pub(super) text: String,
    is_source_line: bool,
    /// Whether it is one only where all elements have fewer than eight bytes.
    is_of_smaller: bool,
}

/// All uses, in order.
pub(super) fn uses(ptx: &str, assembly: Assembly) -> Vec<Use> {
    read(ptx, assembly).0
}

/// All uses in order, and the accesses of eight bytes.
fn read(ptx: &str, assembly: Assembly) -> (Vec<Use>, Vec<WideAccess>) {
    let pieces = words::pieces(ptx);
    let mut reader = Reader {
        headers: headers(&pieces),
        is_only_of_headers: assembly == Assembly::OfHeaders,
        ..Reader::default()
    };
    for (at, piece) in pieces.iter().enumerate() {
        reader.meet(piece, &pieces[at + 1..]);
    }
    (reader.uses, reader.addresses.accesses())
}

/// The numbers of the files that are headers.
fn headers(pieces: &[Piece<'_>]) -> BTreeSet<u32> {
    const ENDS: [&str; 5] = [".h", ".hpp", ".cuh", ".inl", ".hxx"];
    let mut found = BTreeSet::new();
    for window in pieces.windows(3) {
        if let [Piece::Word(file), Piece::Word(number), Piece::Str(name)] = window
            && file.text == ".file"
            && ENDS.iter().any(|end| name.ends_with(end))
        {
            found.extend(number.number());
        }
    }
    found
}

/// The name in `.func (.param .b64 func_retval0) name (...)`.
fn function_name<'p>(rest: &'p [Piece<'_>]) -> Option<&'p str> {
    /// Pieces of a result, at most.
    const MOST: usize = 16;
    let at = match rest.first()? {
        Piece::Mark('(') => {
            1 + rest
                .iter()
                .take(MOST)
                .position(|one| *one == Piece::Mark(')'))?
        }
        _ => 0,
    };
    match rest.get(at)? {
        Piece::Word(word) => Some(word.text.as_ref()),
        Piece::Str(_) | Piece::Begin(_) | Piece::Hash(_) | Piece::Mark(_) => None,
    }
}

/// Where the code comes from that follows a `.loc`.
#[derive(Clone, Copy, Default)]
struct Place {
    /// The line of the source, also for what a header's function does there.
    line: Option<u32>,
    is_header: bool,
}

#[derive(Default)]
struct Reader {
    headers: BTreeSet<u32>,
    /// Whether all inline assembly is that of headers.
    is_only_of_headers: bool,
    place: Place,
    /// The line of an inline assembly whose first word is not read yet.
    assembly: Option<u32>,
    registers: Registers,
    addresses: Addresses,
    uses: Vec<Use>,
}

impl Reader {
    fn meet(&mut self, piece: &Piece<'_>, rest: &[Piece<'_>]) {
        match piece {
            Piece::Begin(line) if !self.is_only_of_headers && !self.place.is_header => {
                self.note(Technique::InlineAsm, *line, "asm");
                self.assembly = Some(*line);
            }
            Piece::Hash(line) => {
                for technique in TECHNIQUES {
                    self.note(technique, *line, "#");
                }
            }
            Piece::Word(word) => self.meet_word(word, rest),
            Piece::Begin(_) | Piece::Str(_) | Piece::Mark(_) => {}
        }
    }

    fn meet_word(&mut self, word: &Word<'_>, rest: &[Piece<'_>]) {
        let text: &str = &word.text;
        if text == ".loc" {
            self.place = self.place_of(rest);
            return;
        }
        if self.assembly.take().is_some()
            && let Some(last) = self.uses.last_mut()
        {
            last.text = format!("asm {text}");
        }
        let parts: Vec<&str> = text.split('.').collect();
        let [head, modifiers @ ..] = parts.as_slice() else {
            return;
        };
        // Blanks may join it to a number before it: `.address_size 64 .func`.
        let is_directive = head.bytes().all(|byte| byte.is_ascii_digit());
        if is_directive && modifiers.iter().any(|one| matches!(*one, "entry" | "func")) {
            let is_called = modifiers.contains(&"func");
            let name = function_name(rest);
            self.addresses.enter(name, !is_called);
            let name = name.filter(|_| is_called);
            self.registers.enter(name.map(str::to_owned));
        }
        // A name has no modifiers, and special registers such as `%tid.x` begin with `%`.
        if modifiers.is_empty() || head.starts_with('%') {
            return;
        }
        for technique in techniques(head, modifiers) {
            self.note(technique, word.line, text);
        }
        let operands = words::operands(rest);
        let line = self.place.line.unwrap_or(word.line);
        self.addresses.meet(head, modifiers, &operands, line);
        if let Some(apart) = self.registers.meet(head, modifiers, &operands) {
            self.note(Technique::VectorLoads, word.line, text);
            if let (Apart::IfSmaller, Some(last)) = (apart, self.uses.last_mut()) {
                last.is_of_smaller = true;
            }
        }
    }

    fn place_of(&self, rest: &[Piece<'_>]) -> Place {
        let numbers = |pieces: &[Piece<'_>]| match pieces {
            [Piece::Word(file), Piece::Word(line), ..] => file.number().zip(line.number()),
            _ => None,
        };
        let Some((file, line)) = numbers(rest) else {
            return Place::default();
        };
        if !self.headers.contains(&file) {
            return Place {
                line: Some(line),
                is_header: false,
            };
        }
        // `.loc 2 7 3, function_name $L, inlined_at 1 9 5`
        let called = rest
            .iter()
            .take(8)
            .position(|piece| matches!(piece, Piece::Word(word) if word.text == "inlined_at"))
            .and_then(|at| numbers(&rest[at + 1..]))
            .filter(|(file, _)| !self.headers.contains(file));
        Place {
            line: called.map(|(_, line)| line),
            is_header: true,
        }
    }

    fn note(&mut self, technique: Technique, line: u32, text: &str) {
        self.uses.push(Use {
            technique,
            line: self.place.line.unwrap_or(line),
            text: text.to_owned(),
            is_source_line: self.place.line.is_some(),
            is_of_smaller: false,
        });
    }
}

fn is_memory(head: &str) -> bool {
    matches!(
        head,
        "ld" | "ldu" | "st" | "red" | "atom" | "multimem" | "tex" | "tld4" | "suld" | "sust"
    )
}

/// The techniques of an instruction or a directive; the head of a directive is empty.
fn techniques(head: &str, modifiers: &[&str]) -> Vec<Technique> {
    let has = |test: fn(&str) -> bool| modifiers.iter().any(|one| test(one));
    let is_space = |one: &str| one == "shared" || one.starts_with("shared::");
    let is_async = |one: &str| one == "async" || one.starts_with("async::") || one == "bulk";
    let is_vector = |one: &str| matches!(one, "v2" | "v4" | "v8" | "v16" | "b128");
    let found = [
        (
            Technique::SharedMemory,
            has(is_space) || matches!(head, "ldmatrix" | "stmatrix" | "mapa" | "getctarank"),
        ),
        (
            Technique::VectorLoads,
            is_memory(head) && has(is_vector) && !is_elsewhere(modifiers),
        ),
        (
            Technique::WarpPrimitives,
            matches!(
                head,
                "shfl" | "vote" | "match" | "redux" | "activemask" | "elect" | "movmatrix"
            ) || (matches!(head, "bar" | "barrier") && modifiers.first() == Some(&"warp")),
        ),
        (
            Technique::TensorCores,
            matches!(
                head,
                "mma" | "wmma" | "wgmma" | "tcgen05" | "ldmatrix" | "stmatrix" | "movmatrix"
            ),
        ),
        (
            Technique::AsyncCopy,
            matches!(head, "cp" | "mbarrier" | "tensormap") || has(is_async),
        ),
    ];
    found
        .into_iter()
        .filter_map(|(technique, is_used)| is_used.then_some(technique))
        .collect()
}

#[cfg(test)]
mod tests;
