//! C: extracts code from answers, and finds its techniques.

pub mod answer;
mod extract;
mod headers;
pub mod lex;
mod line_marker;
mod normalise;
mod prototype;
mod scan;
pub mod stages;

pub use extract::{extract, read};
pub use headers::{headers_alone, own_text};
pub use line_marker::lex_marked;
pub use normalise::normalise;
pub use prototype::{check, prototype, type_name};
pub use scan::{attributes, is_asm, scan, scan_lexed};
