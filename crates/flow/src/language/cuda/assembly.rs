//! Where the inline assembly of compiled device code can come from, by its text.
//!
//! NVIDIA's headers hold assembly, too: `__ldg`, `__nanosleep` and conversions of half precision are
//! assembly to the compiler, which often names the line of the caller alone. So the compiler's mark
//! counts only where the text itself can make assembly. For this it needs
//! - one of the keyword's spellings, also in a macro, or
//! - a word put together by `##` that may be the keyword or a header's macro, or
//! - a header's macro that pastes or holds assembly, or
//! - a macro before an include, which a header's own assembly might use.

use std::collections::BTreeSet;

use crate::language::c::is_asm;
use crate::language::c::lex::{self, Dialect, Directive, Item, Token, TokenKind};

/// Where inline assembly can come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assembly {
    /// From headers only.
    OfHeaders,
    /// From the text, too: line information tells.
    ByLine,
}

/// Where the assembly in a device half can come from. The text is spelled as
/// [`lex::respelled`] does.
pub fn assembly(device: &str) -> Assembly {
    let mut has_macro = false;
    let mut own = OwnMacros::default();
    for item in lex::lex_in(device, Dialect::Cuda).items {
        let makes = match &item {
            Item::Token(token) => can_make(token, &own),
            Item::Directive(directive) => {
                let header = directive.header.as_deref().unwrap_or_default();
                let is_include = directive.name == "include" && !EMPTY.contains(&header);
                let makes = (is_include && has_macro) || directive_makes(directive, &own);
                has_macro |= directive.name == "define";
                own.pass(directive);
                makes
            }
        };
        if makes {
            return Assembly::ByLine;
        }
    }
    Assembly::OfHeaders
}

/// Headers without a text of their own for the GPU's compiler.
const EMPTY: [&str; 4] = [
    "cuda.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
];

/// The macros that the text defines itself, where that is certain: behind the definition, in the same
/// branch of conditionals.
#[derive(Default)]
struct OwnMacros {
    names: BTreeSet<String>,
    /// What each open branch defined.
    branches: Vec<Vec<String>>,
}

impl OwnMacros {
    fn pass(&mut self, directive: &Directive<'_>) {
        match directive.name.as_ref() {
            "define" | "undef" => {
                let Some(name) = directive.body.first() else {
                    return;
                };
                if directive.name == "undef" {
                    self.names.remove(name.text.as_ref());
                } else if self.names.insert(name.text.to_string())
                    && let Some(branch) = self.branches.last_mut()
                {
                    branch.push(name.text.to_string());
                }
            }
            "if" | "ifdef" | "ifndef" => self.branches.push(Vec::new()),
            "else" | "elif" | "elifdef" | "elifndef" | "endif" => {
                for name in self.branches.pop().unwrap_or_default() {
                    self.names.remove(&name);
                }
                if directive.name != "endif" {
                    self.branches.push(Vec::new());
                }
            }
            _ => {}
        }
    }
}

/// Whether what a directive says can become assembly. Conditions become nothing.
fn directive_makes(directive: &Directive<'_>, own: &OwnMacros) -> bool {
    match directive.name.as_ref() {
        "if" | "ifdef" | "ifndef" | "elif" | "elifdef" | "elifndef" | "else" | "endif"
        | "undef" => false,
        "define" => definition_makes(&directive.body, own),
        _ => directive.body.iter().any(|token| can_make(token, own)),
    }
}

fn definition_makes(body: &[Token<'_>], own: &OwnMacros) -> bool {
    let Some((name, behind)) = body.split_first() else {
        return false;
    };
    let takes = behind
        .first()
        .is_some_and(|open| open.is_punct("(") && open.offset == name.end);
    let close = behind.iter().position(|token| token.is_punct(")"));
    let (parameters, body) = behind.split_at(close.filter(|_| takes).map_or(0, |close| close + 1));
    (0..body.len()).any(|at| {
        let token = &body[at];
        if token.text == "##" && token.kind != TokenKind::Str {
            return !begins_plainly(&body[..at], parameters);
        }
        can_make(token, own)
    })
}

/// Whether the word that `##` behind these tokens makes begins with a name that stands there, and
/// with which no keyword and no macro of a header begins.
fn begins_plainly(before: &[Token<'_>], parameters: &[Token<'_>]) -> bool {
    let mut first = before.len();
    while first >= 2
        && before
            .get(first - 2)
            .is_some_and(|token| token.text == "##")
    {
        first -= 2;
    }
    let Some(first) = first.checked_sub(1).and_then(|first| before.get(first)) else {
        return false;
    };
    let text = first.text.as_ref();
    first.kind == TokenKind::Ident
        && !text.starts_with('_')
        && !parameters.iter().any(|parameter| parameter.text == text)
        && !"asm".starts_with(text)
        && !LIBRARIES
            .iter()
            .any(|start| start.starts_with(text) || text.starts_with(start))
}

/// Whether a token begins assembly, pastes, or may be a header's macro that does.
fn can_make(token: &Token<'_>, own: &OwnMacros) -> bool {
    let text = token.text.as_ref();
    match token.kind {
        TokenKind::Ident => is_asm(text) || (is_of_header(text) && !own.names.contains(text)),
        TokenKind::Punct | TokenKind::Other => text == "##",
        TokenKind::Number | TokenKind::Str | TokenKind::Char => false,
    }
}

/// How the macros of libraries begin that hold assembly or paste.
const LIBRARIES: [&str; 14] = [
    "CCCL_",
    "CUB_",
    "CUDAX_",
    "CUDART_DEVICE",
    "IF_DEVICE",
    "LIBCUDACXX_",
    "LOAD_ENVREG",
    "MAKE_",
    "MKTYPEDEF",
    "NVTX",
    "NV_",
    "THRUST_",
    "__loc",
    "nvtx",
];

/// Whether a name is one of those that the headers of CUDA and C++ give macros with assembly and
/// with `##`: a reserved one in capitals, or one of a library.
fn is_of_header(name: &str) -> bool {
    // Those of the compiler, which stand for numbers and names.
    const PLAIN: [&str; 27] = [
        "_MSC_VER",
        "_WIN32",
        "_WIN64",
        "__COUNTER__",
        "__CUDACC_RTC__",
        "__CUDACC_VER_MAJOR__",
        "__CUDACC_VER_MINOR__",
        "__CUDACC__",
        "__CUDA_ARCH__",
        "__DATE__",
        "__DBL_EPSILON__",
        "__DBL_MAX__",
        "__DBL_MIN__",
        "__FILE__",
        "__FLT_DENORM_MIN__",
        "__FLT_EPSILON__",
        "__FLT_MAX__",
        "__FLT_MIN__",
        "__FUNCTION__",
        "__INT_MAX__",
        "__LINE__",
        "__LONG_LONG_MAX__",
        "__LONG_MAX__",
        "__NVCC__",
        "__PRETTY_FUNCTION__",
        "__TIME__",
        "__VA_ARGS__",
    ];
    let begins = LIBRARIES.iter().any(|start| name.starts_with(start));
    let is_reserved = name.starts_with('_')
        && name.bytes().any(|byte| byte.is_ascii_uppercase())
        && name != "__VA_OPT__"
        && !PLAIN.contains(&name);
    is_reserved || begins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_the_keyword_and_pasting_makes_no_assembly() {
        for text in [
            "#include <cuda_fp16.h>\n#define TILE 16\n__global__ void k(float *x) { x[0] = __ldg(x + TILE); }",
            "#if __CUDA_ARCH__ >= 900\n#endif\n#pragma unroll\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\n",
            "#define CHECK(x) check((x), #x, __FILE__, __LINE__)\n",
            "const char *text = \"asm ##\"; // asm ##\nint as, m, __as;",
            "#ifndef _RELU_CU_\n#define _RELU_CU_\n#define _BLOCK 256\nint a = _BLOCK;\n#endif\n",
            "#define TILE 16\n#include <cuda_runtime.h>\n",
            "float m = -__FLT_MAX__;\n#define NAME(T, N) relu_##T##_##N\n",
        ] {
            assert_eq!(assembly(text), Assembly::OfHeaders, "{text}");
        }
    }

    #[test]
    fn what_can_make_the_keyword_is_seen() {
        for text in [
            "__global__ void k() { asm(\"\"); }",
            "#define A __asm__\n",
            "#define A \\\n  __asm volatile\n",
            "#define C(a, b) a##b\n",
            "#define C(a, b) a%:%:b\n",
            "__global__ void k() { _NV_CONCAT_EVAL(as, m)(\"\"); }",
            "#define C _CCCL_PP_CAT\n",
            "__global__ void k() { NV_IF_TARGET(as, m); }",
            "#define set fma.rn\n#include <cuda_fp16.hpp>\n",
            "#if 0\n#define _NV_CAT 1\n#endif\n__global__ void k() { _NV_CAT(as, m)(\"\"); }",
            "#ifndef _NV_CAT\n#define _NV_CAT 1\n#else\nint a = _NV_CAT(as, m);\n#endif\n",
            "#define _NV_CAT 1\n#undef _NV_CAT\nint a = _NV_CAT(as, m);\n",
            "#define C(a, b) as##b\n",
            "#define C(a, b) a##_x##b\n",
            "#define P (as, m)\n#define C(x, y) x##y\n#define D(z) C z\n",
            "#define C(x) LOAD_ENV##x\n",
            "#define C(x) LOAD_##x\n",
            "#define C(x) /**/ ## x\n",
        ] {
            let text = lex::respelled(text, Dialect::Cuda).unwrap();
            assert_eq!(assembly(&text), Assembly::ByLine, "{text}");
        }
    }
}
