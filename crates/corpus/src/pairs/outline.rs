//! A CUDA file as a list of items: kernels, helpers, types, macros and the rest, in their order.
//!
//! tree-sitter reads the file, because a lexer loses methods and what stands between `#if`s. A
//! file that it cannot read as a whole still gives the items that it can read.

use std::collections::BTreeSet;

use tree_sitter::{Node, Parser};

use super::item::{Item, Kind, Wrap};
use super::words::{bare, words};

/// The items of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Outline {
    pub(super) items: Vec<Item>,
    /// How many places tree-sitter could not read.
    pub(super) unread: usize,
}

impl Outline {
    /// Reads a source.
    pub(super) fn of(text: &str) -> Self {
        let mut parser = Parser::new();
        parser
            .set_language(&tree_sitter_cuda::LANGUAGE.into())
            .expect("the grammar fits the library that it is built with");
        let Some(tree) = parser.parse(text, None) else {
            return Self::default();
        };
        let mut reader = Reader {
            text,
            depth: 0,
            kernel_words: kernel_words(text),
            outline: Self::default(),
        };
        reader.outline.unread = unread(tree.root_node());
        reader.list(tree.root_node(), &[]);
        reader.outline
    }

    pub(super) fn kernels(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| item.kind == Kind::Kernel)
    }

    /// The number of device functions that are no kernels.
    pub(super) fn helpers(&self) -> usize {
        let free = self.items.iter().filter(|item| item.kind == Kind::Helper);
        free.count() + self.items.iter().map(|item| item.methods).sum::<usize>()
    }
}

/// `__global__`, and macros that stand for it.
fn kernel_words(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::from(["__global__".to_owned()]);
    for line in text.lines() {
        let line = line.trim_start().strip_prefix('#').unwrap_or("");
        let Some(define) = line.trim_start().strip_prefix("define") else {
            continue;
        };
        let define = bare(define);
        let words = words(&define);
        if let [name, body @ ..] = &words[..]
            && body.iter().any(|word| word.text == "__global__")
        {
            found.insert(name.text.to_owned());
        }
    }
    found
}

fn unread(root: Node<'_>) -> usize {
    if !root.has_error() {
        return 0;
    }
    let mut count = 0;
    let mut next = vec![root];
    while let Some(node) = next.pop() {
        if node.is_error() || node.is_missing() {
            count += 1;
        } else if node.has_error() {
            next.extend((0..node.child_count()).filter_map(|at| node.child(at)));
        }
    }
    count
}

/// Items within more namespaces and conditions than this are left out. Nobody writes them by hand.
const DEPTH: usize = 100;

struct Reader<'a> {
    text: &'a str,
    depth: usize,
    kernel_words: BTreeSet<String>,
    outline: Outline,
}

impl<'a> Reader<'a> {
    fn of(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    fn list(&mut self, parent: Node<'_>, wraps: &[Wrap]) {
        if self.depth == DEPTH {
            return;
        }
        self.depth += 1;
        let mut cursor = parent.walk();
        let children: Vec<Node<'_>> = parent.children(&mut cursor).collect();
        for (at, node) in children.iter().enumerate() {
            // A struct whose name is missing swallows nothing: its semicolon is a node of its own.
            let behind = children.get(at + 1).map_or("", |next| self.of(*next));
            self.node(*node, behind, wraps);
        }
        self.depth -= 1;
    }

    fn node(&mut self, node: Node<'_>, behind: &str, wraps: &[Wrap]) {
        match node.kind() {
            "preproc_if" | "preproc_ifdef" => self.condition(node, wraps),
            "preproc_include" => self.include(node, wraps),
            "preproc_def" | "preproc_function_def" => {
                let name = node.child_by_field_name("name");
                let names = name.map(|name| self.of(name).to_owned());
                self.push(Kind::Macro, self.of(node).trim_end(), names, wraps);
            }
            "preproc_call" => {
                let text = self.of(node).trim_end();
                if let Some(name) = text.strip_prefix("#undef") {
                    let name = bare(name).trim().to_owned();
                    self.push(Kind::Macro, text, Some(name), wraps);
                }
            }
            "namespace_definition" => {
                let name = node.child_by_field_name("name");
                let wrap = Wrap {
                    open: format!("namespace {} {{", name.map_or("", |name| self.of(name))),
                    close: "}",
                };
                if let Some(body) = node.child_by_field_name("body") {
                    self.list(body, &[wraps, &[wrap]].concat());
                }
            }
            "linkage_specification" => match node.child_by_field_name("body") {
                Some(body) if body.kind() == "declaration_list" => self.list(body, wraps),
                Some(body) => self.item(node, body, behind, wraps),
                None => {}
            },
            "ERROR" | "declaration_list" => self.list(node, wraps),
            "template_declaration" => {
                let last = node.named_child_count().checked_sub(1);
                let inner = last.and_then(|at| node.named_child(at as u32));
                if let Some(inner) = inner {
                    self.item(node, inner, behind, wraps);
                }
            }
            _ => self.item(node, node, behind, wraps),
        }
    }

    fn condition(&mut self, node: Node<'_>, wraps: &[Wrap]) {
        if self.depth == DEPTH {
            return;
        }
        self.depth += 1;
        let mut opened = String::new();
        let mut branch = Some(node);
        while let Some(node) = branch {
            let alternative = node.child_by_field_name("alternative");
            let header_end = node
                .child_by_field_name("condition")
                .or_else(|| node.child_by_field_name("name"))
                .map_or(node.start_byte(), |condition| condition.end_byte());
            let line = if node.kind() == "preproc_else" {
                "#else"
            } else {
                self.text
                    .get(node.start_byte()..header_end)
                    .unwrap_or("")
                    .trim_end()
            };
            if !opened.is_empty() {
                opened.push('\n');
            }
            opened.push_str(line);
            let inside = if self.is_guard(node) {
                wraps.to_vec()
            } else {
                let wrap = Wrap {
                    open: opened.clone(),
                    close: "#endif",
                };
                [wraps, &[wrap]].concat()
            };
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node
                .children(&mut cursor)
                .filter(|child| {
                    child.start_byte() >= header_end
                        && Some(child.id()) != alternative.map(|a| a.id())
                })
                .collect();
            for (at, child) in children.iter().enumerate() {
                let behind = children.get(at + 1).map_or("", |next| self.of(*next));
                self.node(*child, behind, &inside);
            }
            branch = alternative;
        }
        self.depth -= 1;
    }

    /// Whether this is the guard of a header: `#ifndef X` and then `#define X`.
    fn is_guard(&self, node: Node<'_>) -> bool {
        let Some(name) = node.child_by_field_name("name") else {
            return false;
        };
        let mut cursor = node.walk();
        let first = node
            .named_children(&mut cursor)
            .find(|child| child.start_byte() > name.start_byte() && child.kind() != "comment");
        self.of(node).starts_with("#ifndef")
            && first.is_some_and(|first| {
                first.kind() == "preproc_def"
                    && first.child_by_field_name("value").is_none()
                    && first
                        .child_by_field_name("name")
                        .is_some_and(|defined| self.of(defined) == self.of(name))
            })
    }

    fn include(&mut self, node: Node<'_>, wraps: &[Wrap]) {
        let Some(path) = node.child_by_field_name("path") else {
            return;
        };
        let local = path.kind() == "string_literal";
        let name = self.of(path).trim_matches(['"', '<', '>']).to_owned();
        self.push(
            Kind::Include { local },
            self.of(node).trim_end(),
            Some(name),
            wraps,
        );
    }

    /// An item whose text is that of `outer`, and whose nature is that of `inner`.
    fn item(&mut self, outer: Node<'_>, inner: Node<'_>, behind: &str, wraps: &[Wrap]) {
        let mut text = self.of(outer).trim_end().to_owned();
        let mut names = Vec::new();
        self.declared(inner, &mut names);
        let kind = match inner.kind() {
            "function_definition" if inner.child_by_field_name("body").is_some() => {
                self.function(inner)
            }
            "declaration" | "function_definition" => self.declaration(inner),
            "type_definition" | "alias_declaration" | "struct_specifier" | "class_specifier"
            | "union_specifier" | "enum_specifier" => Kind::Type,
            _ => return,
        };
        if kind == Kind::Type && !text.ends_with(';') && behind.starts_with(';') {
            text.push(';');
        }
        let methods = if matches!(kind, Kind::Type | Kind::Data | Kind::Constant) {
            self.methods(inner)
        } else {
            0
        };
        let parameters = self.parameters(inner);
        self.outline.items.push(Item {
            kind,
            text,
            names,
            wraps: wraps.to_vec(),
            methods,
            parameters,
        });
    }

    fn push(
        &mut self,
        kind: Kind,
        text: &str,
        names: impl IntoIterator<Item = String>,
        wraps: &[Wrap],
    ) {
        self.outline.items.push(Item {
            kind,
            text: text.to_owned(),
            names: names.into_iter().collect(),
            wraps: wraps.to_vec(),
            methods: 0,
            parameters: String::new(),
        });
    }

    /// The text before a function's or variable's name.
    fn qualifiers(&self, node: Node<'_>) -> String {
        let end = node
            .child_by_field_name("declarator")
            .map_or(node.end_byte(), |declarator| declarator.start_byte());
        bare(self.text.get(node.start_byte()..end).unwrap_or(""))
    }

    fn function(&self, node: Node<'_>) -> Kind {
        let qualifiers = self.qualifiers(node);
        let words = words(&qualifiers);
        if words
            .iter()
            .any(|word| self.kernel_words.contains(word.text))
        {
            Kind::Kernel
        } else if words.iter().any(|word| word.text == "__device__") {
            Kind::Helper
        } else {
            Kind::Host
        }
    }

    fn declaration(&self, node: Node<'_>) -> Kind {
        let qualifiers = self.qualifiers(node);
        let has = |name: &str| words(&qualifiers).iter().any(|word| word.text == name);
        let is_function = node
            .child_by_field_name("declarator")
            .is_some_and(is_function);
        if is_function {
            return if has("__device__") {
                Kind::DevicePrototype
            } else {
                Kind::Prototype
            };
        }
        if has("texture") || has("surface") {
            Kind::Texture
        } else if has("__constant__") || has("__shared__") || has("__device__") {
            Kind::DeviceData
        } else if has("const") || has("constexpr") {
            Kind::Constant
        } else {
            Kind::Data
        }
    }

    /// The names that a declaration introduces.
    fn declared(&self, node: Node<'_>, names: &mut Vec<String>) {
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            names.extend(self.declarator(declarator));
        }
        if let Some(name) = node.child_by_field_name("name") {
            names.push(self.of(name).to_owned());
        }
        // The tag of a struct, and the values of an enumeration.
        let mut next = vec![node];
        while let Some(node) = next.pop() {
            if node.kind() == "enumerator" || is_type(node) {
                let name = node.child_by_field_name("name");
                names.extend(name.map(|name| self.of(name).to_owned()));
            }
            if !matches!(node.kind(), "compound_statement" | "function_declarator") {
                let mut cursor = node.walk();
                next.extend(node.named_children(&mut cursor));
            }
        }
        names.sort();
        names.dedup();
    }

    fn declarator(&self, declarator: Node<'_>) -> Option<String> {
        let mut node = declarator;
        loop {
            match node.kind() {
                "identifier"
                | "type_identifier"
                | "field_identifier"
                | "operator_name"
                | "qualified_identifier"
                | "primitive_type" => {
                    return Some(self.of(node).to_owned());
                }
                _ => {
                    node = node
                        .child_by_field_name("declarator")
                        .or_else(|| node.named_child(0))?;
                }
            }
        }
    }

    fn methods(&self, node: Node<'_>) -> usize {
        let mut count = 0;
        let mut next = vec![node];
        while let Some(node) = next.pop() {
            if node.kind() == "function_definition" {
                count += usize::from(self.function(node) == Kind::Helper);
                continue;
            }
            let mut cursor = node.walk();
            next.extend(node.named_children(&mut cursor));
        }
        count
    }

    fn parameters(&self, node: Node<'_>) -> String {
        let mut next = node.child_by_field_name("declarator");
        while let Some(node) = next {
            if let Some(parameters) = node.child_by_field_name("parameters") {
                // `__restrict__` is a promise about a parameter, and no part of its type.
                return bare(self.of(parameters))
                    .replace("__restrict__", "")
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ")
                    .replace("* ", "*");
            }
            next = node
                .child_by_field_name("declarator")
                .or_else(|| node.named_child(0));
        }
        String::new()
    }
}

/// Types with a body define their tag; others only use it.
fn is_type(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "struct_specifier" | "class_specifier" | "union_specifier" | "enum_specifier"
    ) && node.child_by_field_name("body").is_some()
}

fn is_function(declarator: Node<'_>) -> bool {
    let mut node = Some(declarator);
    while let Some(inner) = node {
        match inner.kind() {
            "function_declarator" => return true,
            "pointer_declarator" | "reference_declarator" => {
                let named = inner.child_by_field_name("declarator");
                node = named.or_else(|| inner.named_child(0));
            }
            _ => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests;
