//! Stacks that hold code: where an object has room for machine code that no compiler made.
//!
//! The screen looks for forbidden techniques in the source, and the compiler applies the
//! optimisation level. Neither holds for machine code that a candidate keeps as data.
//! `object_file` reads all memory that is executable from the start. Once a candidate is loaded, no
//! memory becomes executable (see `sandbox::calls`). The stack may hold both data and code.

use std::io::Read;
use std::path::PathBuf;

use hotloop_flow::Rules;
use object::Endianness;
use object::elf::{FileHeader64, PF_X, PT_GNU_STACK};
use object::read::elf::{FileHeader, ProgramHeader};

use crate::sandbox::rights::Stacks;

/// The bytes of an object that its program headers are among, all but always.
const HEAD: u64 = 4096;

impl Stacks {
    /// As they are once `files` are loaded. A library that is known by name alone is the C
    /// library's own and leaves them plain.
    pub(crate) fn after_loading<'a>(mut files: impl Iterator<Item = &'a PathBuf>) -> Self {
        let asks = |file: &PathBuf| {
            let mut head = Vec::new();
            let read =
                fs_err::File::open(file).and_then(|file| file.take(HEAD).read_to_end(&mut head));
            read.is_ok() && has_executable_stack(&head)
        };
        if files.any(asks) {
            Self::Executable
        } else {
            Self::Plain
        }
    }
}

/// Why the machine code of an object may not be the compiler's alone.
///
/// A nested function whose address is taken runs from the stack, so the stack of honest code may be
/// executable. Then the candidate may write code there, as it may write assembly: only where a
/// stage forbids something is that refused.
pub(crate) fn refusal(bytes: &[u8], rules: Option<Rules<'_>>) -> Option<String> {
    let rules = rules.filter(|rules| restricts(rules) && has_executable_stack(bytes))?;
    Some(format!(
        "{} forbids an executable stack, which a nested function needs whose address is taken: make it a function of its own",
        rules.stage
    ))
}

/// Whether a stage forbids anything.
pub(crate) fn restricts(rules: &Rules<'_>) -> bool {
    !rules.spec.forbids.is_empty()
}

/// As the loader reads it: where nothing is said of the stack, it is executable.
fn has_executable_stack(bytes: &[u8]) -> bool {
    let headers = FileHeader64::<Endianness>::parse(bytes).and_then(|header| {
        header
            .endian()
            .and_then(|endian| Ok((endian, header.program_headers(endian, bytes)?)))
    });
    headers.is_ok_and(|(endian, headers)| {
        let stack = headers
            .iter()
            .find(|header| header.p_type(endian) == PT_GNU_STACK);
        stack.is_none_or(|stack| stack.p_flags(endian) & PF_X == PF_X)
    })
}
