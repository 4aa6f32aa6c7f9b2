//! Reads a cubin as data: what would be loaded, and what its kernels take.

use std::collections::BTreeMap;

use object::LittleEndian;
use object::elf::{EM_CUDA, SHN_UNDEF, SHT_NOBITS};
use object::read::elf::{ElfFile64, FileHeader, SectionHeader, Sym};

use crate::gpu::image::Taken;

/// Bytes of the largest cubin, and of all variables of a module together.
const MOST_BYTES: usize = 16 << 20;
const MOST_VARIABLES: u64 = 4 << 30;

/// Bytes of shared memory that a block may declare: more must come with its launch.
const MOST_SHARED: u64 = 48 << 10;

/// Bytes of a thread's stack. The driver reserves it for every thread that fits on the GPU, so that
/// more could take memory that no candidate may have.
const MOST_STACK: u32 = 32 << 10;

/// How the names of the sections begin that a module may have.
const SECTIONS: [&str; 12] = [
    ".debug_",
    ".note.nv.",
    ".nv.",
    ".nv_debug_",
    ".rel.",
    ".rela.",
    ".shstrtab",
    ".strtab",
    ".symtab",
    ".text.",
    ".nvFatBinSegment",
    ".group",
];
/// Symbols that the driver provides: the bench allows the calls, and the rest is its own.
const DRIVERS: [&str; 4] = ["vprintf", "__assertfail", "malloc", "free"];
/// Those of the device's heap.
const HEAP: [&str; 2] = ["malloc", "free"];

/// Bytes at the beginning of a block's shared memory that the system has for itself, in modules
/// that say so.
const RESERVED_BYTES: u64 = 1024;

/// Attributes of `.nv.info`: a symbol's registers and the bytes of its stack frame.
const REGISTERS: u8 = 0x2f;
const FRAME: u8 = 0x11;
/// The form of an attribute that holds its own length.
const SIZED: u8 = 0x04;

/// What a module shows as data.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shown {
    /// What kernels take, by symbol.
    pub(super) taken: BTreeMap<String, Taken>,
    /// Whether it allocates on the GPU.
    pub(super) uses_heap: bool,
    /// Bytes of its variables on the GPU.
    pub(super) variable_bytes: u64,
}

/// Reads a module. `Err` is the rule that it breaks.
pub(super) fn inspect(cubin: &[u8]) -> Result<Shown, String> {
    if cubin.len() > MOST_BYTES {
        let (bytes, most) = (cubin.len() >> 20, MOST_BYTES >> 20);
        return Err(format!("the module has {bytes} MiB, more than {most}"));
    }
    read(cubin)
        .map_err(|error| match error {
            Broken::Rule(why) => why,
            Broken::Elf(error) => format!("the module cannot be read: {error}"),
        })?
        .ok_or_else(|| "the module is for no NVIDIA GPU".into())
}

enum Broken {
    Rule(String),
    Elf(object::Error),
}

impl From<object::Error> for Broken {
    fn from(error: object::Error) -> Self {
        Self::Elf(error)
    }
}

fn read(cubin: &[u8]) -> Result<Option<Shown>, Broken> {
    let file = ElfFile64::<LittleEndian>::parse(cubin)?;
    let (endian, header) = (file.endian(), file.elf_header());
    if header.e_machine(endian) != EM_CUDA {
        return Ok(None);
    }
    let sections = file.elf_section_table();
    let mut taken: BTreeMap<String, Taken> = BTreeMap::new();
    let mut variables = 0u64;
    let mut has_reserved = false;
    for section in sections.iter().skip(1) {
        let name = String::from_utf8_lossy(sections.section_name(endian, section)?).into_owned();
        if !SECTIONS.iter().any(|start| name.starts_with(start)) {
            return Err(Broken::Rule(format!(
                "the module has a section `{name}`, which no compiler makes"
            )));
        }
        let size = section.sh_size(endian);
        has_reserved |= name.starts_with(".nv.shared.reserved");
        if name.starts_with(".nv.global") {
            variables = variables.saturating_add(size);
        }
        if let Some(kernel) = name
            .strip_prefix(".nv.shared.")
            .filter(|kernel| !kernel.starts_with("reserved"))
        {
            taken.entry(kernel.to_owned()).or_default().shared_bytes = size;
        }
    }
    if has_reserved {
        for kernel in taken.values_mut() {
            kernel.shared_bytes = kernel.shared_bytes.saturating_sub(RESERVED_BYTES);
        }
    }
    if let Some((kernel, own)) = taken.iter().find(|(_, own)| own.shared_bytes > MOST_SHARED) {
        return Err(Broken::Rule(format!(
            "`{kernel}` declares {} bytes of shared memory, more than {MOST_SHARED}",
            own.shared_bytes
        )));
    }
    if variables > MOST_VARIABLES {
        let (held, most) = (variables >> 30, MOST_VARIABLES >> 30);
        return Err(Broken::Rule(format!(
            "its device variables take {held} GiB, more than {most}"
        )));
    }
    let symbols = file.elf_symbol_table();
    let mut names = Vec::new();
    for symbol in symbols.iter() {
        let name = String::from_utf8_lossy(symbol.name(endian, symbols.strings())?).into_owned();
        let is_own =
            name.is_empty() || name.starts_with(".nv.") || DRIVERS.contains(&name.as_str());
        if symbol.st_shndx(endian) == SHN_UNDEF && !is_own {
            return Err(Broken::Rule(format!("`{name}` is defined nowhere")));
        }
        names.push(name);
    }
    for section in sections
        .iter()
        .filter(|section| section.sh_type(endian) != SHT_NOBITS)
    {
        if sections.section_name(endian, section)? == b".nv.info" {
            attributes(section.data(endian, cubin)?, &names, &mut taken);
        }
    }
    if let Some((kernel, own)) = taken.iter().find(|(_, own)| own.stack_bytes > MOST_STACK) {
        return Err(Broken::Rule(format!(
            "`{kernel}` takes {} bytes of local memory for each thread, more than {MOST_STACK}; keep \
             large arrays in memory that the host code allocates",
            own.stack_bytes
        )));
    }
    let uses_heap = names.iter().any(|name| HEAP.contains(&name.as_str()));
    Ok(Some(Shown {
        taken,
        uses_heap,
        variable_bytes: variables,
    }))
}

/// Reads the attributes of a module; where they make no sense, reading ends.
fn attributes(mut bytes: &[u8], names: &[String], taken: &mut BTreeMap<String, Taken>) {
    while let [form, kind, low, high, rest @ ..] = bytes {
        let value = u16::from_le_bytes([*low, *high]);
        if *form != SIZED {
            bytes = rest;
            continue;
        }
        let Some((data, after)) = rest.split_at_checked(usize::from(value)) else {
            return;
        };
        bytes = after;
        let (Some(symbol), Some(number)) = (word(data, 0), word(data, 4)) else {
            continue;
        };
        let Some(name) = names.get(symbol as usize).filter(|name| !name.is_empty()) else {
            continue;
        };
        match *kind {
            REGISTERS => taken.entry(name.clone()).or_default().registers = number,
            FRAME => taken.entry(name.clone()).or_default().stack_bytes = number,
            _ => {}
        }
    }
}

fn word(data: &[u8], at: usize) -> Option<u32> {
    let bytes = data.get(at..at + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_module_is_refused() {
        assert!(inspect(b"").unwrap_err().contains("cannot be read"));
        let own = std::fs::read("/proc/self/exe").unwrap();
        let own = &own[..own.len().min(MOST_BYTES)];
        assert!(inspect(own).is_err());
        assert!(
            inspect(&vec![0; MOST_BYTES + 1])
                .unwrap_err()
                .contains("more than 16")
        );
    }

    #[test]
    fn attributes_are_read_as_far_as_they_make_sense() {
        let names = ["", "k"].map(String::from);
        let mut taken = BTreeMap::new();
        let registers = [SIZED, REGISTERS, 8, 0, 1, 0, 0, 0, 40, 0, 0, 0];
        let frame = [SIZED, FRAME, 8, 0, 1, 0, 0, 0, 16, 0, 0, 0];
        let cut = [SIZED, FRAME, 8, 0, 1, 0];
        let nobody = [SIZED, FRAME, 8, 0, 9, 0, 0, 0, 16, 0, 0, 0];
        let bytes = [&[1, 2, 3, 4], &registers[..], &nobody, &frame, &cut].concat();
        attributes(&bytes, &names, &mut taken);
        let k = Taken {
            registers: 40,
            stack_bytes: 16,
            shared_bytes: 0,
        };
        assert_eq!(taken, BTreeMap::from([("k".to_owned(), k)]));
    }
}
