//! C: extracts code from answers, and finds its techniques. CUDA shares the lexer and the
//! extraction.

pub mod answer;
pub(super) mod extract;
mod headers;
pub mod lex;
mod line_marker;
mod normalise;
mod prototype;
mod scan;
pub mod stages;
mod template;

use extract::Wanted;
pub use headers::{headers_alone, is_plain, own_text};
pub use line_marker::lex_marked;
pub use normalise::normalise;
pub(crate) use normalise::normalise_in;
pub use prototype::{check, prototype, type_name};
pub use scan::{attributes, hides_vectors, is_asm, literals, scan, scan_lexed};
pub use template::{without_comments, written};

use crate::extracted::{Extracted, Malformed};
use crate::interface::Function;

/// Finds the candidate in a completion.
pub fn extract(completion: &str, function: &Function) -> Result<Extracted, Malformed> {
    extract::extract(completion, &wanted(function))
}

/// Makes a candidate from the content of a file.
pub fn read(bytes: &[u8], function: &Function) -> Result<Extracted, Malformed> {
    extract::read(bytes, &wanted(function))
}

fn wanted(function: &Function) -> Wanted<'_> {
    Wanted {
        function,
        dialect: lex::Dialect::C,
        prototype: prototype(function, &function.entry),
    }
}
