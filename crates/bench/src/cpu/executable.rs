//! Machine code that no compiler made: where an object has room for it.
//!
//! What a stage forbids is looked for in the source, and a level of optimisation is the compiler's. Code that a
//! candidate holds as data knows neither. Once a candidate is loaded no memory becomes executable (see
//! `sandbox::calls`), so data must be executable from the start to be run: among the functions, or on the stack.

use std::io::Read;
use std::path::PathBuf;

use hotloop_flow::Stage;
use object::elf::{
    FileHeader64, PF_X, PT_GNU_STACK, SHF_EXECINSTR, SHF_WRITE, STT_FILE, STT_FUNC, STT_NOTYPE,
    STT_SECTION,
};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader, SectionHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SectionKind};

use crate::sandbox::rights::Stacks;

/// The bytes of an object that its program headers are among, all but always.
const HEAD: u64 = 4096;

impl Stacks {
    /// As they are once `files` are loaded. A library that is known by name alone is the C library's own and leaves
    /// them plain.
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
/// A nested function whose address is taken runs from the stack, so the stack of honest code may be executable. Then the
/// candidate may write code there, as it may write assembly: only where a stage forbids something is that refused.
pub(crate) fn refusal(bytes: &[u8], stage: Option<Stage>) -> Option<String> {
    if let Some(why) = strange_code(bytes) {
        return Some(why);
    }
    let stage = stage.filter(|stage| !stage.forbids().is_empty() && has_executable_stack(bytes))?;
    Some(format!(
        "{stage} forbids an executable stack, which a nested function needs whose address is taken: make it a function of its own"
    ))
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

/// Code where no compiler puts any by itself, or something else than functions among it. Machine code in an array, or in a
/// string, which has no symbol of its own, can be run where a section makes its whole segment executable.
fn strange_code(bytes: &[u8]) -> Option<String> {
    let file = ElfFile64::<Endianness>::parse(bytes).ok()?;
    let endian = file.endian();
    for section in file.sections() {
        let flags = section.elf_section_header().sh_flags(endian);
        let name = section.name().unwrap_or("?");
        let is_plain = [".text", ".plt"]
            .iter()
            .any(|plain| name.starts_with(plain))
            && !flags.contains(SHF_WRITE);
        if flags.contains(SHF_EXECINSTR) && !is_plain {
            return Some(format!("code in the section `{name}` is prohibited"));
        }
    }
    let in_code = |symbol: &object::read::elf::ElfSymbol64<'_, '_, Endianness>| {
        let section = symbol
            .section_index()
            .and_then(|index| file.section_by_index(index).ok());
        section.is_some_and(|section| section.kind() == SectionKind::Text)
    };
    let is_data = |symbol: &object::read::elf::ElfSymbol64<'_, '_, Endianness>| {
        !matches!(
            symbol.elf_symbol().st_type(),
            STT_FUNC | STT_NOTYPE | STT_SECTION | STT_FILE
        )
    };
    let mut data = file.symbols().chain(file.dynamic_symbols()).filter(is_data);
    let name = data
        .find(in_code)
        .map(|symbol| symbol.name().unwrap_or("?").to_owned())?;
    Some(format!(
        "`{name}` is data in a section of code, which is prohibited"
    ))
}
