//! C: reading what a model wrote, and finding out which techniques it uses.

pub mod extract;
pub mod lex;
pub mod scan;
