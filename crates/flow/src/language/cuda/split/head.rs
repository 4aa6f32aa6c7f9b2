//! The head of a declaration says what it declares: a function, a class, a namespace, and by which
//! names.

use std::ops::Range;

use super::code::Code;
use super::macros::Macros;

/// A function, or its prototype.
pub(super) struct Function {
    /// The last token of its name.
    pub(super) name: usize,
    /// The tokens between the parentheses.
    pub(super) parameters: Range<usize>,
    /// Its body, with the initialisers of a constructor before it.
    pub(super) body: Option<Range<usize>>,
    pub(super) marks: Vec<Mark>,
}

/// What tells a function from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// A member that is defined outside of its class.
    Member,
    /// Its name has template arguments.
    Special,
    /// Defaulted or deleted.
    Given,
    /// Its own words say nothing of what it returns.
    Deduced,
    /// It may run as its user is compiled.
    Constant,
    /// An operator or a conversion: it is used without being named.
    Operator,
    /// `template void f<int>();`
    Instantiation,
}

impl Function {
    pub(super) fn is(&self, mark: Mark) -> bool {
        self.marks.contains(&mark)
    }
}

/// What was seen of a declaration up to its body or end.
#[derive(Default)]
pub(super) struct Head {
    /// Parentheses that belong to no attribute.
    pub(super) groups: Vec<(usize, usize)>,
    pub(super) class_key: Option<usize>,
    pub(super) is_enum: bool,
    pub(super) equals: Option<usize>,
    pub(super) arrow: Option<usize>,
    pub(super) operator: Option<usize>,
    /// The colon before the initialisers of a constructor.
    pub(super) colon: Option<usize>,
    /// After a class or an enumeration: where its braces are.
    pub(super) braces: Option<Range<usize>>,
}

impl Head {
    pub(super) fn begins_initialisers(&self) -> bool {
        !self.groups.is_empty() && self.class_key.is_none() && self.equals.is_none()
    }

    /// The function that it declares, if it does.
    pub(super) fn function(
        &self,
        code: &Code<'_>,
        start: usize,
        body: Option<Range<usize>>,
    ) -> Option<Function> {
        let (open, close) = *self.groups.last()?;
        let mut name = open.checked_sub(1).filter(|name| *name >= start)?;
        let mut first = name;
        let mut is_special = false;
        if let Some(operator) = self.operator.filter(|operator| *operator < open) {
            first = operator;
        } else {
            if matches!(code.punct(name), ">" | ">>") {
                name = code.angle_open(name)?.checked_sub(1)?;
                is_special = true;
            }
            code.ident(name)?;
            first = first.min(name);
        }
        let has = |word: &str| (start..first).any(|at| code.is_ident(at, word));
        let given = self.equals.and_then(|equals| code.ident(equals + 1));
        let marks = [
            (
                Mark::Member,
                first > start && code.is_punct(first - 1, "::"),
            ),
            (Mark::Special, is_special),
            (Mark::Given, matches!(given, Some("default" | "delete"))),
            (Mark::Deduced, has("auto") && self.arrow.is_none()),
            (Mark::Constant, has("constexpr") || has("consteval")),
            (Mark::Operator, self.operator.is_some()),
            (
                Mark::Instantiation,
                code.is_ident(start, "template") && !code.is_punct(start + 1, "<"),
            ),
        ];
        let marks = marks.into_iter().filter(|(_, holds)| *holds);
        Some(Function {
            name,
            parameters: open + 1..close,
            body: body.map(|body| self.colon.unwrap_or(body.start)..body.end),
            marks: marks.map(|(mark, _)| mark).collect(),
        })
    }

    /// The names that a declaration without a body declares.
    pub(super) fn declared(&self, code: &Code<'_>, tokens: Range<usize>) -> Vec<usize> {
        let mut names: Vec<usize> = Vec::new();
        if let Some(braces) = &self.braces {
            names.extend(braces.clone().filter(|at| code.ident(*at).is_some()));
            let name = (tokens.start..braces.start)
                .rev()
                .find(|at| code.ident(*at).is_some() && !code.is_punct(at.saturating_sub(1), ":"));
            names.extend(name);
        }
        let mut at = tokens.start;
        while at < tokens.end {
            if is_declarator(code, at) {
                names.push(at);
            }
            match code.punct(at) {
                // `(*name)` declares, the rest of parentheses does not.
                "(" => {
                    let close = code.partner(at).unwrap_or(at);
                    if matches!(code.punct(at + 1), "*" | "&") {
                        names.extend((at..close).filter(|at| code.ident(*at).is_some()).take(1));
                    }
                    at = close;
                }
                "[" | "{" => at = code.partner(at).unwrap_or(at),
                "<" => at = code.angle_close(at).unwrap_or(at),
                _ => {}
            }
            at += 1;
        }
        names
    }
}

/// The name of the namespace that opens here, empty for `extern "C"` and for one without a
/// name.
pub(super) fn namespace(code: &Code<'_>, start: usize, open: usize) -> Option<String> {
    let at = start + usize::from(code.is_ident(start, "inline"));
    if code.is_ident(at, "extern") && open == at + 2 && code.ident(at + 1).is_none() {
        return Some(String::new());
    }
    if !code.is_ident(at, "namespace") {
        return None;
    }
    let words = (at + 1..open).filter_map(|at| code.ident(at));
    Some(words.flat_map(|word| [word, "::"]).collect())
}

/// The last name before a class's bases or body, without its template arguments.
pub(super) fn class_name(
    code: &Code<'_>,
    macros: &Macros,
    key: usize,
    open: usize,
) -> Option<usize> {
    let mut name = None;
    let mut at = key + 1;
    while at < open {
        match code.punct(at) {
            "(" | "[" => at = code.partner(at).unwrap_or(at),
            ":" | "<" => break,
            _ => {
                let is_word = code
                    .ident(at)
                    .is_some_and(|word| word != "final" && !is_attribute(macros, word));
                if is_word {
                    name = Some(at);
                }
            }
        }
        at += 1;
    }
    name
}

pub(super) fn is_declarator(code: &Code<'_>, at: usize) -> bool {
    code.ident(at).is_some() && matches!(code.punct(at + 1), "=" | "," | ";" | "[" | "{" | "(")
}

/// Whether parentheses behind a word belong to an attribute.
pub(super) fn is_attribute(macros: &Macros, word: &str) -> bool {
    const ATTRIBUTES: [&str; 14] = [
        "__attribute__",
        "__attribute",
        "__declspec",
        "alignas",
        "noexcept",
        "__align__",
        "__launch_bounds__",
        "__maxnreg__",
        "__cluster_dims__",
        "__block_size__",
        "decltype",
        "explicit",
        "requires",
        "throw",
    ];
    ATTRIBUTES.contains(&word) || macros.is_attribute(word)
}
