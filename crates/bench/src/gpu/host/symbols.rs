//! The names that a host half's symbol table has for addresses: kernels and variables, as name
//! expressions of C++.

use std::collections::BTreeMap;

use cpp_demangle::{DemangleOptions, Symbol};
use hotloop_flow::language::cuda::Halves;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol, SymbolKind};

use super::builtins;

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
        if *is_alone && !builtins::holds(plain) {
            return Some(name);
        }
        Some(overload(&name, full.strip_prefix(name.as_str())?))
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

/// The one function with such parameters of those that share a name. A 64-bit integer that is `long`
/// for the host's compiler may be `int64_t`, which is `long long` for the GPU's.
fn overload(name: &str, parameters: &str) -> String {
    let mut types: Vec<String> = Vec::new();
    for wide in [[false, false], [true, false], [false, true], [true, true]] {
        let text = format!("void{}", widened(parameters, wide));
        if !types.contains(&text) {
            types.push(text);
        }
    }
    if types.len() == 1 {
        return format!("(void (&){parameters}){name}");
    }
    // The prelude of a device half has it.
    format!("hotloop::overload<{}>::of({name})", types.join(", "))
}

/// Types in which a `long` is a `long long`, where it is signed and where it is unsigned.
fn widened(types: &str, [signed, unsigned]: [bool; 2]) -> String {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut made = String::new();
    let mut rest = types;
    while let Some((before, behind)) = rest.split_once(LONG) {
        made += before;
        let is_whole = !before.ends_with(is_word) && !behind.starts_with(is_word);
        let is_part =
            made.ends_with("long ") || behind.starts_with(" long") || behind.starts_with(" double");
        let is_wide = if made.ends_with("unsigned ") {
            unsigned
        } else {
            signed
        };
        made += LONG;
        if is_whole && !is_part && is_wide {
            made += " long";
        }
        rest = behind;
    }
    made + rest
}

const LONG: &str = "long";

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
    Some(without_types(
        &name.0.replace("(anonymous namespace)::", ""),
    ))
}

/// A name in which template arguments that are functions have no types: `map<&relu>` for
/// `map<&relu(float)>`, which is no expression.
fn without_types(name: &str) -> String {
    let mut made = String::new();
    let mut rest = name;
    while let Some(at) = rest.find('&') {
        let (before, behind) = rest.split_at(at + 1);
        made += before;
        rest = behind;
        let is_argument = before.ends_with("<&") || before.ends_with(" &");
        if let Some((function, behind)) = function(behind).filter(|_| is_argument) {
            made += function;
            rest = behind;
        }
    }
    made + rest
}

/// The name that a text begins with, and what is behind the parameters.
fn function(text: &str) -> Option<(&str, &str)> {
    let mut angles = 0_i32;
    let is_end = |letter: char| {
        angles += i32::from(letter == '<') - i32::from(letter == '>');
        angles < 0 || (angles == 0 && matches!(letter, '(' | ')' | ',' | ' '))
    };
    let (name, parameters) = text.split_at(text.find(is_end)?);
    if name.is_empty() || !parameters.starts_with('(') {
        return None;
    }
    let mut depth = 0_i32;
    let is_closing = |letter: char| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        depth == 0
    };
    let close = parameters.find(is_closing)?;
    Some((name, &parameters[close + 1..]))
}

/// A name without its template arguments: up to the first `<`.
fn without_arguments(name: &str) -> &str {
    name.split_once('<').map_or(name, |(plain, _)| plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel of a source, by its symbol.
    fn kernel(source: &str, symbol: &str) -> String {
        let halves = hotloop_flow::language::cuda::split(source).unwrap();
        let by_start = BTreeMap::from([(64, (128, symbol.to_owned()))]);
        Symbols { by_start }.kernel(64, &halves).unwrap()
    }

    #[test]
    fn kernels_that_share_a_name_are_told_apart() {
        let kernel = |source: &str, symbol: &str| {
            kernel(&format!("{source}extern \"C\" void solve() {{}}\n"), symbol)
        };
        let alone = "__global__ void relu(float *x, long n) {}\n";
        assert_eq!(kernel(alone, "_Z4reluPfl"), "relu");
        let shared = format!("{alone}__device__ float relu(float v) {{ return v; }}\n");
        assert_eq!(
            kernel(&shared, "_Z4reluPfx"),
            "(void (&)(float*, long long))relu"
        );
        assert_eq!(
            kernel(&shared, "_Z4reluPfl"),
            "hotloop::overload<void(float*, long), void(float*, long long)>::of(relu)"
        );
        let templates = "template <class T> __global__ void apply(T x, int n) {}\n\
                         template <class T> __global__ void apply(T *x, float n) {}\n";
        assert_eq!(
            kernel(templates, "_Z5applyIfEvPT_f"),
            "(void (&)(float*, float))apply<float>"
        );
        let built_in = "__global__ void tanh(float *x) {}\n";
        assert_eq!(kernel(built_in, "_Z4tanhPf"), "(void (&)(float*))tanh");
        let function = "template <float (*F)(float)> __global__ void map(float *x) {}\n";
        assert_eq!(
            kernel(function, "_Z3mapIXadL_Z7relu_opfEEEvPf"),
            "map<&relu_op>"
        );
    }

    #[test]
    fn a_long_may_be_wide() {
        let types = "(long, unsigned long*, longs, long long, unsigned long long, long double)";
        assert_eq!(widened(types, [false, false]), types);
        assert_eq!(
            widened(types, [true, false]),
            "(long long, unsigned long*, longs, long long, unsigned long long, long double)"
        );
        assert_eq!(
            widened(types, [false, true]),
            "(long, unsigned long long*, longs, long long, unsigned long long, long double)"
        );
    }

    #[test]
    fn functions_as_template_arguments_lose_their_types() {
        for (symbol, expect) in [
            ("_Z3mapIXadL_Z7relu_opfEEEvPKfPfx", "map<&relu_op>"),
            (
                "_Z3mapIXadL_ZN3ops4reluEfEELi4EEvPKfPfx",
                "map<&ops::relu, 4>",
            ),
            ("_Z3mapIXadL_Z2opIfET_S0_EEEvPKf", "map<&op<float>>"),
        ] {
            assert_eq!(demangled(symbol, false).unwrap(), expect);
        }
        for whole in [
            "k<&(c)>(float)",
            "k<&c, 4>(float&, float (&) [4])",
            "k<int>",
        ] {
            assert_eq!(without_types(whole), whole);
        }
        assert_eq!(
            without_types("k<4, &f<A<(b)3> >(void (*)(float))>(float)"),
            "k<4, &f<A<(b)3> >>(float)"
        );
        for odd in [
            "<&(",
            "<&f()",
            "<&f()<&f(",
            "k<&f((",
            "<&f(a))",
            "<&é(b)é",
            "<&>",
        ] {
            without_types(odd);
        }
    }

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
