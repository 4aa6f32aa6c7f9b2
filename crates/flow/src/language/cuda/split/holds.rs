//! What a macro's body holds, with what the macros in it hold.

use std::ops::BitOrAssign;

use super::words::is_machine;
use crate::language::c::lex::{Token, TokenKind};

/// What a macro's body holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Holds(u8);

const MACHINE: u8 = 1;
const CONSTANT: u8 = 2;
const LASTING: u8 = 4;
const SIGNS: u8 = 8;
const END: u8 = 16;

impl Holds {
    pub(super) fn of(token: &Token<'_>) -> Self {
        let word = token.text.as_ref();
        Self(match word {
            ";" => SIGNS | END,
            _ if token.kind != TokenKind::Ident => SIGNS,
            "const" | "constexpr" => CONSTANT,
            "static" => LASTING,
            _ if is_machine(word) => MACHINE,
            _ => 0,
        })
    }

    /// Assembly, or what else only a processor knows.
    pub(super) fn is_machine(self) -> bool {
        self.0 & MACHINE != 0
    }

    /// `const`, and nothing that could take it to something else.
    pub(super) fn is_constant(self) -> bool {
        self.0 & (CONSTANT | SIGNS) == CONSTANT
    }

    pub(super) fn is_static(self) -> bool {
        self.0 & LASTING != 0
    }

    /// Anything that is no word.
    pub(super) fn has_signs(self) -> bool {
        self.0 & SIGNS != 0
    }

    /// The end of a declaration.
    pub(super) fn has_end(self) -> bool {
        self.0 & END != 0
    }
}

impl BitOrAssign for Holds {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
