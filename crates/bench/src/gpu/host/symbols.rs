//! The names that a host half's symbol table has for addresses: kernels and variables, as name
//! expressions of C++.

use std::collections::BTreeMap;

use cpp_demangle::{DemangleOptions, Symbol};
use hotloop_flow::language::cuda::Halves;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol, SymbolKind};

/// What an address of a host half belongs to.
pub(super) struct Symbols {
    /// Functions and variables by where they begin: their end, and their symbol.
    by_start: BTreeMap<u64, (u64, String)>,
}

/// A variable of the GPU, as the host half has it.
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) bytes: u64,
}

impl Symbols {
    pub(super) fn read(program: &[u8]) -> Option<Self> {
        let file = ElfFile64::<Endianness>::parse(program).ok()?;
        let mut by_start: BTreeMap<u64, (u64, String)> = BTreeMap::new();
        for symbol in file.symbols() {
            let is_named = matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Data);
            let Ok(name) = symbol.name() else { continue };
            if !is_named || symbol.is_undefined() || symbol.size() == 0 {
                continue;
            }
            let end = symbol.address().saturating_add(symbol.size());
            by_start.insert(symbol.address(), (end, name.to_owned()));
        }
        Some(Self { by_start })
    }

    fn at(&self, address: u64) -> Option<(u64, u64, &str)> {
        let (start, (end, name)) = self.by_start.range(..=address).next_back()?;
        (address < *end).then_some((*start, *end, name))
    }

    /// Where the function or variable begins that an address lies in.
    pub(super) fn start(&self, address: u64) -> Option<u64> {
        self.at(address).map(|(start, _, _)| start)
    }

    /// The kernel whose code an address lies in, as a name expression.
    pub(super) fn kernel(&self, address: u64, halves: &Halves) -> Option<String> {
        let (_, _, symbol) = self.at(address)?;
        let full = demangled(symbol, true)?;
        let name = demangled(symbol, false)?;
        let plain = without_arguments(&name);
        let is_alone = halves.kernels.get(plain)?;
        if *is_alone {
            return Some(name);
        }
        // Of functions that share a name, the parameters say which one it is.
        let parameters = full.strip_prefix(name.as_str())?;
        Some(format!("(void (*){parameters})&{name}"))
    }

    /// The variable that begins at an address.
    pub(super) fn variable(&self, address: u64, halves: &Halves) -> Option<Variable> {
        let (start, end, symbol) = self.at(address)?;
        let name = demangled(symbol, false)?;
        let is_known = start == address && halves.variables.contains(&name);
        is_known.then_some(Variable {
            name,
            bytes: end - start,
        })
    }
}

/// Bytes of the longest symbol, and of the longest name that one may stand for. Longer ones are not
/// honest.
const SYMBOL: usize = 2000;
const NAME: usize = 8000;

/// A name that takes no more than it may hold. A short symbol can stand for a name of any length.
#[derive(Default)]
struct Bounded(String);

impl std::fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if self.0.len() + text.len() > NAME {
            return Err(std::fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// A symbol as C++ writes it, with its parameters or without.
fn demangled(symbol: &str, parameters: bool) -> Option<String> {
    if symbol.len() > SYMBOL {
        return None;
    }
    // A variable of file scope keeps its name, and the library takes some names, such as `c` or
    // `w`, for types.
    if !symbol.starts_with("_Z") {
        return Some(symbol.to_owned());
    }
    let Ok(parsed) = Symbol::new(symbol) else {
        return Some(symbol.to_owned());
    };
    let mut options = DemangleOptions::new().no_return_type();
    if !parameters {
        options = options.no_params();
    }
    let mut name = Bounded::default();
    parsed.structured_demangle(&mut name, &options).ok()?;
    Some(name.0.replace("(anonymous namespace)::", ""))
}

/// A name without its template arguments: up to the first `<`.
fn without_arguments(name: &str) -> &str {
    name.split_once('<').map_or(name, |(plain, _)| plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_name_expressions() {
        let name = |symbol| demangled(symbol, false).unwrap();
        assert_eq!(name("relu"), "relu");
        for short in ["c", "f", "i", "w", "Pf"] {
            assert_eq!(name(short), short);
        }
        assert_eq!(name("_Z4reluPKfPfx"), "relu");
        assert_eq!(
            name("_ZN4blas6detail4axpyEfPKfS2_Pfi"),
            "blas::detail::axpy"
        );
        assert_eq!(name("_Z5scaleILi4EfEvPKT0_i"), "scale<4, float>");
        assert_eq!(name("_Z1kILb1ELj3EEvv"), "k<true, (unsigned int)3>");
        assert_eq!(name("_ZN12_GLOBAL__N_11kEPf"), "k");
        assert_eq!(name("_ZL1kPf"), "k");
        assert_eq!(
            name("_Z3mapI4ReluIfEfEvPKT0_PS2_xT_"),
            "map<Relu<float>, float>"
        );
        // Each level names the one before sixteen times.
        let level = |number: usize| format!("S{number}_").repeat(15) + "E";
        let levels: String = (1..9).map(level).collect();
        let unfolds = format!("_Z1kI1P{}IiiiiiiiiiiiiiiiiE{levels}Evi", "IS0_".repeat(8));
        assert!(unfolds.len() < SYMBOL);
        assert_eq!(demangled(&unfolds, false), None, "hundreds of gigabytes");
        let full = demangled("_Z5scaleILi4EfEvPKT0_i", true).unwrap();
        assert_eq!(full, "scale<4, float>(float const*, int)");
    }
}
