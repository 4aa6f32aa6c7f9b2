//! Shared memory of a block as a scratch array in global memory.
//!
//! Each block gets its part of an array with the same declaration, so every access stays as it is,
//! and barriers order accesses of a block's threads to global memory, too.

use tree_sitter::Node;

use super::edit::{Edit, Parsed, below, edited};

/// The blocks that a scratch array has room for. No kernel of the suites starts more.
const BLOCKS: usize = 65_536;

/// Without `__shared__` arrays of a fixed size.
pub(super) fn unstaged(text: &str) -> Option<String> {
    let parsed = Parsed::of(text)?;
    let mut edits: Vec<Edit> = Vec::new();
    for node in parsed.nodes() {
        // What depends on a template's parameters cannot stand outside of the template.
        let in_template = node
            .parent()
            .is_some_and(|parent| parent.kind() == "template_declaration");
        if node.kind() == "function_definition" && !in_template {
            edits.extend(of_function(&parsed, node).unwrap_or_default());
        }
    }
    edited(text, edits)
}

fn of_function(parsed: &Parsed<'_>, function: Node<'_>) -> Option<Vec<Edit>> {
    let body = function.child_by_field_name("body")?;
    let name = function_name(parsed, function)?;
    let mut edits = Vec::new();
    let mut scratch = String::new();
    for node in below(body) {
        if node.kind() != "declaration" || !is_shared(parsed, node) {
            continue;
        }
        // One that stays makes moving the others pointless.
        let (kind, variables) = variables(parsed, node)?;
        let mut local = String::new();
        for (variable, size) in variables {
            scratch.push_str(&format!(
                "__device__ {kind} {name}_{variable}[{BLOCKS}]{size};\n"
            ));
            local.push_str(&format!(
                "{kind} (&{variable}){size} = {name}_{variable}[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * \
                 blockIdx.z)];\n"
            ));
        }
        edits.push((node.byte_range(), local.trim_end().to_owned()));
    }
    if edits.is_empty() {
        return None;
    }
    let mut begin = function.start_byte();
    // `extern "C"` belongs to the function.
    if let Some(parent) = function
        .parent()
        .filter(|parent| parent.kind() == "linkage_specification")
    {
        begin = parent.start_byte();
    }
    edits.push((begin..begin, scratch + "\n"));
    Some(edits)
}

fn is_shared(parsed: &Parsed<'_>, declaration: Node<'_>) -> bool {
    let end = declaration
        .child_by_field_name("declarator")
        .map_or(declaration.end_byte(), |declarator| declarator.start_byte());
    let qualifiers = parsed.text.get(declaration.start_byte()..end).unwrap_or("");
    qualifiers.contains("__shared__")
}

/// The type of a declaration, and its variables with their sizes in brackets. `None` if it is
/// `extern`, or more than arrays and single values.
fn variables<'a>(parsed: &Parsed<'a>, node: Node<'_>) -> Option<(String, Vec<(&'a str, String)>)> {
    let kind = node.child_by_field_name("type")?;
    let before = parsed.text.get(node.start_byte()..kind.start_byte())?;
    let is_volatile = before.contains("volatile");
    if before.contains("extern") || parsed.text_of(node).contains("__align__") {
        return None;
    }
    let mut cursor = node.walk();
    let mut found = Vec::new();
    for declarator in node.children_by_field_name("declarator", &mut cursor) {
        let mut sizes = Vec::new();
        let mut at = declarator;
        while at.kind() == "array_declarator" {
            let size = at.child_by_field_name("size")?;
            sizes.push(format!("[{}]", parsed.text_of(size)));
            at = at.child_by_field_name("declarator")?;
        }
        if at.kind() != "identifier" {
            return None;
        }
        sizes.reverse();
        found.push((parsed.text_of(at), sizes.concat()));
    }
    let kind = parsed.text_of(kind);
    let kind = if is_volatile {
        format!("volatile {kind}")
    } else {
        kind.to_owned()
    };
    (!found.is_empty()).then_some((kind, found))
}

fn function_name<'a>(parsed: &Parsed<'a>, function: Node<'_>) -> Option<&'a str> {
    let mut at = function.child_by_field_name("declarator")?;
    while at.kind() != "identifier" {
        at = at
            .child_by_field_name("declarator")
            .or_else(|| at.named_child(0))?;
    }
    Some(parsed.text_of(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_a_block_become_its_part_of_a_global_array() {
        let text = "__global__ void k(float *a) {\n  __shared__ float s[N][2], t[4];\n  __shared__ int n;\n  \
            s[0][0] = a[0];\n}\n";
        let slow = unstaged(text).expect("there are three");
        assert!(
            slow.starts_with(
                "__device__ float k_s[65536][N][2];\n__device__ float k_t[65536][4];\n__device__ int k_n[65536];\n\n\
                 __global__ void k(float *a) {\n  float (&s)[N][2] = k_s[blockIdx.x + "
            ),
            "{slow}"
        );
        assert!(slow.contains("int (&n) = k_n["), "{slow}");
        assert!(!slow.contains("__shared__"), "{slow}");
    }

    #[test]
    fn what_has_no_fixed_size_stays() {
        assert_eq!(
            unstaged("__global__ void k() { extern __shared__ float s[]; }"),
            None
        );
        assert_eq!(
            unstaged("template <int N> __global__ void k() { __shared__ float s[N]; }"),
            None
        );
        let mixed = "__global__ void k() { extern __shared__ float s[]; __shared__ int t[2]; }";
        assert_eq!(unstaged(mixed), None);
    }
}
