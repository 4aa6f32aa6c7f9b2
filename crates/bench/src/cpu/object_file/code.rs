//! The machine code of an object, read instruction by instruction.
//!
//! Every executable section is swept from its start to its end, and no jump, symbol, relocation or
//! address that an instruction names may lead into the middle of an instruction that the sweep saw.
//! Only an address that the candidate computes as it runs can.

use iced_x86::{Decoder, DecoderOptions, Instruction};
use object::elf::{SHF_EXECINSTR, STT_FILE, STT_FUNC, STT_NOTYPE, STT_SECTION};
use object::read::elf::SectionHeader;
use object::{Object, ObjectSection, ObjectSymbol};

use crate::cpu::object_file::instructions;
use crate::cpu::object_file::sections::{File, Section};

/// Bytes of machine code that are read. A fully unrolled product of matrices takes a part of it.
const MOST_BYTES: usize = 8 << 20;

/// All executable sections of an object.
pub(crate) struct Code<'data> {
    parts: Vec<Part<'data>>,
}

/// One of them.
struct Part<'data> {
    /// Where it lies in memory and in the file.
    address: u64,
    offset: u64,
    bytes: &'data [u8],
    /// For each byte, whether an instruction begins there.
    begins: Vec<bool>,
}

/// A jump from one address to another, or an instruction that names an address.
struct Jump {
    from: u64,
    to: u64,
}

/// The addresses that instructions jump to, and those that they name.
#[derive(Default)]
struct Places {
    jumps: Vec<Jump>,
    named: Vec<Jump>,
}

/// A rule that the instruction at an address breaks.
struct Broken {
    at: u64,
    rule: String,
}

impl<'data> Code<'data> {
    /// The code of an object that was read before.
    pub(crate) fn of(bytes: &'data [u8]) -> Option<Self> {
        Self::read(&File::parse(bytes).ok()?).ok()
    }

    /// Whether an instruction begins at an offset of the file.
    pub(crate) fn begins_in_file(&self, offset: u64) -> bool {
        self.parts.iter().any(|part| {
            let index = offset.checked_sub(part.offset).map(usize::try_from);
            matches!(index, Some(Ok(index)) if part.begins.get(index) == Some(&true))
        })
    }

    /// Reads all instructions. An error is the rule that one of them breaks.
    pub(super) fn read(file: &File<'data>) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut places = Places::default();
        for section in file.sections().filter(|section| is_code(file, section)) {
            let part = Part::sweep(&section, &mut places);
            parts.push(part.map_err(|broken| broken.in_words(file))?);
        }
        let code = Self { parts };
        let Places { jumps, named } = places;
        if let Some(jump) = named
            .iter()
            .find(|named| code.is_within_an_instruction(named.to))
        {
            let rule = "an address within an instruction is prohibited".to_owned();
            return Err(Broken {
                at: jump.from,
                rule,
            }
            .in_words(file));
        }
        if let Some(jump) = jumps.iter().find(|jump| code.begins(jump.to) != Some(true)) {
            let rule = "a jump out of the code or into an instruction is prohibited".to_owned();
            return Err(Broken {
                at: jump.from,
                rule,
            }
            .in_words(file));
        }
        code.refuse_symbols(file).map_or(Ok(code), Err)
    }

    /// Whether an address lies in code where no instruction begins.
    pub(super) fn is_within_an_instruction(&self, address: u64) -> bool {
        self.begins(address) == Some(false)
    }

    /// Whether `bytes`, which lie in the file from `offset` on, are code that was read, or zeros.
    pub(super) fn covers(&self, offset: u64, bytes: &[u8]) -> bool {
        let was_read = |at: u64| {
            let mut parts = self.parts.iter();
            parts.any(|part| (part.offset..part.offset + part.bytes.len() as u64).contains(&at))
        };
        let mut places = bytes.iter().zip(offset..);
        places.all(|(byte, at)| *byte == 0 || was_read(at))
    }

    /// Whether an instruction begins at an address; nothing if that is not in code.
    fn begins(&self, address: u64) -> Option<bool> {
        self.parts.iter().find_map(|part| {
            let index = usize::try_from(address.checked_sub(part.address)?).ok()?;
            part.begins.get(index).copied()
        })
    }

    /// The rule that a symbol in code breaks.
    fn refuse_symbols(&self, file: &File<'_>) -> Option<String> {
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let section = symbol.section_index();
            let section = section.and_then(|index| file.section_by_index(index).ok());
            if !section.is_some_and(|section| is_code(file, &section)) {
                continue;
            }
            let name = symbol.name().unwrap_or("?");
            let names_code = matches!(
                symbol.elf_symbol().st_type(),
                STT_FUNC | STT_NOTYPE | STT_SECTION | STT_FILE
            );
            if !names_code {
                return Some(format!(
                    "`{name}` is data in a section of code, which is prohibited"
                ));
            }
            if self.is_within_an_instruction(symbol.address()) {
                return Some(format!(
                    "`{name}` stands within an instruction, which is prohibited"
                ));
            }
        }
        None
    }
}

impl<'data> Part<'data> {
    fn sweep(section: &Section<'data, '_>, places: &mut Places) -> Result<Self, Broken> {
        let address = section.address();
        let unreadable = |rule: String| Broken { at: address, rule };
        let bytes = section
            .data()
            .map_err(|error| unreadable(error.to_string()))?;
        if bytes.len() > MOST_BYTES {
            let most = MOST_BYTES >> 20;
            return Err(unreadable(format!(
                "more than {most} MiB of it are not read"
            )));
        }
        let mut begins = vec![false; bytes.len()];
        let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
        let mut instruction = Instruction::default();
        while decoder.can_decode() {
            let index = decoder.position();
            decoder.decode_out(&mut instruction);
            let from = instruction.ip();
            let own = &bytes[index..decoder.position()];
            if let Some(rule) = instructions::refusal(&instruction, own) {
                return Err(Broken { at: from, rule });
            }
            begins[index] = true;
            let jump = |to| Jump { from, to };
            let target = instructions::jumps_to(&instruction);
            places.jumps.extend(target.map(jump));
            let named = instructions::refers_to(&instruction);
            places.named.extend(named.map(jump));
        }
        Ok(Self {
            address,
            offset: section.file_range().map_or(0, |(offset, _)| offset),
            bytes,
            begins,
        })
    }
}

impl Broken {
    fn in_words(&self, file: &File<'_>) -> String {
        let functions = file.symbols().filter(|symbol| {
            symbol.elf_symbol().st_type() == STT_FUNC && symbol.address() <= self.at
        });
        let function = functions.max_by_key(ObjectSymbol::address);
        let name = function.and_then(|symbol| symbol.name().ok());
        format!("machine code of `{}`: {}", name.unwrap_or("?"), self.rule)
    }
}

fn is_code(file: &File<'_>, section: &Section<'_, '_>) -> bool {
    let flags = section.elf_section_header().sh_flags(file.endian());
    flags.contains(SHF_EXECINSTR)
}
