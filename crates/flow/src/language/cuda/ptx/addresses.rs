//! What the addresses of wide accesses are computed from: parameters of kernels.
//!
//! A load of eight bytes shows nothing of what is loaded: a number, or two elements. Which memory it
//! reads shows it. A plan says what a launch passes, so here the parameters are found from which an
//! address is computed, over the whole PTX and whatever the order of its instructions.
//!
//! What is loaded from memory comes from no parameter. So an address that was itself loaded has no
//! known origin.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::operands::{is_elsewhere, is_wide};

/// A load, store or atomic operation of eight bytes in one register.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WideAccess {
    /// The kernel's symbol.
    pub kernel: String,
    /// The parameter, and the bytes before the pointer in it; nothing if the address comes from no
    /// known place.
    pub from: Option<(usize, u64)>,
    pub line: u32,
    pub text: String,
}

/// Parameters of one kernel that are told apart; the others count as a place that is not known.
const MOST_PLACES: usize = 62;
/// Marks of a register: an address of something that the PTX names, and a parameter beyond the most.
const NAMED: u64 = 1 << 63;
const BEYOND: u64 = 1 << 62;
/// Steps along registers that are made for one PTX. Behind them every access counts as one of a
/// place that is not known.
const MOST_STEPS: usize = 40_000_000;

/// The first access at an address.
#[derive(Debug)]
struct Seen {
    line: u32,
    text: String,
}

impl Seen {
    fn of(&self, kernel: &str, from: Option<(usize, u64)>) -> WideAccess {
        WideAccess {
            kernel: kernel.to_owned(),
            from,
            line: self.line,
            text: self.text.clone(),
        }
    }
}

/// A register, a parameter or a result, by its number. Each has a twin: what lies at its address, if
/// it is the address of a parameter.
type Node = u32;

#[derive(Debug, Default)]
pub(super) struct Addresses {
    functions: BTreeMap<String, u32>,
    kernels: BTreeSet<u32>,
    function: u32,
    name: String,
    nodes: BTreeMap<(u32, String), Node>,
    /// Where what a node holds goes, by node.
    flows: Vec<Vec<Node>>,
    /// The pieces of each kernel's parameters: parameter, offset, node.
    places: BTreeMap<u32, Vec<(usize, u64, Node)>>,
    /// Names of memory.
    named: BTreeSet<Node>,
    /// What is passed in the next call.
    passed: Vec<(String, Node)>,
    called: Option<String>,
    accesses: BTreeMap<(u32, Node), Seen>,
}

impl Addresses {
    /// Begins a function.
    pub(super) fn enter(&mut self, name: Option<&str>, is_kernel: bool) {
        let name = name.unwrap_or_default();
        let next = self.functions.len() as u32;
        self.function = *self.functions.entry(name.to_owned()).or_insert(next);
        if is_kernel {
            self.kernels.insert(self.function);
        }
        name.clone_into(&mut self.name);
        self.passed.clear();
        self.called = None;
    }

    /// Follows an instruction; `line` is the source's.
    pub(super) fn meet(&mut self, head: &str, modifiers: &[&str], operands: &[&str], line: u32) {
        if head.is_empty() || head.starts_with(|first: char| first.is_ascii_digit()) {
            return;
        }
        let is_memory = matches!(head, "ld" | "ldu" | "st" | "atom" | "red");
        if is_memory && !is_elsewhere(modifiers) && is_wide(modifiers) {
            let text = format!("{head}.{}", modifiers.join("."));
            self.access(operands, line, text);
        }
        match head {
            "ld" | "ldu" => self.load(modifiers, operands),
            "st" if modifiers.contains(&"param") => self.pass(operands),
            "call" => self.call(operands),
            "st" | "atom" | "red" | "setp" | "bra" => {}
            _ => self.compute(operands),
        }
    }

    fn access(&mut self, operands: &[&str], line: u32, text: String) {
        let open = operands.iter().position(|one| *one == "[");
        let Some(base) = open.and_then(|open| operands.get(open + 1)) else {
            return;
        };
        let base = self.value(base);
        let key = (self.function, base);
        self.accesses.entry(key).or_insert(Seen { line, text });
    }

    /// `ld.param.b64 %rd1, [k_param_0+8];`, `ld.param.b64 %rd1, [retval0];` and loads at the address
    /// of a parameter.
    fn load(&mut self, modifiers: &[&str], operands: &[&str]) {
        let Some(at) = operands.iter().position(|one| *one == "[") else {
            return;
        };
        let (to, from) = operands.split_at(at);
        let Some(name) = from.get(1) else {
            return;
        };
        let offset = from.get(2).and_then(|offset| offset.parse::<u64>().ok());
        let offset = offset.unwrap_or_default();
        let bytes = if is_wide(modifiers) { 8 } else { 4 };
        let to = to.iter().filter(|one| !matches!(**one, "{" | "}"));
        for (index, register) in to.enumerate() {
            let from = if name.starts_with('%') {
                Some(self.value(name) + 1)
            } else if name.starts_with("retval") {
                let called = self.called.clone();
                called.map(|called| self.of_function(&called, "result"))
            } else {
                self.parameter(name, Some(offset + index as u64 * bytes))
            };
            let to = self.value(register);
            if let Some(from) = from {
                self.flows[from as usize].push(to);
            }
        }
    }

    /// `st.param.b64 [param0+8], %rd1;` and `st.param.b64 [func_retval0], %rd1;`
    fn pass(&mut self, operands: &[&str]) {
        let Some((name, values)) = operands.get(1..).and_then(<[_]>::split_first) else {
            return;
        };
        let registers = values.iter().filter(|one| one.starts_with('%'));
        for register in registers {
            let value = self.value(register);
            if name.starts_with("func_retval") {
                let own = self.name.clone();
                let result = self.of_function(&own, "result");
                self.flow(value, result);
            } else {
                self.passed.push(((*name).to_owned(), value));
            }
        }
    }

    /// `call.uni (retval0), f, (param0, param1);`
    fn call(&mut self, operands: &[&str]) {
        let name = operands.iter().position(|one| !one.starts_with("retval"));
        let Some((name, arguments)) = name.and_then(|at| operands[at..].split_first()) else {
            return;
        };
        // What is called by its address may be any function.
        let is_named = !name.starts_with('%');
        self.called = is_named.then(|| (*name).to_owned());
        let callee = if is_named { *name } else { "" };
        for (passed, node) in std::mem::take(&mut self.passed) {
            let number = arguments.iter().position(|one| *one == passed);
            let parameter = match number.filter(|_| is_named) {
                Some(number) => number.to_string(),
                None => String::new(),
            };
            let parameter = self.of_function(callee, &parameter);
            self.flow(node, parameter);
        }
    }

    /// An instruction that computes.
    fn compute(&mut self, operands: &[&str]) {
        let (to, from) = match operands {
            ["{", rest @ ..] => {
                let Some(close) = rest.iter().position(|one| *one == "}") else {
                    return;
                };
                (&rest[..close], &rest[close + 1..])
            }
            [to, rest @ ..] => (std::slice::from_ref(to), rest),
            [] => return,
        };
        let is_predicate =
            |one: &str| one.starts_with("%p") && one[2..].bytes().all(|byte| byte.is_ascii_digit());
        let is_value = |one: &&&str| {
            !matches!(**one, "{" | "}" | "[" | "]")
                && !is_predicate(one)
                && !one.starts_with(|first: char| first.is_ascii_digit())
        };
        let to: Vec<Node> = to
            .iter()
            .filter(is_value)
            .map(|one| self.value(one))
            .collect();
        for from in from.iter().filter(is_value) {
            let from = self.value(from);
            for to in &to {
                self.flow(from, *to);
            }
        }
    }

    /// The node of a register, or of what a name stands for.
    fn value(&mut self, name: &str) -> Node {
        if name.starts_with('%') {
            return self.node(self.function, name);
        }
        let address = self.node(self.function, name);
        if self.named.insert(address)
            && let Some(parameter) = self.parameter(name, None)
        {
            // What lies at its address is the parameter.
            self.flows[parameter as usize].push(address + 1);
        }
        address
    }

    /// The node of a piece of the function's own parameter, if it is one.
    fn parameter(&mut self, name: &str, offset: Option<u64>) -> Option<Node> {
        let number = name.strip_prefix(self.name.as_str())?;
        let number: usize = number.strip_prefix("_param_")?.parse().ok()?;
        if !self.kernels.contains(&self.function) {
            let own = self.name.clone();
            return Some(self.of_function(&own, &number.to_string()));
        }
        let offset = offset.unwrap_or(u64::MAX);
        let known = self.nodes.len();
        let node = self.node(self.function, &format!("{name}+{offset}"));
        if self.nodes.len() > known {
            let places = self.places.entry(self.function).or_default();
            places.push((number, offset, node));
        }
        Some(node)
    }

    /// A parameter or the result of a function that may come later.
    fn of_function(&mut self, function: &str, what: &str) -> Node {
        let next = self.functions.len() as u32;
        let function = *self.functions.entry(function.to_owned()).or_insert(next);
        self.node(function, &format!("({what}"))
    }

    fn node(&mut self, function: u32, name: &str) -> Node {
        if let Some(node) = self.nodes.get(&(function, name.to_owned())) {
            return *node;
        }
        let node = self.flows.len() as Node;
        self.flows.extend([Vec::new(), Vec::new()]);
        self.nodes.insert((function, name.to_owned()), node);
        node
    }

    fn flow(&mut self, from: Node, to: Node) {
        self.flows[from as usize].push(to);
        self.flows[from as usize + 1].push(to + 1);
    }

    /// The accesses of each kernel, by the parameters that their addresses are computed from.
    pub(super) fn accesses(mut self) -> Vec<WideAccess> {
        if self.accesses.is_empty() {
            return Vec::new();
        }
        self.connect_indirect_calls();
        let mut names = vec![String::new(); self.functions.len()];
        for (name, number) in &self.functions {
            name.clone_into(&mut names[*number as usize]);
        }
        let mut steps = 0;
        let mut is_named = vec![0; self.flows.len()];
        let starts = self.named.iter().map(|node| (*node, NAMED)).collect();
        self.spread(starts, &mut is_named, &mut steps);
        let mut found = Vec::new();
        let mut is_reached = vec![false; self.flows.len()];
        for kernel in &self.kernels {
            let name = &names[*kernel as usize];
            found.extend(self.of_kernel(*kernel, name, &is_named, &mut is_reached, &mut steps));
        }
        // In functions that no kernel passes an address to.
        let unreached = self.accesses.iter();
        let unreached = unreached.filter(|((_, node), _)| !is_reached[*node as usize]);
        found.extend(unreached.map(|(_, seen)| seen.of("", None)));
        let mut known = BTreeSet::new();
        found.retain(|one| known.insert((one.kernel.clone(), one.from)));
        found
    }

    /// The accesses of one kernel, also in functions that it calls. `named` marks addresses of what
    /// the PTX names.
    fn of_kernel(
        &self,
        kernel: u32,
        name: &str,
        named: &[u64],
        is_reached: &mut [bool],
        steps: &mut usize,
    ) -> Vec<WideAccess> {
        let places = self.places.get(&kernel).map_or(&[][..], Vec::as_slice);
        let mark = |index| {
            if index < MOST_PLACES {
                1_u64 << index
            } else {
                BEYOND
            }
        };
        let mut marks = Vec::new();
        *steps += self.flows.len() / 8 + self.accesses.len();
        if *steps < MOST_STEPS {
            marks.resize(self.flows.len(), 0);
            let starts = places.iter().enumerate();
            let starts = starts.map(|(index, (.., node))| (*node, mark(index)));
            self.spread(starts.collect(), &mut marks, steps);
        }
        if *steps >= MOST_STEPS {
            let first = self.accesses.values().next();
            return first.map(|seen| seen.of(name, None)).into_iter().collect();
        }
        let mut found = Vec::new();
        for ((function, node), seen) in &self.accesses {
            let mark = marks[*node as usize];
            let is_known = mark != 0 || named[*node as usize] != 0;
            let is_own = *function == kernel;
            is_reached[*node as usize] |= is_own || is_known;
            if (is_own && !is_known) || mark & BEYOND != 0 {
                found.push(seen.of(name, None));
            }
            let places = places.iter().take(MOST_PLACES).enumerate();
            let places = places.filter(|(index, _)| mark & (1 << index) != 0);
            found.extend(
                places.map(|(_, (number, offset, _))| seen.of(name, Some((*number, *offset)))),
            );
        }
        found
    }

    /// Who is called by an address gets what is passed there.
    fn connect_indirect_calls(&mut self) {
        let any = self.of_function("", "");
        let is_parameter = |name: &str| {
            let number = name.strip_prefix('(');
            number.is_some_and(|number| number.parse::<usize>().is_ok())
        };
        let nodes = self.nodes.iter();
        let parameters = nodes.filter(|((_, name), _)| is_parameter(name));
        let parameters: Vec<Node> = parameters.map(|(_, node)| *node).collect();
        for parameter in parameters {
            self.flow(any, parameter);
        }
    }

    /// Spreads marks along what flows, until nothing changes.
    fn spread(&self, starts: Vec<(Node, u64)>, marks: &mut [u64], steps: &mut usize) {
        let mut queue: Vec<Node> = Vec::new();
        for (node, mark) in starts {
            marks[node as usize] |= mark;
            queue.push(node);
        }
        while let Some(node) = queue.pop() {
            let mark = marks[node as usize];
            for to in &self.flows[node as usize] {
                *steps += 1;
                let known = &mut marks[*to as usize];
                if *known | mark != *known {
                    *known |= mark;
                    queue.push(*to);
                }
            }
            if *steps >= MOST_STEPS {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::language::cuda::{Assembly, scan_ptx};

    /// The kernels and places of all accesses.
    fn found(ptx: &str) -> Vec<(String, Option<(usize, u64)>)> {
        let scan = scan_ptx(ptx, Assembly::OfHeaders);
        let wide = scan.wide().iter();
        wide.map(|one| (one.kernel.clone(), one.from)).collect()
    }

    fn kernel(code: &str) -> String {
        format!(".visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1)\n{{ {code} }}\n")
    }

    #[test]
    fn an_address_comes_from_parameters() {
        let of = |code: &str| found(&kernel(code));
        let first = ("k".to_owned(), Some((0, 0)));
        let second = ("k".to_owned(), Some((1, 8)));
        let load = "ld.param.b64 %rd1, [k_param_0]; cvta.to.global.u64 %rd2, %rd1;";
        assert_eq!(of(&format!("{load} ld.global.b32 %r1, [%rd2];")), []);
        assert_eq!(
            of(&format!("{load} ld.global.b64 %rd3, [%rd2+8];")),
            std::slice::from_ref(&first)
        );
        assert_eq!(
            of(&format!("{load} atom.global.add.u64 %rd3, [%rd2], %rd9;")),
            std::slice::from_ref(&first)
        );
        // Whichever of them it is.
        let both = format!(
            "{load} ld.param.v2.b64 {{%rd4, %rd5}}, [k_param_1]; selp.b64 %rd6, %rd2, %rd5, %p1; st.f64 [%rd6], %fd1;"
        );
        assert_eq!(of(&both), [first.clone(), second.clone()]);
        // The second round of a loop has another pointer.
        let later = format!("$L: ld.f64 %fd1, [%rd7]; {load} mov.b64 %rd7, %rd2; bra $L;");
        assert_eq!(of(&later), [first]);
        // The parameter's own address is taken.
        let taken = "mov.b64 %rd1, k_param_1; cvta.param.u64 %rd2, %rd1; add.s64 %rd3, %rd2, 8; ld.b64 %rd4, [%rd3]; st.b64 [%rd4], %rd9;";
        assert_eq!(of(taken), [("k".to_owned(), Some((1, u64::MAX)))]);
    }

    #[test]
    fn an_address_that_was_loaded_comes_from_nowhere() {
        let table = "ld.param.b64 %rd1, [k_param_0]; ld.b64 %rd2, [%rd1]; st.b64 [%rd2], %rd9;";
        let expect = [("k".to_owned(), None), ("k".to_owned(), Some((0, 0)))];
        let mut places = found(&kernel(table));
        places.sort();
        assert_eq!(places, expect);
        // What the PTX names is known.
        for named in [
            "mov.b64 %SPL, __local_depot0; cvta.local.u64 %SP, %SPL; st.b64 [%SP+8], %rd1;",
            "st.global.b64 [table+8], %rd1;",
            "ld.shared.b64 %rd1, [%r1]; ld.local.f64 %fd1, [%rd7];",
        ] {
            assert_eq!(found(&kernel(named)), [], "{named}");
        }
    }

    #[test]
    fn addresses_are_followed_into_functions() {
        let function = ".func (.param .b64 func_retval0) f(.param .b64 f_param_0, .param .b64 f_param_1)\n\
             { ld.param.b64 %rd1, [f_param_1]; ld.f64 %fd1, [%rd1]; st.param.b64 [func_retval0], %rd1; }\n";
        let call = |callee: &str| {
            kernel(&format!(
                "ld.param.b64 %rd1, [k_param_1]; st.param.b64 [param0], %rd3; st.param.b64 [param1], %rd1;
                 call.uni (retval0), {callee}, (param0, param1); ld.param.b64 %rd4, [retval0]; st.f64 [%rd4], %fd1;"
            ))
        };
        let of = ("k".to_owned(), Some((1, 0)));
        assert_eq!(
            found(&(function.to_owned() + &call("f"))),
            std::slice::from_ref(&of)
        );
        let indirect = found(&(function.to_owned() + &call("%rd7")));
        assert!(indirect.contains(&of), "{indirect:?}");
        assert_eq!(found(function), [(String::new(), None)]);
    }
}
