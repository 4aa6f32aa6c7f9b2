//! Refusals that the object tells: what it needs from outside, defines, and runs at load.

mod names;

use object::elf::{
    DT_AUDIT, DT_AUXILIARY, DT_FILTER, DT_FINI, DT_FINI_ARRAY, DT_INIT, DT_INIT_ARRAY,
    DT_PREINIT_ARRAY, DynamicTag, SHN_UNDEF, STT_GNU_IFUNC, STT_NOTYPE,
};
use object::read::elf::{ElfFile64, Sym};
use object::{Endianness, Object, ObjectSection, ObjectSymbol};

use crate::sys;
use names::{is_allowed, is_reserved, looks_like_blas};

/// What the object says of the candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Finding {
    /// Nothing against it.
    Clean,
    /// A rule is broken.
    Refused(String),
    /// A name that exists nowhere: the linker's complaint in a program of its own.
    Undefined(String),
}

/// Sections that ordinary C makes.
const PLAIN_SECTIONS: &[&str] = &[
    "",
    ".text",
    ".rodata",
    ".data",
    ".bss",
    ".tdata",
    ".tbss",
    ".eh_frame",
    ".note",
    ".gnu",
    ".dyn",
    ".rela",
    ".plt",
    ".got",
    ".hash",
    ".comment",
    ".symtab",
    ".strtab",
    ".shstrtab",
    ".debug",
    ".ldata",
    ".lbss",
    ".lrodata",
    ".relro_padding",
];

/// Those of them that hold what a program defines. All others are the linker's, and what the loader finds there it acts on: a
/// relocation of the right kind runs code.
const OWN_SECTIONS: &[&str] = &[
    ".text", ".rodata", ".data", ".bss", ".tdata", ".tbss", ".ldata", ".lbss", ".lrodata",
];

/// Reads a candidate's shared object.
pub(crate) fn inspect(bytes: &[u8]) -> Finding {
    let Ok(file) = ElfFile64::<Endianness>::parse(bytes) else {
        return Finding::Refused("the object cannot be read".into());
    };
    let refusal = sections(&file)
        .or_else(|| out_of_place(&file))
        .or_else(|| entry_points(&file))
        .or_else(|| defined(&file));
    refusal.map_or_else(|| needed(&file), Finding::Refused)
}

fn sections(file: &ElfFile64<'_, Endianness>) -> Option<String> {
    for section in file.sections() {
        let Ok(name) = section.name() else {
            return Some("a section without a name".into());
        };
        let starts_code = [".init", ".fini", ".ctors", ".dtors", ".preinit"]
            .iter()
            .any(|start| name.starts_with(start));
        if starts_code {
            return Some(format!(
                "code that runs at load or exit (section `{name}`) is prohibited"
            ));
        }
        if !PLAIN_SECTIONS
            .iter()
            .any(|plain| name == *plain || (!plain.is_empty() && name.starts_with(plain)))
        {
            return Some(format!("the section `{name}` is prohibited"));
        }
    }
    None
}

/// What a program defines in a section that is the linker's. Linkers name only places there, as `_DYNAMIC`, which have no size;
/// what a compiler puts somewhere has one.
fn out_of_place(file: &ElfFile64<'_, Endianness>) -> Option<String> {
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        let Some(Ok(section)) = symbol
            .section_index()
            .map(|index| file.section_by_index(index))
        else {
            continue;
        };
        let section = section.name().unwrap_or("?");
        if symbol.size() > 0 && !OWN_SECTIONS.iter().any(|own| section.starts_with(own)) {
            let name = symbol.name().unwrap_or("?");
            return Some(format!(
                "`{name}` in the section `{section}`, which is the linker's, is prohibited"
            ));
        }
    }
    None
}

/// Code that the loader runs by itself. The linker makes an entry point of a plain function named
/// `_init`, which needs no section of its own.
fn entry_points(file: &ElfFile64<'_, Endianness>) -> Option<String> {
    const RUN_BY_LOADER: [DynamicTag; 8] = [
        DT_INIT,
        DT_FINI,
        DT_INIT_ARRAY,
        DT_FINI_ARRAY,
        DT_PREINIT_ARRAY,
        DT_AUDIT,
        DT_AUXILIARY,
        DT_FILTER,
    ];
    let Ok(table) = file.elf_dynamic_table() else {
        return Some("the object's dynamic table cannot be read".into());
    };
    let runs = table.iter().any(|entry| RUN_BY_LOADER.contains(&entry.tag));
    runs.then(|| "code that runs at load or exit is prohibited".to_owned())
}

fn defined(file: &ElfFile64<'_, Endianness>) -> Option<String> {
    let endian = file.endian();
    for symbol in file.dynamic_symbols().chain(file.symbols()) {
        if symbol.elf_symbol().st_shndx(endian) == SHN_UNDEF {
            continue;
        }
        let name = symbol.name().unwrap_or("?");
        if symbol.elf_symbol().st_type() == STT_GNU_IFUNC {
            return Some(format!("`{name}` is resolved by code that runs at load"));
        }
        if name == "hotloop_call"
            || !symbol.is_global()
            || symbol.elf_symbol().st_type() == STT_NOTYPE
        {
            continue;
        }
        if is_reserved(name) {
            return Some(format!("defining `{name}` is prohibited"));
        }
    }
    None
}

fn needed(file: &ElfFile64<'_, Endianness>) -> Finding {
    let endian = file.endian();
    for symbol in file.dynamic_symbols() {
        let Ok(name) = symbol.name() else { continue };
        if symbol.elf_symbol().st_shndx(endian) != SHN_UNDEF || name.is_empty() || is_allowed(name)
        {
            continue;
        }
        return if sys::symbol_exists(name) || looks_like_blas(name) {
            Finding::Refused(format!(
                "`{name}` is not among the functions that a candidate may call"
            ))
        } else {
            Finding::Undefined(format!("undefined reference to `{name}'"))
        };
    }
    Finding::Clean
}

/// A function that the object calls and that starts or tells threads, if there is one.
pub(crate) fn of_threads(bytes: &[u8]) -> Option<String> {
    let file = ElfFile64::<Endianness>::parse(bytes).ok()?;
    let starts = ["GOMP_", "omp_", "__kmpc_", "pthread_create", "thrd_create"];
    let mut undefined = file.dynamic_symbols().filter(ObjectSymbol::is_undefined);
    undefined.find_map(|symbol| {
        let name = symbol.name().ok()?;
        starts
            .iter()
            .any(|start| name.starts_with(start))
            .then(|| name.to_owned())
    })
}
