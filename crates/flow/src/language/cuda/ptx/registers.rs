//! Registers that hold several elements of global memory.
//!
//! Two floats may be loaded as one double or one integer. What shows it is how the register is
//! used: it is taken apart, it was put together, or it is moved as it is. With a number of eight
//! bytes a program computes. Where the task's elements have eight bytes, it also moves such
//! numbers. What is computed from a register is followed by [`Halves`].

use std::collections::{BTreeMap, BTreeSet};

use super::halves::Halves;
use super::operands::{is_cut, is_elsewhere, stored};

/// Where a use of a register is one of several elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Apart {
    Always,
    /// Where no element has eight bytes.
    IfSmaller,
}

/// The registers of a function.
#[derive(Debug, Default)]
pub(super) struct Registers {
    /// Those that a load wrote.
    loaded: BTreeSet<String>,
    /// Those that a load filled with eight bytes: what is known when they are taken apart.
    wide: BTreeMap<String, Apart>,
    /// Those that were put together from parts.
    packed: BTreeSet<String>,
    /// Those that hold something in their upper half alone.
    shifted: BTreeSet<String>,
    /// What is computed from them, over the whole PTX.
    halves: Halves,
}

impl Registers {
    /// Begins a function: it has registers of its own. A kernel has no name here, because nobody
    /// calls it.
    pub(super) fn enter(&mut self, function: Option<String>) {
        let mut halves = std::mem::take(&mut self.halves);
        halves.enter(function);
        *self = Self {
            halves,
            ..Self::default()
        };
    }

    /// Follows an instruction; says whether it handles several elements in one register.
    pub(super) fn meet(
        &mut self,
        head: &str,
        modifiers: &[&str],
        operands: &[&str],
    ) -> Option<Apart> {
        let found = self.find(head, modifiers, operands);
        let is_complete = self.halves.meet(head, modifiers, operands);
        self.write(head, modifiers, operands);
        found.or(is_complete.then_some(Apart::IfSmaller))
    }

    fn find(&self, head: &str, modifiers: &[&str], operands: &[&str]) -> Option<Apart> {
        let wide = |register: &str| self.wide.get(register).copied();
        match (head, operands) {
            ("shr" | "shl" | "and" | "or" | "xor" | "not" | "bfe" | "bfi", [_, from @ ..]) => {
                from.iter().find_map(|from| wide(from))
            }
            ("cvt", [_, from, ..]) if is_cut(modifiers) => wide(from),
            ("mov", ["{", .., "}", whole]) if self.loaded.contains(*whole) => Some(Apart::Always),
            ("st", _) if modifiers.contains(&"param") => None,
            ("st", _) => {
                let stored = stored(operands);
                let is_packed = stored.iter().any(|one| self.packed.contains(*one));
                if is_packed && !is_elsewhere(modifiers) {
                    return Some(Apart::Always);
                }
                let is_moved = stored.iter().any(|one| self.wide.contains_key(*one));
                is_moved.then_some(Apart::IfSmaller)
            }
            _ => None,
        }
    }

    fn write(&mut self, head: &str, modifiers: &[&str], operands: &[&str]) {
        let Some((to, from)) = operands.split_first() else {
            return;
        };
        let insert = |known: &mut BTreeSet<String>| {
            known.insert((*to).to_owned());
        };
        match (head, from) {
            ("ld" | "ldu", _) if is_elsewhere(modifiers) || *to == "{" => {}
            ("ld" | "ldu", _) => {
                insert(&mut self.loaded);
                if let Some(apart) = modifiers.iter().find_map(|one| eight_bytes(one)) {
                    self.wide.insert((*to).to_owned(), apart);
                }
            }
            ("mov", ["{", ..]) | ("bfi", _) => {
                insert(&mut self.packed);
                self.halves.pack(to);
            }
            ("mov" | "selp", _) => {
                for from in from {
                    for known in [&mut self.loaded, &mut self.packed, &mut self.shifted] {
                        if known.contains(*from) {
                            insert(known);
                        }
                    }
                    if let Some(apart) = self.wide.get(*from).copied() {
                        self.wide.insert((*to).to_owned(), apart);
                    }
                }
            }
            ("shl", [_, "32"]) => insert(&mut self.shifted),
            ("or" | "add" | "xor", [a, b])
                if self.shifted.contains(*a) || self.shifted.contains(*b) =>
            {
                insert(&mut self.packed);
                self.halves.pack(to);
            }
            ("st" | "red" | "bra" | "call" | "setp", _) => {}
            // What is computed is a number.
            _ => drop(self.wide.remove(*to)),
        }
    }
}

/// Whether a modifier is a type of eight bytes; one of a number is taken apart where no element is
/// such a number.
fn eight_bytes(modifier: &str) -> Option<Apart> {
    match modifier {
        "b64" | "u64" | "s64" => Some(Apart::Always),
        "f64" => Some(Apart::IfSmaller),
        _ => None,
    }
}
