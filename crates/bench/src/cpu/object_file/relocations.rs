//! Relocations by allow-list: what the loader writes into an object, and where.

use object::elf::{
    R_X86_64_64, R_X86_64_DTPMOD64, R_X86_64_DTPOFF64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT,
    R_X86_64_RELATIVE, R_X86_64_TPOFF64, Rela64,
};
use object::read::elf::{Rela, SectionHeader, Sym};
use object::{Endianness, Object, ObjectSection, SymbolIndex};

use crate::cpu::object_file::code::Code;
use crate::cpu::object_file::sections::File;

/// Sections that the loader may write: data, and the table of what comes from outside.
const WRITTEN: [&str; 6] = [
    ".data",
    ".data.rel.ro",
    ".tdata",
    ".got",
    ".got.plt",
    ".init_array",
];
const TABLE: [&str; 2] = [".got", ".got.plt"];

/// Relocations of one section that are read.
const MOST: usize = 100_000;

/// The rule that a relocation breaks.
pub(super) fn refusal(file: &File<'_>, code: &Code<'_>) -> Option<String> {
    for section in file.sections() {
        let header = section.elf_section_header();
        let Ok(Some((entries, _))) = header.rela(file.endian(), file.data()) else {
            continue; // none but sections of type RELA have any, by the allow-list of sections
        };
        let name = section.name().unwrap_or("?");
        if entries.len() > MOST {
            return Some(format!(
                "more than {MOST} relocations in `{name}` are not read"
            ));
        }
        let of_functions = name == ".rela.plt";
        if let Some(entry) = entries
            .iter()
            .find(|entry| !is_plain(file, code, entry, of_functions))
        {
            let kind = entry.r_type(file.endian(), false);
            return Some(format!(
                "a relocation of type {} in `{name}` is prohibited as it is made here",
                kind.0
            ));
        }
    }
    None
}

/// Whether a compiler and a linker make such an entry of plain C.
fn is_plain(
    file: &File<'_>,
    code: &Code<'_>,
    entry: &Rela64<Endianness>,
    of_functions: bool,
) -> bool {
    let endian = file.endian();
    let symbol = entry.r_sym(endian, false);
    let (sections, known): (&[&str], bool) = match entry.r_type(endian, false) {
        R_X86_64_JUMP_SLOT => (&TABLE, of_functions && symbol != 0),
        R_X86_64_GLOB_DAT | R_X86_64_DTPOFF64 => (&TABLE, !of_functions && symbol != 0),
        R_X86_64_64 => (&WRITTEN, !of_functions && symbol != 0),
        R_X86_64_RELATIVE => (&WRITTEN, !of_functions && symbol == 0),
        // Storage of threads that only this object knows has no symbol.
        R_X86_64_DTPMOD64 | R_X86_64_TPOFF64 => (&TABLE, !of_functions),
        _ => (&[], false),
    };
    let offset = entry.r_offset(endian);
    let into = file.sections().any(|section| {
        let end = section.address().saturating_add(section.size());
        let lies_in = section.address() <= offset && offset.saturating_add(8) <= end;
        lies_in && sections.contains(&section.name().unwrap_or("?"))
    });
    known && into && !points_within_an_instruction(file, code, entry)
}

fn points_within_an_instruction(
    file: &File<'_>,
    code: &Code<'_>,
    entry: &Rela64<Endianness>,
) -> bool {
    let endian = file.endian();
    // Those of threads' storage are distances, not addresses.
    let is_address = matches!(
        entry.r_type(endian, false),
        R_X86_64_64 | R_X86_64_GLOB_DAT | R_X86_64_JUMP_SLOT | R_X86_64_RELATIVE
    );
    let symbols = file.elf_dynamic_symbol_table();
    let symbol = symbols.symbol(SymbolIndex(entry.r_sym(endian, false) as usize));
    let base = symbol.map_or(0, |symbol| symbol.st_value(endian));
    is_address && code.is_within_an_instruction(base.wrapping_add_signed(entry.r_addend(endian)))
}
