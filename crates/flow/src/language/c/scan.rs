//! Finds the techniques of a text from its tokens.
//!
//! What counts:
//! - **SIMD**: x86 intrinsics and vector types, vector attributes, the vector
//!   functions of libmvec, `#pragma omp simd`, instructions that move all vector registers,
//!   and inline assembly with vector registers or mnemonics.
//!   `omp simd` and `omp declare simd` alone are SIMD and not OpenMP; `omp for simd` is both.
//! - **OpenMP**: any other `#pragma omp`, and the names of its runtime.
//! - **Prefetch**: the builtins, their hints, and `prefetch` in inline assembly.
//!
//! Comments and strings never count, except for the strings of inline assembly and of attributes.
//! The text should be preprocessed. In a source as written every branch of an `#if` counts, and no
//! macro's body does.

mod facts;
mod mnemonics;
mod words;

use super::lex::{Item, Lexed, Token};
use super::line_marker::lex_marked;
use crate::technique::Scan;

pub use facts::{attributes, hides_vectors, is_asm, literals};

/// The techniques of a text. Its line markers determine line numbers.
pub fn scan(text: &str) -> Scan {
    scan_lexed(&lex_marked(text))
}

/// The techniques of a text that is already split into tokens.
pub fn scan_lexed(lexed: &Lexed<'_>) -> Scan {
    let mut scan = Scan::default();
    let mut tokens: Vec<Token<'_>> = Vec::new();
    for item in &lexed.items {
        match item {
            Item::Token(token) => tokens.push(token.clone()),
            Item::Directive(pragma) if pragma.name == "pragma" => {
                facts::of_pragma(pragma, &mut scan);
            }
            Item::Directive(_) => {}
        }
    }
    facts::of_tokens(&tokens, &mut scan);
    scan
}

#[cfg(test)]
mod tests;
