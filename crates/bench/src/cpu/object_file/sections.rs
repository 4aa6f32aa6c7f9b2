//! Sections by allow-list: those that a compiler and a linker make of plain C, each with its type
//! and rights.

use object::elf::{
    SHF_ALLOC, SHF_EXECINSTR, SHF_TLS, SHF_WRITE, SHT_DYNAMIC, SHT_DYNSYM, SHT_GNU_HASH,
    SHT_GNU_VERNEED, SHT_GNU_VERSYM, SHT_HASH, SHT_INIT_ARRAY, SHT_NOBITS, SHT_NOTE, SHT_NULL,
    SHT_PROGBITS, SHT_RELA, SHT_STRTAB, SHT_SYMTAB, SHT_X86_64_UNWIND, SectionFlags, SectionType,
};
use object::read::elf::{ElfFile64, ElfSection64, SectionHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol};

/// An object as it is read here.
pub(super) type File<'data> = ElfFile64<'data, Endianness>;
/// One of its sections.
pub(super) type Section<'data, 'file> = ElfSection64<'data, 'file, Endianness>;

/// What may run when an object is loaded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AtLoad {
    Nothing,
    /// What the linker took from the compiler's own library, which finds out about the processor.
    OfLibraries,
}

/// What a section may be.
struct Known {
    name: &'static str,
    kind: SectionType,
    rights: SectionFlags,
}

const fn known(name: &'static str, kind: SectionType, rights: u64) -> Known {
    let rights = SectionFlags(rights);
    Known { name, kind, rights }
}

/// Rights that count: to be loaded, written, executed, and copied for every thread.
const NONE: u64 = 0;
const LOADED: u64 = SHF_ALLOC.0;
const CODE: u64 = LOADED | SHF_EXECINSTR.0;
const DATA: u64 = LOADED | SHF_WRITE.0;
const OF_THREADS: u64 = DATA | SHF_TLS.0;
const ALL: u64 = CODE | OF_THREADS;

/// What a program defines.
const OWN: [Known; 8] = [
    known(".text", SHT_PROGBITS, CODE),
    known(".rodata", SHT_PROGBITS, LOADED),
    known(".data", SHT_PROGBITS, DATA),
    known(".data.rel.ro", SHT_PROGBITS, DATA),
    known(".bss", SHT_NOBITS, DATA),
    known(".tdata", SHT_PROGBITS, OF_THREADS),
    known(".tbss", SHT_NOBITS, OF_THREADS),
    known(".eh_frame", SHT_PROGBITS, LOADED),
];

/// What a linker adds for the loader, for unwinding and for people.
const OF_LINKER: [Known; 24] = [
    known("", SHT_NULL, NONE),
    known(".note.gnu.build-id", SHT_NOTE, LOADED),
    known(".note.gnu.property", SHT_NOTE, LOADED),
    known(".hash", SHT_HASH, LOADED),
    known(".gnu.hash", SHT_GNU_HASH, LOADED),
    known(".dynsym", SHT_DYNSYM, LOADED),
    known(".dynstr", SHT_STRTAB, LOADED),
    known(".gnu.version", SHT_GNU_VERSYM, LOADED),
    known(".gnu.version_r", SHT_GNU_VERNEED, LOADED),
    known(".rela.dyn", SHT_RELA, LOADED),
    known(".rela.plt", SHT_RELA, LOADED),
    known(".plt", SHT_PROGBITS, CODE),
    known(".plt.got", SHT_PROGBITS, CODE),
    known(".plt.sec", SHT_PROGBITS, CODE),
    known(".eh_frame_hdr", SHT_PROGBITS, LOADED),
    known(".eh_frame", SHT_X86_64_UNWIND, LOADED),
    known(".dynamic", SHT_DYNAMIC, DATA),
    known(".got", SHT_PROGBITS, DATA),
    known(".got.plt", SHT_PROGBITS, DATA),
    known(".relro_padding", SHT_NOBITS, DATA),
    known(".comment", SHT_PROGBITS, NONE),
    known(".symtab", SHT_SYMTAB, NONE),
    known(".strtab", SHT_STRTAB, NONE),
    known(".shstrtab", SHT_STRTAB, NONE),
];

/// Starts of the names of sections whose code a loader runs by itself.
const RUN_AT_LOAD: [&str; 5] = [".init", ".fini", ".ctors", ".dtors", ".preinit"];

/// What the loader runs before anything else.
const AT_LOAD: Known = known(".init_array", SHT_INIT_ARRAY, DATA);

fn runs_at_load(name: &str) -> bool {
    RUN_AT_LOAD.iter().any(|start| name.starts_with(start))
}

/// Whether an object that is not linked yet has no code that a loader would run by itself.
pub(super) fn runs_nothing_at_load(bytes: &[u8]) -> bool {
    let runs = |section: Section<'_, '_>| section.name().map_or(true, runs_at_load);
    File::parse(bytes).is_ok_and(|file| !file.sections().any(runs))
}

/// The rule that the sections of an object break.
pub(super) fn refusal(file: &File<'_>, at_load: AtLoad) -> Option<String> {
    let unknown = file.sections().find_map(|section| {
        let Ok(name) = section.name() else {
            return Some("a section without a name".to_owned());
        };
        let of_libraries = at_load == AtLoad::OfLibraries && name == AT_LOAD.name;
        if runs_at_load(name) && !of_libraries {
            return Some(format!(
                "code that runs at load or exit (section `{name}`) is prohibited"
            ));
        }
        let header = section.elf_section_header();
        let (kind, flags) = (
            header.sh_type(file.endian()),
            header.sh_flags(file.endian()),
        );
        let mut known = OWN.iter().chain(&OF_LINKER).chain([&AT_LOAD]);
        let is_known = known.any(|known| {
            known.name == name && known.kind == kind && known.rights.0 == flags.0 & ALL
        });
        (!is_known).then(|| format!("the section `{name}` as it is made here is prohibited"))
    });
    unknown.or_else(|| out_of_place(file))
}

/// What a program defines in a section that is the linker's. Linkers name only places there, as
/// `_DYNAMIC`, which have no size; what a compiler puts somewhere has one.
fn out_of_place(file: &File<'_>) -> Option<String> {
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        let section = symbol.section_index();
        let Some(Ok(section)) = section.map(|index| file.section_by_index(index)) else {
            continue;
        };
        let section = section.name().unwrap_or("?");
        if symbol.size() > 0 && !OWN.iter().any(|own| own.name == section) {
            let name = symbol.name().unwrap_or("?");
            return Some(format!(
                "`{name}` in the section `{section}`, which is the linker's, is prohibited"
            ));
        }
    }
    None
}
