//! What hotloop knows of each language that candidates are written in.

pub mod c;
