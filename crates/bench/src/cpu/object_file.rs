//! Refusals that the object tells: what it holds, needs from outside, defines, and has the loader
//! do.
//!
//! The linked object is read, and not what the compiler made: it is what the loader and the
//! processor read.

mod code;
mod instructions;
mod loading;
mod relocations;
mod sections;
#[cfg(test)]
mod tests;

use object::elf::{SHN_UNDEF, STT_GNU_IFUNC, STT_OBJECT, STT_TLS};
use object::read::elf::{ElfFile64, Sym};
use object::{Endianness, Object, ObjectSymbol};

use crate::compiling::names::{is_allowed, is_reserved, is_reserved_function, looks_like_blas};
use crate::sys;
pub(crate) use code::Code;
use sections::{AtLoad, File};

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

/// Reads a candidate's shared object. `unlinked` is what the compiler made of its source alone, if
/// that is known.
pub(crate) fn inspect(bytes: &[u8], unlinked: Option<&[u8]>) -> Finding {
    let Ok(file) = ElfFile64::<Endianness>::parse(bytes) else {
        return Finding::Refused("the object cannot be read".into());
    };
    let at_load = if unlinked.is_some_and(sections::runs_nothing_at_load) {
        AtLoad::OfLibraries
    } else {
        AtLoad::Nothing
    };
    let refusal = sections::refusal(&file, at_load)
        .or_else(|| defined(&file))
        .or_else(|| refuse_content(&file, at_load));
    refusal.map_or_else(|| needed(&file), Finding::Refused)
}

/// The rule that machine code, or what the loader is told, breaks. The bench runs on x86-64 alone;
/// elsewhere nobody would read the instructions.
fn refuse_content(file: &File<'_>, at_load: AtLoad) -> Option<String> {
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    match Code::read(file) {
        Ok(code) => {
            loading::refusal(file, &code, at_load).or_else(|| relocations::refusal(file, &code))
        }
        Err(why) => Some(why),
    }
}

/// The rule that a name breaks which the object defines.
///
/// No definition takes the place of a library's own. The runner loads the object with `RTLD_LOCAL`,
/// so that nobody else looks names up in it, and after the C library, that of mathematics and
/// OpenMP's. A library that the loader brings in for the object does look there, but in those
/// first. `-Bsymbolic` has the object itself use its own definition. So data may have the name of a
/// function of the C library.
fn defined(file: &File<'_>) -> Option<String> {
    let endian = file.endian();
    for symbol in file.dynamic_symbols().chain(file.symbols()) {
        if symbol.elf_symbol().st_shndx(endian) == SHN_UNDEF {
            continue;
        }
        let name = symbol.name().unwrap_or("?");
        let kind = symbol.elf_symbol().st_type();
        if kind == STT_GNU_IFUNC {
            return Some(format!("`{name}` is resolved by code that runs at load"));
        }
        if name == "hotloop_call" || !symbol.is_global() {
            continue;
        }
        // A label in assembly has no type and may be a function.
        let is_data = kind == STT_OBJECT || kind == STT_TLS;
        if is_reserved(name) || (!is_data && is_reserved_function(name)) {
            return Some(format!("defining `{name}` is prohibited"));
        }
    }
    None
}

fn needed(file: &File<'_>) -> Finding {
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
    let starts = ["GOMP_", "omp_", "__kmpc_", "pthread_create", "thrd_create"];
    undefined(bytes, &starts)
}

/// A function of the library of vector mathematics that the object calls, if there is one.
pub(crate) fn of_vector_math(bytes: &[u8]) -> Option<String> {
    undefined(bytes, &["_ZGV"])
}

/// The first name that the object takes from outside and that starts like one of these.
fn undefined(bytes: &[u8], starts: &[&str]) -> Option<String> {
    let file = ElfFile64::<Endianness>::parse(bytes).ok()?;
    let mut undefined = file.dynamic_symbols().filter(ObjectSymbol::is_undefined);
    undefined.find_map(|symbol| {
        let name = symbol.name().ok()?;
        let is_one = starts.iter().any(|start| name.starts_with(start));
        is_one.then(|| name.to_owned())
    })
}
