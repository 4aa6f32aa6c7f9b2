//! Both halves of eight bytes that were loaded at once, behind arithmetic and calls.
//!
//! A sum with zero hides that a register holds two elements. So what is computed from a loaded
//! register counts as that register where it is taken apart. Honest programs compute with numbers
//! of eight bytes, too: they take the lower half of a counter, or the upper bits of a random number.
//! Only who takes both halves of one load has loaded two elements; and only what is put together
//! from two registers, and then stored, is two elements.
//!
//! A function's parameters and results are one with what is passed, over the whole PTX.

use std::collections::BTreeMap;

use super::operands::{is_cut, is_elsewhere, is_wide, stored};

/// What is known of the registers that flow into each other.
const LOADED: u8 = 1;
const LOW: u8 = 2;
const HIGH: u8 = 4;
const PACKED: u8 = 8;
const STORED: u8 = 16;

/// Loads that one register is computed from; more are not followed.
const MOST_ORIGINS: usize = 8;

/// What a register holds.
#[derive(Debug, Clone, Default)]
struct Value {
    /// The loads and parameters that it is computed from.
    origins: Vec<usize>,
    /// Whether it is their upper half alone.
    is_high: bool,
    /// Whether it is computed from something that was put together.
    is_packed: bool,
}

/// A parameter or a result: its function or its name in a call, which one, and which eight bytes.
type Place = (String, String, u64);

#[derive(Debug, Default)]
pub(super) struct Halves {
    /// The function's name, unless it is a kernel.
    function: Option<String>,
    registers: BTreeMap<String, Value>,
    /// What is passed in the next call.
    passed: BTreeMap<(String, u64), Value>,
    /// The function that was called last.
    called: String,
    places: BTreeMap<Place, usize>,
    /// Sets of origins: the next one of the same set, or itself, and what is known.
    sets: Vec<(usize, u8)>,
}

impl Halves {
    /// Begins a function.
    pub(super) fn enter(&mut self, function: Option<String>) {
        self.function = function;
        self.registers.clear();
        self.passed.clear();
    }

    /// A register was put together from parts.
    pub(super) fn pack(&mut self, register: &str) {
        let value = self.registers.entry(register.to_owned()).or_default();
        value.is_packed = true;
    }

    /// Follows an instruction; says whether it completes two elements in one register.
    pub(super) fn meet(&mut self, head: &str, modifiers: &[&str], operands: &[&str]) -> bool {
        let Some((to, from)) = operands.split_first() else {
            return false;
        };
        match head {
            "ld" | "ldu" if modifiers.contains(&"param") => self.receive(modifiers, operands),
            "ld" | "ldu" => {
                let is_loaded = !is_elsewhere(modifiers) && is_wide(modifiers);
                let value = is_loaded.then(|| Value {
                    origins: vec![self.add(LOADED)],
                    ..Value::default()
                });
                self.write(to, value);
                false
            }
            "st" if modifiers.contains(&"param") => self.pass(operands),
            "st" => self.store(modifiers, operands),
            "call" => self.call(operands),
            "setp" | "bra" | "red" => false,
            "mov" if *to == "{" => {
                let Some((whole, [parts @ .., "}"])) = from.split_last() else {
                    return false;
                };
                let half = parts.len() / 2;
                let parts = parts.iter().enumerate();
                // The compiler's names for what is not needed.
                let parts = parts.filter(|(_, part)| !matches!(**part, "_" | "%temp"));
                let parts = parts.fold(0, |taken, (at, _)| {
                    taken | if at < half { LOW } else { HIGH }
                });
                self.mark(whole, parts)
            }
            _ => self.compute(head, modifiers, to, from),
        }
    }

    /// An instruction that writes one register.
    fn compute(&mut self, head: &str, modifiers: &[&str], to: &str, from: &[&str]) -> bool {
        let amount = from.get(1).and_then(|amount| amount.parse::<u64>().ok());
        let whole = self.joined(from);
        let high = whole.clone().map(|value| Value {
            is_high: true,
            ..value
        });
        let (value, taken) = match head {
            "cvt" if is_cut(modifiers) => (None, LOW),
            // A sign, and a factor.
            "shr" if amount == Some(63) => (None, 0),
            "shr" | "shl" if amount.is_some_and(|amount| amount < 8) => (whole, 0),
            "shl" if amount.is_none_or(|amount| amount >= 24) => (whole, LOW),
            "bfe" if amount.is_some_and(|amount| amount < 8) => (whole, LOW),
            "shr" | "bfe" => (high, HIGH),
            "and" if amount.is_some_and(|mask| u32::try_from(mask).is_ok()) => (whole, LOW),
            "mul" | "mad" if modifiers.contains(&"hi") => (high, HIGH),
            "mad" if modifiers.contains(&"wide") => (whole, 0),
            "brev" => (whole, LOW),
            "mov" | "selp" => (whole, 0),
            "cvt" | "cvta" | "add" | "sub" | "mul" | "mad" | "min" | "max" | "and" | "or"
            | "xor" | "not" | "neg" | "abs" | "shl" | "bfi"
                if is_integer(modifiers) =>
            {
                (whole, 0)
            }
            _ => (None, 0),
        };
        let is_of_first = matches!(head, "cvt" | "shr" | "shl" | "bfe");
        let from = if is_of_first {
            &from[..from.len().min(1)]
        } else {
            from
        };
        let mut is_complete = false;
        for from in from.iter().filter(|_| taken != 0) {
            is_complete |= self.mark(from, taken);
        }
        self.write(to, value);
        is_complete
    }

    /// What is computed from some registers.
    fn joined(&self, from: &[&str]) -> Option<Value> {
        let mut values = from.iter().filter_map(|from| self.registers.get(*from));
        let mut joined = values.next()?.clone();
        for value in values {
            joined.is_high &= value.is_high;
            joined.is_packed |= value.is_packed;
            for origin in &value.origins {
                if joined.origins.len() < MOST_ORIGINS && !joined.origins.contains(origin) {
                    joined.origins.push(*origin);
                }
            }
        }
        Some(joined)
    }

    fn write(&mut self, to: &str, value: Option<Value>) {
        match value {
            Some(value) => drop(self.registers.insert(to.to_owned(), value)),
            None => drop(self.registers.remove(to)),
        }
    }

    fn store(&mut self, modifiers: &[&str], operands: &[&str]) -> bool {
        let is_global = !is_elsewhere(modifiers);
        let taken = match (is_wide(modifiers), is_global) {
            (false, _) => LOW,
            (true, true) => STORED,
            (true, false) => return false,
        };
        let mut is_complete = false;
        for register in stored(operands) {
            let is_packed = self
                .registers
                .get(*register)
                .is_some_and(|one| one.is_packed);
            is_complete |= taken == STORED && is_packed;
            is_complete |= self.mark(register, taken);
        }
        is_complete
    }

    /// `ld.param.b64 %rd1, [f_param_0+8];` and `ld.param.b64 %rd1, [retval0];`
    fn receive(&mut self, modifiers: &[&str], operands: &[&str]) -> bool {
        let Some(at) = operands.iter().position(|one| *one == "[") else {
            return false;
        };
        let (to, from) = operands.split_at(at);
        let Some((name, slot)) = slot(&from[1..]) else {
            return false;
        };
        let parameter = self.function.as_deref().and_then(|function| {
            let number = name.strip_prefix(function)?.strip_prefix("_param_")?;
            Some((function.to_owned(), number.to_owned()))
        });
        let place = if name.starts_with("retval") {
            Some((self.called.clone(), "result".to_owned()))
        } else {
            parameter
        };
        let registers = to.iter().filter(|one| !matches!(**one, "{" | "}"));
        for (at, register) in registers.enumerate() {
            let value = place
                .clone()
                .filter(|_| is_wide(modifiers))
                .map(|place| Value {
                    origins: vec![self.place(place.0, place.1, slot + at as u64)],
                    ..Value::default()
                });
            self.write(register, value);
        }
        false
    }

    /// `st.param.b64 [param0+8], %rd1;` and `st.param.b64 [func_retval0], %rd1;`
    fn pass(&mut self, operands: &[&str]) -> bool {
        let Some((name, slot)) = slot(operands.get(1..).unwrap_or_default()) else {
            return false;
        };
        let is_result = name.starts_with("func_retval");
        let registers = stored(operands).iter();
        let registers = registers.filter(|one| !matches!(**one, "{" | "}"));
        let mut is_complete = false;
        for (at, register) in registers.enumerate() {
            let slot = slot + at as u64;
            let Some(value) = self.registers.get(*register).cloned() else {
                continue;
            };
            if !is_result {
                self.passed.insert((name.to_owned(), slot), value);
            } else if let Some(function) = self.function.clone() {
                let place = self.place(function, "result".to_owned(), slot);
                is_complete |= self.flow(&value, place);
            }
        }
        is_complete
    }

    /// `call.uni (retval0), f, (param0, param1);`
    fn call(&mut self, operands: &[&str]) -> bool {
        let name = operands.iter().position(|one| !one.starts_with("retval"));
        let Some((name, arguments)) = name.and_then(|at| operands[at..].split_first()) else {
            return false;
        };
        (*name).clone_into(&mut self.called);
        let mut is_complete = false;
        let passed = std::mem::take(&mut self.passed);
        for (number, argument) in arguments.iter().enumerate() {
            let from = ((*argument).to_owned(), 0);
            let slots = passed.range(from..);
            for ((_, slot), value) in slots.take_while(|((name, _), _)| name == argument) {
                let place = self.place((*name).to_owned(), number.to_string(), *slot);
                is_complete |= self.flow(value, place);
            }
        }
        is_complete
    }

    fn add(&mut self, known: u8) -> usize {
        self.sets.push((self.sets.len(), known));
        self.sets.len() - 1
    }

    /// The origin that a parameter or a result is.
    fn place(&mut self, function: String, which: String, slot: u64) -> usize {
        let place = (function, which, slot);
        if let Some(origin) = self.places.get(&place) {
            return *origin;
        }
        let origin = self.add(0);
        self.places.insert(place, origin);
        origin
    }

    fn root(&mut self, mut origin: usize) -> usize {
        while self.sets[origin].0 != origin {
            let next = self.sets[origin].0;
            self.sets[origin].0 = self.sets[next].0;
            origin = next;
        }
        origin
    }

    /// A value flows into a place.
    fn flow(&mut self, value: &Value, place: usize) -> bool {
        let packed = if value.is_packed { PACKED } else { 0 };
        let mut is_complete = self.learn(place, packed);
        for origin in &value.origins {
            let (origin, place) = (self.root(*origin), self.root(place));
            let known = self.sets[origin].1;
            self.sets[origin].0 = place;
            is_complete |= origin != place && self.learn(place, known);
        }
        is_complete
    }

    /// Halves of a register are taken, or it is stored.
    fn mark(&mut self, register: &str, taken: u8) -> bool {
        let Some(value) = self.registers.get(register).cloned() else {
            return false;
        };
        let taken = if taken == LOW && value.is_high {
            HIGH
        } else {
            taken
        };
        let mut is_complete = false;
        for origin in &value.origins {
            is_complete |= self.learn(*origin, taken);
        }
        is_complete
    }

    /// Whether what is known of an origin now is enough.
    fn learn(&mut self, origin: usize, more: u8) -> bool {
        let root = self.root(origin);
        let known = &mut self.sets[root].1;
        let before = *known;
        *known |= more;
        let has = |known: u8, all: u8| known & all == all;
        let is_enough = |known: u8| has(known, LOADED | LOW | HIGH) || has(known, PACKED | STORED);
        is_enough(*known) && !is_enough(before)
    }
}

/// A parameter's name, and which eight bytes of it: `param0+8]`.
fn slot<'o>(operands: &[&'o str]) -> Option<(&'o str, u64)> {
    let (name, behind) = operands.split_first()?;
    let offset = behind.first().and_then(|offset| offset.parse::<u64>().ok());
    Some((name, offset.unwrap_or_default() / 8))
}

fn is_integer(modifiers: &[&str]) -> bool {
    let is_real = |one: &str| one.starts_with('f') || one.starts_with("bf");
    let integers = ["b64", "u64", "s64"];
    modifiers.iter().any(|one| integers.contains(one)) && !modifiers.iter().any(|one| is_real(one))
}
