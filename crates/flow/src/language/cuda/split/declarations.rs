//! The declarations of a source, at file scope, in namespaces and in classes.
//!
//! This is not a parser: it finds where declarations begin and end, what they declare, and where
//! they run. Text that is no C++ gives some declarations too, which a compiler then refuses.

use std::ops::Range;
use std::rc::Rc;

use super::code::Code;
use super::head::{Function, Head, class_name, is_attribute, is_declarator, namespace};
use super::macros::Macros;
use super::refusal::Refusal;
use super::spaces::Spaces;

/// A declaration.
pub(super) struct Declaration {
    pub(super) tokens: Range<usize>,
    /// The class that it is a member of.
    pub(super) class: Option<usize>,
    pub(super) kind: Kind,
    pub(super) spaces: Spaces,
    /// The tokens of the names that it declares.
    pub(super) names: Vec<usize>,
    /// The namespaces around it, such as `a::b::`.
    pub(super) scope: Rc<str>,
}

pub(super) enum Kind {
    Function(Function),
    Class,
    /// Variables, types, aliases: known by its names.
    Named,
    /// `using namespace`.
    Using,
    /// `static_assert`.
    Assert,
    /// Assembly at file scope.
    Assembly,
    /// The use of a macro that defines code.
    Macro,
}

/// Bytes of the names of the namespaces around one declaration.
const SCOPE: usize = 1000;

/// A scope that declarations stand in.
struct Scope {
    /// Its closing brace.
    end: usize,
    class: Option<usize>,
    /// The namespaces around it.
    outer: Rc<str>,
}

pub(super) fn read(code: &Code<'_>, macros: &Macros) -> Result<Vec<Declaration>, Refusal> {
    let mut reader = Reader {
        code,
        macros,
        scopes: Vec::new(),
        namespaces: "".into(),
        found: Vec::new(),
    };
    let mut at = 0;
    while at < code.tokens.len() {
        at = reader.step(at)?;
    }
    Ok(reader.found)
}

struct Reader<'c, 's> {
    code: &'c Code<'s>,
    macros: &'c Macros,
    scopes: Vec<Scope>,
    namespaces: Rc<str>,
    found: Vec<Declaration>,
}

impl Reader<'_, '_> {
    /// Reads what begins at a token; says where the next thing begins.
    fn step(&mut self, at: usize) -> Result<usize, Refusal> {
        let code = self.code;
        if let Some(scope) = self.scopes.last()
            && at >= scope.end
        {
            let (class, outer) = (scope.class, Rc::clone(&scope.outer));
            let parent = self.scopes.pop().map(|scope| scope.end);
            self.namespaces = outer;
            let after = parent.map_or(at + 1, |end| end + 1);
            return Ok(match class.filter(|class| self.is_open(*class)) {
                Some(class) => self.end_class(class, after),
                None => after,
            });
        }
        let class = self.class();
        let is_access = ["public", "private", "protected"]
            .iter()
            .any(|word| code.is_ident(at, word));
        if class.is_some() && is_access && code.is_punct(at + 1, ":") {
            return Ok(at + 2);
        }
        if matches!(code.punct(at), ";" | "}" | ")") {
            return Ok(at + 1);
        }
        self.declaration(at)
    }

    fn class(&self) -> Option<usize> {
        self.scopes.last().and_then(|scope| scope.class)
    }

    /// Whether a class's declaration still lacks its end.
    fn is_open(&self, class: usize) -> bool {
        self.found[class].tokens.is_empty()
    }

    /// Reads the variables behind a class's braces.
    fn end_class(&mut self, class: usize, after: usize) -> usize {
        let mut at = after;
        let limit = self.limit();
        while at < limit && !matches!(self.code.punct(at), ";" | "}") {
            if let Some(close) = self.skipped(at) {
                at = close;
            } else if is_declarator(self.code, at) {
                self.found[class].names.push(at);
            }
            at += 1;
        }
        let end = if self.code.is_punct(at, ";") {
            at + 1
        } else {
            at
        };
        self.found[class].tokens.end = end;
        end
    }

    fn limit(&self) -> usize {
        let all = self.code.tokens.len();
        self.scopes.last().map_or(all, |scope| scope.end)
    }

    /// The other end of brackets that begin here.
    fn skipped(&self, at: usize) -> Option<usize> {
        matches!(self.code.punct(at), "(" | "[" | "{")
            .then(|| self.code.partner(at))
            .flatten()
    }

    fn declaration(&mut self, start: usize) -> Result<usize, Refusal> {
        let code = self.code;
        let limit = self.limit();
        if let Some(end) = self.macro_use(start) {
            self.add(start..end, Kind::Macro, Vec::new());
            return Ok(end);
        }
        let mut head = Head::default();
        let mut at = start;
        while at < limit {
            match code.ident(at) {
                Some("template") if code.is_punct(at + 1, "<") => {
                    at = code.angle_close(at + 1).unwrap_or(at) + 1;
                    continue;
                }
                Some("struct" | "class" | "union") if head.groups.is_empty() => {
                    head.class_key = head.class_key.or(Some(at));
                }
                Some("enum") => head.is_enum = true,
                Some("operator") => {
                    head.operator = Some(at);
                    at = self.operator_end(at);
                    continue;
                }
                _ => {}
            }
            match code.punct(at) {
                "(" => {
                    let close = self.closed(at)?;
                    let is_attribute = at > start && self.is_attribute(at - 1);
                    if !is_attribute && head.equals.is_none() && head.arrow.is_none() {
                        head.groups.push((at, close));
                    }
                    at = close;
                }
                "[" => at = self.closed(at)?,
                "->" => head.arrow = head.arrow.or(Some(at)),
                "=" => head.equals = head.equals.or(Some(at)),
                ":" if head.begins_initialisers() => {
                    head.colon = Some(at);
                    at = self.initialisers_end(at + 1);
                    continue;
                }
                "{" => {
                    let close = self.closed(at)?;
                    if let Some(next) = self.braces(start, at, close, &mut head) {
                        if self.namespaces.len() > SCOPE {
                            return Err(Refusal {
                                line: code.line(at),
                                why: format!("namespaces of more than {SCOPE} bytes"),
                            });
                        }
                        return Ok(next);
                    }
                    at = close;
                }
                ";" => {
                    self.ended(start, at + 1, &head);
                    return Ok(at + 1);
                }
                "}" => break,
                _ => {}
            }
            at += 1;
        }
        let end = at.max(start + 1).min(code.tokens.len());
        self.ended(start, end, &head);
        Ok(end)
    }

    /// Where the use of a macro ends that defines code.
    fn macro_use(&self, start: usize) -> Option<usize> {
        let code = self.code;
        let is_use = code.is_punct(start + 1, "(") && self.macros.defines_code(code.ident(start)?);
        let close = code.partner(start + 1).filter(|_| is_use)?;
        Some(close + 1 + usize::from(code.is_punct(close + 1, ";")))
    }

    fn closed(&self, open: usize) -> Result<usize, Refusal> {
        self.code.partner(open).ok_or_else(|| Refusal {
            line: self.code.line(open),
            why: format!(
                "`{}` is never closed, or only in another branch of an #if",
                self.code.punct(open)
            ),
        })
    }

    /// Whether parentheses behind this word belong to an attribute.
    fn is_attribute(&self, word: usize) -> bool {
        let word = self.code.ident(word);
        word.is_some_and(|word| is_attribute(self.macros, word))
    }

    /// Where the parameters of an operator begin.
    fn operator_end(&self, operator: usize) -> usize {
        let mut at = operator + 1;
        if self.code.is_punct(at, "(") {
            return self.code.partner(at).map_or(at, |close| close + 1);
        }
        // A conversion has a type, and the others a sign; `new[]` has brackets.
        while at < self.limit() && !matches!(self.code.punct(at), "(" | ";" | "{" | "}") {
            at = self
                .code
                .angle_close(at)
                .filter(|_| at > operator + 1)
                .unwrap_or(at)
                + 1;
        }
        at
    }

    /// The brace of a constructor's body.
    fn initialisers_end(&self, from: usize) -> usize {
        let code = self.code;
        let mut at = from;
        while at < self.limit() {
            match code.punct(at) {
                "(" | "[" => at = code.partner(at).unwrap_or(at),
                "<" => at = code.angle_close(at).unwrap_or(at),
                // Braces behind a name initialise it; the others are the body.
                "{" if code.ident(at - 1).is_some() || code.is_punct(at - 1, ">") => {
                    at = code.partner(at).unwrap_or(at);
                }
                "{" | ";" | "}" => return at,
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// What braces in a declaration mean. Says where the next declaration begins, if this one ended
    /// or opened a scope.
    fn braces(
        &mut self,
        start: usize,
        open: usize,
        close: usize,
        head: &mut Head,
    ) -> Option<usize> {
        let code = self.code;
        if head.equals.is_some() || head.braces.is_some() {
            return None;
        }
        if let Some(name) = namespace(code, start, open) {
            self.enter(close, self.class(), &name);
            return Some(open + 1);
        }
        if head.is_enum {
            head.braces = Some(open..close + 1);
            return None;
        }
        let parameters = head.groups.last().copied();
        if head.class_key.is_some() && parameters.is_none_or(|(at, _)| Some(at) < head.class_key) {
            let class = self.found.len();
            let names = head
                .class_key
                .and_then(|key| class_name(code, self.macros, key, open));
            // An empty range of tokens says that its end is not known.
            self.add(start..start, Kind::Class, names.into_iter().collect());
            self.enter(close, Some(class), "");
            return Some(open + 1);
        }
        if let Some(function) = head.function(code, start, Some(open..close + 1)) {
            let end = close + 1;
            let name = function.name;
            self.add(start..end, Kind::Function(function), vec![name]);
            return Some(end);
        }
        if code.punct(start) == "{" {
            return Some(close + 1);
        }
        None
    }

    fn enter(&mut self, end: usize, class: Option<usize>, namespace: &str) {
        let outer = Rc::clone(&self.namespaces);
        if !namespace.is_empty() {
            self.namespaces = format!("{outer}{namespace}").into();
        }
        self.scopes.push(Scope { end, class, outer });
    }

    /// Notes a declaration that ends without a body.
    fn ended(&mut self, start: usize, end: usize, head: &Head) {
        let code = self.code;
        let first = code.ident(start).unwrap_or_default();
        let kind = match first {
            "using" if code.is_ident(start + 1, "namespace") => Kind::Using,
            "static_assert" | "_Static_assert" => Kind::Assert,
            "asm" | "__asm" | "__asm__" => Kind::Assembly,
            _ => Kind::Named,
        };
        let is_plain = matches!(kind, Kind::Named)
            && !matches!(first, "typedef" | "using" | "namespace" | "friend")
            && !head.is_enum;
        let function = if is_plain {
            head.function(code, start, None)
        } else {
            None
        };
        if let Some(function) = function {
            let name = function.name;
            self.add(start..end, Kind::Function(function), vec![name]);
            return;
        }
        let names = head.declared(code, start..end);
        self.add(start..end, kind, names);
    }

    fn add(&mut self, tokens: Range<usize>, kind: Kind, names: Vec<usize>) {
        let until = match &kind {
            Kind::Function(function) => function.parameters.start,
            _ => tokens.end,
        };
        // What a function's parameters say, or a variable's value, says nothing of itself.
        let mut spaces = Spaces::default();
        let mut at = tokens.start;
        while at < until && !matches!(self.code.punct(at), "=" | "{") {
            if self.code.is_ident(at, "template") && self.code.is_punct(at + 1, "<") {
                at = self.code.angle_close(at + 1).unwrap_or(at);
            } else if let Some(word) = self.code.ident(at) {
                spaces |= self.macros.spaces(word);
            }
            at += 1;
        }
        self.found.push(Declaration {
            tokens,
            class: self.class(),
            kind,
            spaces,
            names,
            scope: Rc::clone(&self.namespaces),
        });
    }
}
