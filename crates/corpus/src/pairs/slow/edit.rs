//! Changes to a text at places that the grammar names.

use std::ops::Range;

use tree_sitter::{Node, Parser, Tree};

/// A text and how the grammar reads it.
pub(super) struct Parsed<'a> {
    pub(super) text: &'a str,
    tree: Tree,
}

impl<'a> Parsed<'a> {
    pub(super) fn of(text: &'a str) -> Option<Self> {
        let mut parser = Parser::new();
        parser
            .set_language(&tree_sitter_cuda::LANGUAGE.into())
            .ok()?;
        let tree = parser.parse(text, None)?;
        Some(Self { text, tree })
    }

    pub(super) fn text_of(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    /// All nodes, parents before their children.
    pub(super) fn nodes(&self) -> Vec<Node<'_>> {
        below(self.tree.root_node())
    }
}

/// A node and everything in it, parents first.
pub(super) fn below(root: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut next = vec![root];
    while let Some(node) = next.pop() {
        found.push(node);
        let children = (0..node.child_count()).rev();
        next.extend(children.filter_map(|at| node.child(at)));
    }
    found
}

/// A place and what stands there instead.
pub(super) type Edit = (Range<usize>, String);

/// The text with all edits; `None` if there are none. Edits inside others are left out.
pub(super) fn edited(text: &str, mut edits: Vec<Edit>) -> Option<String> {
    if edits.is_empty() {
        return None;
    }
    edits.sort_by_key(|(place, _)| (place.start, place.end));
    let mut out = String::new();
    let mut at = 0;
    for (place, new) in edits {
        if place.start < at {
            continue;
        }
        out.push_str(text.get(at..place.start)?);
        out.push_str(&new);
        at = place.end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}
