//! Steps that change single places: pragmas, qualifiers, intrinsics, constants and textures.

use tree_sitter::Node;

use super::edit::{Edit, Parsed, below, edited};
use crate::pairs::words::{bare, words};

/// How deep calls may be nested.
const NESTED: usize = 16;

/// Without `#pragma unroll`.
pub(super) fn rolled(text: &str) -> Option<String> {
    let is_unroll = |line: &&str| {
        let words: Vec<String> = words(line)
            .iter()
            .map(|word| word.text.to_owned())
            .collect();
        line.trim_start().starts_with('#')
            && matches!(&words[..], [pragma, unroll, ..] if pragma == "pragma" && unroll == "unroll")
    };
    let kept: String = text
        .split_inclusive('\n')
        .filter(|line| !is_unroll(line))
        .collect();
    (kept.len() < text.len()).then_some(kept)
}

/// Without `__restrict__`.
pub(super) fn without_restrict(text: &str) -> Option<String> {
    let bare = bare(text);
    let edits = words(&bare)
        .iter()
        .filter(|word| ["__restrict__", "__restrict"].contains(&word.text))
        .map(|word| {
            let mut end = word.at + word.text.len();
            if text[end..].starts_with(' ') && text[..word.at].ends_with([' ', '*', '(']) {
                end += 1;
            }
            (word.at..end, String::new())
        })
        .collect();
    edited(text, edits)
}

/// Without `__launch_bounds__(...)`.
pub(super) fn without_bounds(text: &str) -> Option<String> {
    let parsed = Parsed::of(text)?;
    let bounds = parsed.nodes().into_iter();
    let edits = bounds
        .filter(|node| node.kind() == "launch_bounds")
        .map(|node| (node.byte_range(), String::new()))
        .collect();
    edited(text, edits)
}

/// Rewrites the innermost calls of certain functions until there are none left. `new` gets a name
/// and its arguments.
fn without_calls(text: &str, new: impl Fn(&str, &[&str]) -> Option<String>) -> Option<String> {
    let mut text = text.to_owned();
    let mut changed = false;
    for _ in 0..NESTED {
        let next = Parsed::of(&text).and_then(|parsed| {
            let mut edits: Vec<Edit> = Vec::new();
            // Children come after their parents, so the last of nested calls is innermost.
            for node in parsed.nodes().into_iter().rev() {
                let Some(new) = call(&parsed, node).and_then(|(name, list)| new(name, &list))
                else {
                    continue;
                };
                let place = node.byte_range();
                if !edits
                    .iter()
                    .any(|(inner, _)| place.start <= inner.start && inner.end <= place.end)
                {
                    edits.push((place, new));
                }
            }
            edited(&text, edits)
        });
        let Some(next) = next else { break };
        (text, changed) = (next, true);
    }
    changed.then_some(text)
}

/// The name and arguments of a call.
fn call<'a>(parsed: &Parsed<'a>, node: Node<'_>) -> Option<(&'a str, Vec<&'a str>)> {
    if node.kind() != "call_expression" {
        return None;
    }
    let name = parsed.text_of(node.child_by_field_name("function")?);
    let arguments = node.child_by_field_name("arguments")?;
    let mut cursor = arguments.walk();
    let list = arguments
        .named_children(&mut cursor)
        .filter(|argument| argument.kind() != "comment")
        .map(|argument| parsed.text_of(argument))
        .collect();
    Some((name, list))
}

/// `__ldg(&a[i])` as `a[i]`.
pub(super) fn without_ldg(text: &str) -> Option<String> {
    without_calls(text, |name, list| match (name, list) {
        ("__ldg", [address]) => Some(match address.strip_prefix('&') {
            Some(place) => format!("({})", place.trim()),
            None => format!("(*({address}))"),
        }),
        _ => None,
    })
}

/// Intrinsics as the operators and functions that they approximate or fix the rounding of.
pub(super) fn without_intrinsics(text: &str) -> Option<String> {
    without_calls(text, |name, list| {
        let renamed = match name {
            "__sinf" => "sinf",
            "__cosf" => "cosf",
            "__tanf" => "tanf",
            "__expf" => "expf",
            "__logf" => "logf",
            "__log2f" => "log2f",
            "__log10f" => "log10f",
            "__powf" => "powf",
            "__fsqrt_rn" => "sqrtf",
            "__fmaf_rn" => "fmaf",
            _ => "",
        };
        if !renamed.is_empty() {
            return Some(format!("{renamed}({})", list.join(", ")));
        }
        let operator = match name {
            "__fmul_rn" | "__dmul_rn" | "__mul24" | "__umul24" => "*",
            "__fadd_rn" | "__dadd_rn" => "+",
            "__fsub_rn" => "-",
            "__fdividef" | "__fdiv_rn" => "/",
            _ => "",
        };
        match (name, list) {
            (_, [a, b]) if !operator.is_empty() => Some(format!("(({a}) {operator} ({b}))")),
            ("__frcp_rn", [a]) => Some(format!("(1.0f / ({a}))")),
            ("rsqrtf" | "__frsqrt_rn", [a]) => Some(format!("(1.0f / sqrtf({a}))")),
            _ => None,
        }
    })
}

/// Tables of constant memory in global memory. The host fills both in the same way.
pub(super) fn without_constants(text: &str) -> Option<String> {
    let bare = bare(text);
    let found = words(&bare);
    let edits = found
        .iter()
        .filter(|word| word.text == "__constant__")
        .map(|word| {
            let line = bare[..word.at].rfind('\n').map_or(0, |at| at + 1);
            let has_device = words(&bare[line..]).iter().any(|other| {
                other.text == "__device__" && !bare[line..line + other.at].contains([';', '\n'])
            });
            let new = if has_device { "" } else { "__device__" };
            (word.at..word.at + word.text.len(), new.to_owned())
        })
        .collect();
    edited(text, edits)
}

/// One-dimensional textures that are read by their index as pointers to global memory, which the
/// host sets instead of binding the texture.
pub(super) fn without_textures(text: &str) -> Option<String> {
    let parsed = Parsed::of(text)?;
    let mut edits: Vec<Edit> = Vec::new();
    for node in parsed.nodes() {
        let Some((name, element)) = texture(&parsed, node) else {
            continue;
        };
        let Some(reads) = reads(&parsed, name) else {
            continue;
        };
        edits.push((
            node.byte_range(),
            format!("__device__ const {element} *{name};"),
        ));
        for (place, index) in reads {
            edits.push((place, format!("{name}[{index}]")));
        }
    }
    edited(text, edits)
}

/// The name and element type of `texture<T, 1, ...> name;`.
fn texture<'a>(parsed: &Parsed<'a>, node: Node<'_>) -> Option<(&'a str, &'a str)> {
    if node.kind() != "declaration" {
        return None;
    }
    let kind = node.child_by_field_name("type")?;
    if kind.kind() != "template_type"
        || parsed.text_of(kind.child_by_field_name("name")?) != "texture"
    {
        return None;
    }
    let arguments = kind.child_by_field_name("arguments")?;
    let mut cursor = arguments.walk();
    let list: Vec<&str> = arguments
        .named_children(&mut cursor)
        .map(|argument| parsed.text_of(argument))
        .collect();
    let flat = matches!(
        list[..],
        [_] | [_, "1"] | [_, "1" | "cudaTextureType1D", "cudaReadModeElementType"]
    );
    let name = node.child_by_field_name("declarator")?;
    (flat && name.kind() == "identifier").then_some((parsed.text_of(name), list[0]))
}

/// The reads of a texture; `None` if it is used in any other way.
fn reads(parsed: &Parsed<'_>, name: &str) -> Option<Vec<(std::ops::Range<usize>, String)>> {
    let nodes = parsed.nodes();
    let uses = nodes
        .iter()
        .filter(|node| node.kind() == "identifier" && parsed.text_of(**node) == name)
        .count();
    let reads: Vec<_> = nodes
        .iter()
        .filter_map(|node| match call(parsed, *node)? {
            ("tex1Dfetch", list) if list.len() == 2 && list[0] == name => {
                // Edits do not nest, so an index that itself reads a texture keeps it.
                let inner = below(node.child_by_field_name("arguments")?);
                let nested = inner
                    .iter()
                    .any(|node| call(parsed, *node).is_some_and(|(name, _)| name == "tex1Dfetch"));
                (!nested).then(|| (node.byte_range(), list[1].to_owned()))
            }
            _ => None,
        })
        .collect();
    (!reads.is_empty() && reads.len() + 1 == uses).then_some(reads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pragmas_and_qualifiers_go_and_nothing_else() {
        assert_eq!(
            rolled("a\n  #pragma unroll 4\nb // unroll\n#pragma once\n").as_deref(),
            Some("a\nb // unroll\n#pragma once\n")
        );
        assert_eq!(
            without_restrict("f(const float *__restrict__ a, int *__restrict b)").as_deref(),
            Some("f(const float *a, int *b)")
        );
        assert_eq!(rolled("a\n"), None);
        assert_eq!(without_restrict("/* __restrict__ */"), None);
    }

    #[test]
    fn nested_calls_are_rewritten_from_the_inside() {
        let text = "void f() { a = __fmul_rn(__fadd_rn(b, c), __ldg(&d[__mul24(i, j)])); }";
        let text = without_intrinsics(text).expect("there are three");
        assert_eq!(
            text,
            "void f() { a = ((((b) + (c))) * (__ldg(&d[((i) * (j))]))); }"
        );
        assert_eq!(
            without_ldg(&text).as_deref(),
            Some("void f() { a = ((((b) + (c))) * ((d[((i) * (j))]))); }")
        );
    }

    #[test]
    fn constants_move_to_global_memory() {
        assert_eq!(
            without_constants("__constant__ float a[3];\n__device__ __constant__ int b;\n")
                .as_deref(),
            Some("__device__ float a[3];\n__device__  int b;\n")
        );
    }

    #[test]
    fn only_textures_that_are_indexed_become_pointers() {
        let text = "texture<float, 1, cudaReadModeElementType> t;\ntexture<float, 2> u;\n\
            __global__ void k(float *a) { a[0] = tex1Dfetch(t, 3 + 1) + tex2D(u, 0, 0); }\n";
        let slow = without_textures(text).expect("one can go");
        assert!(
            slow.starts_with("__device__ const float *t;\ntexture<float, 2> u;\n"),
            "{slow}"
        );
        assert!(slow.contains("a[0] = t[3 + 1] + tex2D(u, 0, 0)"), "{slow}");
        let bound = "texture<float> t;\nvoid f() { g(t); h(tex1Dfetch(t, 1)); }\n";
        assert_eq!(without_textures(bound), None);
    }
}
