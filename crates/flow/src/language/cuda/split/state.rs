//! Variables of the GPU that a kernel can write: what one run writes, the next one finds.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::Range;

use super::code::Code;
use super::declarations::{Declaration, Kind};
use super::halves::{Fate, is_shortened};
use super::head::{Function, Mark, is_attribute};
use super::macros::Macros;
use super::refusal::Refusal;

/// The first variable of the device half that is not constant. The device compiler takes a variable
/// at file scope for one of the GPU, whether it says so or not.
pub(super) fn first(
    code: &Code<'_>,
    macros: &Macros,
    declarations: &[Declaration],
    fates: &[Fate],
) -> Option<Refusal> {
    let is_defined = |function: &Function| function.body.is_some();
    let functions = declarations.iter().filter_map(|one| match &one.kind {
        Kind::Function(function) if is_defined(function) => code.ident(function.name),
        _ => None,
    });
    let looked = Looked {
        code,
        macros,
        defined: functions.collect(),
    };
    let pairs = declarations.iter().zip(fates);
    let kept = pairs.filter(|(_, fate)| **fate != Fate::Drop);
    let mut found = kept.filter_map(|(declaration, fate)| looked.at(declaration, *fate));
    found.next().map(|at| {
        let name = code.ident(at).unwrap_or_default();
        Refusal {
            line: code.line(at),
            why: format!(
                "`{name}` keeps what kernels write to it from one run to the next; let host code \
                 allocate memory and pass it, or make it `__constant__`"
            ),
        }
    })
}

/// Variables of one declaration that are looked at. A declaration of more counts as written.
const NAMES: usize = 256;

struct Looked<'c, 's> {
    code: &'c Code<'s>,
    macros: &'c Macros,
    /// The names of functions that have bodies.
    defined: BTreeSet<&'c str>,
}

impl Looked<'_, '_> {
    /// The token of a variable that a declaration declares and that can be written.
    fn at(&self, declaration: &Declaration, fate: Fate) -> Option<usize> {
        let Range { start, end } = declaration.tokens;
        let hidden = |head: Range<usize>| {
            let mut words = head.filter_map(|at| Some((at, self.code.ident(at)?)));
            let found = words.find(|(_, word)| self.macros.holds(word).has_end());
            found.map(|(at, _)| at)
        };
        match &declaration.kind {
            Kind::Function(function) => {
                let body = function.body.clone();
                hidden(start..function.name).or_else(|| match body {
                    Some(body) if !is_shortened(fate) => self.in_body(body),
                    Some(_) => None,
                    None => self.like_a_prototype(declaration, function),
                })
            }
            Kind::Class => {
                let open = (start..end).find(|at| self.code.is_punct(*at, "{"))?;
                let is_type = self.code.is_ident(start, "typedef");
                let is_member = declaration.class.is_some() && !self.lasts(start..open);
                let behind = |name: &usize| *name > open && !is_type && !is_member;
                let names = declaration.names.iter().copied().filter(behind);
                hidden(start..open).or_else(|| self.written(start, names))
            }
            Kind::Named => hidden(self.head(start, end)).or_else(|| self.named(declaration)),
            Kind::Using | Kind::Assert | Kind::Assembly | Kind::Macro => None,
        }
    }

    fn named(&self, declaration: &Declaration) -> Option<usize> {
        let Range { start, end } = declaration.tokens;
        let head = self.head(start, end);
        if declaration.class.is_some() {
            if self.has(head.clone(), "mutable") {
                return declaration.names.first().copied();
            }
            if !self.lasts(head.clone()) {
                return None;
            }
        }
        if self.is_type(&head) || self.has(head.clone(), "__shared__") {
            return None;
        }
        let is_enum = self.has(head.clone(), "enum") && self.code.is_punct(head.end, "{");
        // Names in the braces are constants.
        let first = if is_enum {
            self.code.partner(head.end)?
        } else {
            start
        };
        let names = declaration.names.iter().copied();
        let variables = names.filter(|name| {
            let word = self.code.ident(*name).unwrap_or_default();
            *name >= first && !is_attribute(self.macros, word)
        });
        self.written(start, variables)
    }

    /// The first of a declaration's variables that can be written.
    fn written(&self, start: usize, names: impl Iterator<Item = usize>) -> Option<usize> {
        let mut names = names.enumerate();
        let found = names.find(|(count, name)| {
            // Each looks at the tokens before it.
            *count == NAMES || !self.is_constant(start, *name)
        });
        found.map(|(_, name)| name)
    }

    /// `__device__ int x(0);` reads like the prototype of a function, and none has this name.
    fn like_a_prototype(&self, declaration: &Declaration, function: &Function) -> Option<usize> {
        let name = self.code.ident(function.name)?;
        let is_plain = |mark: &Mark| matches!(mark, Mark::Constant | Mark::Deduced);
        let is_function = !function.marks.iter().all(is_plain)
            || declaration.class.is_some()
            || declaration.spaces.is_global()
            || self.defined.contains(name);
        let start = declaration.tokens.start;
        (!is_function && !self.is_constant(start, function.name)).then_some(function.name)
    }

    /// A variable in a function that outlives the function's end.
    fn in_body(&self, body: Range<usize>) -> Option<usize> {
        let mut start = body.start;
        let mut at = body.start;
        while at < body.end {
            if matches!(self.code.punct(at), ";" | "{" | "}") {
                start = at + 1;
            }
            let holds = self.code.ident(at).map(|word| self.macros.holds(word));
            let holds = holds.unwrap_or_default();
            if self.code.is_ident(at, "static") || holds.is_static() {
                let head = self.head(start, body.end);
                if holds.has_signs() || self.is_lasting_variable(&head, at) {
                    return Some(at);
                }
                at = at.max(head.end.saturating_sub(1));
            }
            at += 1;
        }
        None
    }

    /// Whether a declaration in a function, with `static` at a token, is a variable that can be
    /// written.
    fn is_lasting_variable(&self, head: &Range<usize>, at: usize) -> bool {
        let before = head.end.saturating_sub(1);
        let is_function = self.code.is_punct(head.end, "{") && self.code.is_punct(before, ")");
        if is_function || self.has(head.clone(), "__shared__") {
            return false;
        }
        let mut words = head.clone().rev();
        let name = words.find(|at| self.code.ident(*at).is_some());
        !name.is_some_and(|name| name > at && self.is_constant(head.start, name))
    }

    /// The tokens of a declaration up to its first value, bound or end.
    fn head(&self, start: usize, end: usize) -> Range<usize> {
        let mut at = start;
        while at < end && !matches!(self.code.punct(at), "=" | "{" | ";" | "[") {
            at = self.jumped(at, end).unwrap_or(at) + 1;
        }
        start..at.min(end)
    }

    /// The end of template arguments or parentheses that begin here, before `end`.
    fn jumped(&self, at: usize, end: usize) -> Option<usize> {
        let close = match self.code.punct(at) {
            "<" => self.code.angle_close(at),
            "(" => self.code.partner(at),
            _ => None,
        };
        close.filter(|close| *close < end)
    }

    fn is_class_key(&self, at: usize) -> bool {
        let words = ["struct", "class", "union", "enum"];
        words.iter().any(|word| self.code.is_ident(at, word))
    }

    fn has(&self, mut tokens: Range<usize>, word: &str) -> bool {
        tokens.any(|at| self.code.is_ident(at, word))
    }

    /// Whether a head says `static`.
    fn lasts(&self, mut head: Range<usize>) -> bool {
        head.any(|at| {
            let word = self.code.ident(at).unwrap_or_default();
            word == "static" || self.macros.holds(word).is_static()
        })
    }

    /// Whether a declaration declares no variable: a type, an alias, a friend, a prototype of a
    /// class.
    fn is_type(&self, head: &Range<usize>) -> bool {
        const TYPES: [&str; 5] = ["typedef", "using", "friend", "namespace", "concept"];
        let mut start = head.start;
        while self.code.is_ident(start, "template") && self.code.is_punct(start + 1, "<") {
            start = self.code.angle_close(start + 1).unwrap_or(start) + 1;
        }
        let first = self.code.ident(start).unwrap_or_default();
        let mut keys = (start..head.end).filter(|at| self.is_class_key(*at));
        let is_forward = keys.next().is_some_and(|key| {
            let words = (key + 1..head.end).filter(|at| self.code.ident(*at).is_some());
            !self.code.is_punct(head.end, "{") && words.count() < 2
        });
        TYPES.contains(&first) || is_forward
    }

    /// Whether the variable at `name` of the declaration that begins at `start` cannot be written.
    /// Of a pointer, only what stands behind its star counts.
    fn is_constant(&self, start: usize, name: usize) -> bool {
        let mut is_constant = false;
        let mut of_base = None;
        let mut at = start;
        while at < name {
            if self.code.is_ident(at, "template") && self.code.is_punct(at + 1, "<") {
                at = self.code.angle_close(at + 1).unwrap_or(at) + 1;
                continue;
            }
            match self.code.punct(at) {
                "*" | "&" | "&&" => {
                    of_base = of_base.or(Some(is_constant));
                    is_constant = false;
                }
                "," => is_constant = of_base.unwrap_or(is_constant),
                // Values of the variables before it.
                "{" | "[" => at = self.code.partner(at).unwrap_or(at),
                _ => {}
            }
            if let Some(word) = self.code.ident(at) {
                let holds = self.macros.holds(word);
                if matches!(word, "constexpr" | "__constant__") {
                    return true;
                }
                if word == "const" || holds.is_constant() {
                    is_constant = true;
                } else if holds.has_signs() {
                    // A star may hide in it.
                    is_constant = false;
                }
            }
            at = self.jumped(at, name).unwrap_or(at) + 1;
        }
        is_constant
    }
}
