//! What the loader is told by an object's program headers and dynamic tags: both by allow-list.

use object::elf::{
    DF_1_NOW, DF_BIND_NOW, DF_STATIC_TLS, DF_SYMBOLIC, DT_AUDIT, DT_AUXILIARY, DT_FILTER, DT_FINI,
    DT_FINI_ARRAY, DT_FLAGS, DT_FLAGS_1, DT_GNU_HASH, DT_HASH, DT_INIT, DT_INIT_ARRAY,
    DT_INIT_ARRAYSZ, DT_JMPREL, DT_NEEDED, DT_NULL, DT_PLTGOT, DT_PLTREL, DT_PLTRELSZ,
    DT_PREINIT_ARRAY, DT_RELA, DT_RELACOUNT, DT_RELAENT, DT_RELASZ, DT_RPATH, DT_RUNPATH, DT_STRSZ,
    DT_STRTAB, DT_SYMBOLIC, DT_SYMENT, DT_SYMTAB, DT_VERNEED, DT_VERNEEDNUM, DT_VERSYM, DynamicTag,
    PF_W, PF_X, PT_DYNAMIC, PT_GNU_EH_FRAME, PT_GNU_PROPERTY, PT_GNU_RELRO, PT_GNU_STACK, PT_LOAD,
    PT_NOTE, PT_NULL, PT_TLS, ProgramType,
};
use object::read::elf::{Dyn, Dynamic, ProgramHeader};
use object::{Object, ObjectSection};

use crate::cpu::memory::PAGE;
use crate::cpu::object_file::code::Code;
use crate::cpu::object_file::sections::{AtLoad, File};

const HEADERS: [ProgramType; 9] = [
    PT_NULL,
    PT_LOAD,
    PT_DYNAMIC,
    PT_NOTE,
    PT_TLS,
    PT_GNU_EH_FRAME,
    PT_GNU_STACK, // whether it is executable, `executable.rs` asks
    PT_GNU_RELRO,
    PT_GNU_PROPERTY,
];

/// Tags that have the loader run code of the object, or that of others in its place.
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

/// Tags that tell where tables are, how large they are, and in what order names are looked up.
/// Paths of libraries come from the compiler's driver: no source can add one.
const TAGS: [DynamicTag; 25] = [
    DT_INIT_ARRAY,
    DT_INIT_ARRAYSZ,
    DT_HASH,
    DT_GNU_HASH,
    DT_STRTAB,
    DT_STRSZ,
    DT_SYMTAB,
    DT_SYMENT,
    DT_SYMBOLIC,
    DT_PLTGOT,
    DT_PLTREL,
    DT_PLTRELSZ,
    DT_JMPREL,
    DT_RELA,
    DT_RELASZ,
    DT_RELAENT,
    DT_RELACOUNT,
    DT_VERSYM,
    DT_VERNEED,
    DT_VERNEEDNUM,
    DT_NEEDED,
    DT_FLAGS,
    DT_FLAGS_1,
    DT_RPATH,
    DT_RUNPATH,
];

/// Tables that the loader finds by a tag, and that are checked by their section: both must mean the
/// same bytes.
const TABLES: [(DynamicTag, Option<DynamicTag>, &str); 5] = [
    (DT_INIT_ARRAY, Some(DT_INIT_ARRAYSZ), ".init_array"),
    (DT_RELA, Some(DT_RELASZ), ".rela.dyn"),
    (DT_JMPREL, Some(DT_PLTRELSZ), ".rela.plt"),
    (DT_SYMTAB, None, ".dynsym"),
    (DT_STRTAB, Some(DT_STRSZ), ".dynstr"),
];

/// Libraries that honest objects need: the C library and its parts, OpenMP's runtimes, the
/// compiler's own.
const LIBRARIES: [&str; 9] = [
    "libc.so",
    "libm.so",
    "libmvec.so",
    "libpthread.so",
    "ld-linux-x86-64.so",
    "libgomp.so",
    "libomp.so",
    "libgcc_s.so",
    "libatomic.so",
];

/// The rule that program headers or dynamic tags break.
pub(super) fn refusal(file: &File<'_>, code: &Code<'_>, at_load: AtLoad) -> Option<String> {
    headers(file, code).or_else(|| tags(file, at_load))
}

fn headers(file: &File<'_>, code: &Code<'_>) -> Option<String> {
    let endian = file.endian();
    let unknown =
        |kind: ProgramType| format!("a program header of type {:#x} is prohibited", kind.0);
    for header in file.elf_program_headers() {
        let (kind, flags) = (header.p_type(endian), header.p_flags(endian));
        if !HEADERS.contains(&kind) {
            return Some(unknown(kind));
        }
        if kind == PT_DYNAMIC {
            let section = file.section_by_name(".dynamic");
            let (address, size) = (header.p_vaddr(endian), header.p_memsz(endian));
            if !section.is_some_and(|table| table.address() == address && table.size() == size) {
                return Some("a second table for the loader is prohibited".into());
            }
        }
        if kind != PT_LOAD || flags & PF_X != PF_X {
            continue;
        }
        if flags & PF_W == PF_W {
            return Some("memory that is both written and executed is prohibited".into());
        }
        let (offset, size) = (header.p_offset(endian), header.p_filesz(endian));
        if size != header.p_memsz(endian) || !is_all_code(file, code, offset, size) {
            return Some("anything but code in a segment of code is prohibited".into());
        }
    }
    None
}

/// Whether the pages that hold so many bytes of the file are nothing but code: whole pages are
/// mapped.
fn is_all_code(file: &File<'_>, code: &Code<'_>, offset: u64, size: u64) -> bool {
    let (page, data) = (PAGE as u64, file.data());
    let start = offset / page * page;
    let end = (offset + size)
        .next_multiple_of(page)
        .min(data.len() as u64);
    let bytes = data.get(start as usize..end as usize);
    bytes.is_some_and(|bytes| code.covers(start, bytes))
}

fn tags(file: &File<'_>, at_load: AtLoad) -> Option<String> {
    let Ok(table) = file.elf_dynamic_table() else {
        return Some("the object's dynamic table cannot be read".into());
    };
    let entries: Vec<Dynamic> = table.iter().collect();
    // The loader stops at the first empty entry; a linker leaves only empty ones behind it.
    let mut behind = table.dynamics().iter().skip(entries.len());
    if behind.any(|entry| entry.d_tag(file.endian()) != DT_NULL) {
        return Some("entries behind the end of the dynamic table are prohibited".into());
    }
    for entry in &entries {
        let of_libraries = at_load == AtLoad::OfLibraries && entry.tag == DT_INIT_ARRAY;
        if RUN_BY_LOADER.contains(&entry.tag) && !of_libraries {
            return Some("code that runs at load or exit is prohibited".into());
        }
        let harmful = match entry.tag {
            DT_FLAGS => entry.val & !(DF_SYMBOLIC.0 | DF_BIND_NOW.0 | DF_STATIC_TLS.0) != 0,
            DT_FLAGS_1 => entry.val & !DF_1_NOW.0 != 0,
            DT_PLTREL => entry.val != DT_RELA.0 as u64,
            tag => !TAGS.contains(&tag),
        };
        if harmful {
            return Some(format!(
                "the dynamic tag {:#x} with value {:#x} is prohibited",
                entry.tag.0, entry.val
            ));
        }
        if entry.tag == DT_NEEDED {
            let name = table.string(*entry).unwrap_or_default();
            let name = String::from_utf8_lossy(name);
            if !LIBRARIES.iter().any(|library| name.starts_with(library)) {
                return Some(format!("needing the library `{name}` is prohibited"));
            }
        }
    }
    misplaced_table(file, &entries)
}

/// A table that the loader finds elsewhere than its section is.
fn misplaced_table(file: &File<'_>, entries: &[Dynamic]) -> Option<String> {
    let values = |tag: DynamicTag| {
        let of_tag = entries.iter().filter(move |entry| entry.tag == tag);
        of_tag.map(|entry| entry.val).collect::<Vec<u64>>()
    };
    let misplaced = TABLES.iter().find(|(address, size, section)| {
        let section = file.section_by_name(section);
        let (at, long): (Vec<u64>, Vec<u64>) = section
            .iter()
            .map(|section| (section.address(), section.size()))
            .unzip();
        values(*address) != at || size.is_some_and(|size| values(size) != long)
    });
    misplaced.map(|(_, _, section)| format!("another table than `{section}` is prohibited"))
}
