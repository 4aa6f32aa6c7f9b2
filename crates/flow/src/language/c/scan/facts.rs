//! What single names, pragmas, attributes and inline assembly say of a source.

use crate::language::c::lex::{Directive, Token, TokenKind};
use crate::technique::{Scan, Technique};

/// An attribute's or an assembly's parentheses are short; looking further would cost quadratic
/// time.
const REACH: usize = 4096;

pub(super) fn is_attribute(name: &str) -> bool {
    matches!(name, "__attribute__" | "__attribute" | "__declspec")
}

pub(super) fn is_asm(name: &str) -> bool {
    matches!(name, "asm" | "__asm" | "__asm__")
}

/// Names of the implementation that are its keywords, types and functions, never a header's macro
/// with a surprise in it.
const PLAIN_RESERVED: [&str; 52] = [
    "_Alignas",
    "_Alignof",
    "_Atomic",
    "_Bool",
    "_Complex",
    "_Exit",
    "_Float128",
    "_Float16",
    "_Float32",
    "_Float64",
    "_Generic",
    "_Imaginary",
    "_Noreturn",
    "_Pragma",
    "_Static_assert",
    "_Thread_local",
    "__COUNTER__",
    "__DATE__",
    "__FILE__",
    "__FUNCTION__",
    "__LINE__",
    "__PRETTY_FUNCTION__",
    "__TIME__",
    "__VA_ARGS__",
    "__VA_OPT__",
    "__alignof",
    "__alignof__",
    "__asm",
    "__asm__",
    "__attribute",
    "__attribute__",
    "__auto_type",
    "__bf16",
    "__const",
    "__declspec",
    "__extension__",
    "__float128",
    "__func__",
    "__imag__",
    "__inline",
    "__inline__",
    "__int128",
    "__label__",
    "__real__",
    "__restrict",
    "__restrict__",
    "__signed__",
    "__thread",
    "__typeof",
    "__typeof__",
    "__volatile",
    "__volatile__",
];

/// Whether a name is the implementation's and may be a macro of some header:
/// `__CONCAT` joins words, and `__glibc_macro_warning1` makes a pragma of them.
pub(super) fn may_be_a_headers_macro(name: &str) -> bool {
    let reserved = name.starts_with("__")
        || name
            .strip_prefix('_')
            .is_some_and(|rest| rest.starts_with(char::is_uppercase));
    let known = ["__builtin_", "__atomic_", "__sync_", "_MM_"]
        .iter()
        .any(|start| name.starts_with(start));
    reserved
        && !known
        && !is_vector(name)
        && !is_attribute_name(name)
        && !PLAIN_RESERVED.contains(&name)
}

/// `__aligned__` and its like, as attributes spell their names.
fn is_attribute_name(name: &str) -> bool {
    let inner = name
        .strip_prefix("__")
        .and_then(|rest| rest.strip_suffix("__"))
        .unwrap_or("");
    matches!(
        inner,
        "aligned"
            | "always_inline"
            | "noinline"
            | "hot"
            | "const"
            | "pure"
            | "unused"
            | "packed"
            | "may_alias"
            | "flatten"
    )
}

/// Notes what `tokens` use. `is_macro` names what the preprocessor would replace.
pub(super) fn of_tokens(tokens: &[Token<'_>], is_macro: impl Fn(&str) -> bool, scan: &mut Scan) {
    // Groups inside a group were read with it.
    let mut read_to = 0;
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != TokenKind::Ident {
            continue;
        }
        of_name(token, scan);
        if let Some(attribute) = scoped_attribute(tokens, at) {
            of_attribute(attribute, &tokens[at + 2..], scan);
        }
        if token.is_ident("omp") && tokens.get(at + 1).is_some_and(|next| next.is_punct("::")) {
            of_openmp_attribute(&tokens[at + 2..], scan);
        }
        if at < read_to {
            continue;
        }
        if is_attribute(&token.text) {
            let group = group(&tokens[at + 1..]);
            read_to = at + group.len();
            for (index, inner) in group.iter().enumerate() {
                of_attribute(inner, &group[index..], scan);
                scan.needs_preprocessing |= is_macro(&inner.text);
            }
        } else if is_asm(&token.text) {
            let qualifiers = tokens[at + 1..]
                .iter()
                .take(4)
                .take_while(|next| next.kind == TokenKind::Ident)
                .count();
            let group = group(&tokens[at + 1 + qualifiers..]);
            read_to = at + group.len();
            of_asm(token, group, &is_macro, scan);
        }
    }
}

/// The tokens of the parentheses that open at `tokens[0]`, without them.
fn group<'t, 'a>(tokens: &'t [Token<'a>]) -> &'t [Token<'a>] {
    let mut depth = 0i32;
    for (at, token) in tokens.iter().take(REACH).enumerate() {
        depth += i32::from(token.is_punct("(")) - i32::from(token.is_punct(")"));
        if depth <= 0 {
            return tokens.get(1..at).unwrap_or(&[]);
        }
    }
    // Not closed: what is there counts all the same.
    tokens.get(1..REACH.min(tokens.len())).unwrap_or(&[])
}

/// `optimize` of `[[gnu::optimize("O3")]]`.
fn scoped_attribute<'t, 'a>(tokens: &'t [Token<'a>], at: usize) -> Option<&'t Token<'a>> {
    let vendor = matches!(
        tokens[at].text.as_ref(),
        "gnu" | "__gnu__" | "clang" | "_Clang"
    );
    (vendor && tokens.get(at + 1)?.is_punct("::")).then(|| tokens.get(at + 2))?
}

/// `directive(parallel for)` of `[[omp::directive(parallel for)]]`, which newer compilers take for
/// the pragma.
fn of_openmp_attribute(tokens: &[Token<'_>], scan: &mut Scan) {
    let Some(name) = tokens.first() else { return };
    let words: Vec<&str> = group(&tokens[1..])
        .iter()
        .map(|token| token.text.as_ref())
        .collect();
    if name.is_ident("sequence") {
        // Directives within it; whatever they are, there are several.
        of_openmp(name.line, &["sequence"], scan);
    }
    of_openmp(name.line, &words, scan);
}

/// Notes what the words of an OpenMP directive ask for.
fn of_openmp(line: u32, words: &[&str], scan: &mut Scan) {
    // The directive's own words end where its first clause takes an argument.
    let names: Vec<&str> = words
        .iter()
        .copied()
        .take_while(|word| *word != "(")
        .collect();
    let text = format!("#pragma omp {}", names.join(" "))
        .trim_end()
        .to_owned();
    if names.contains(&"simd") {
        scan.note(Technique::Simd, line, text.clone());
    }
    if !matches!(names.as_slice(), ["simd", ..] | ["declare", "simd", ..]) {
        scan.note(Technique::Openmp, line, text);
    }
}

fn of_name(token: &Token<'_>, scan: &mut Scan) {
    let name = token.text.as_ref();
    let mut note = |technique| scan.note(technique, token.line, name);
    if is_prefetch(name) {
        note(Technique::Prefetch);
    }
    if is_vector(name) {
        note(Technique::Simd);
    }
    if is_openmp(name) {
        note(Technique::Openmp);
    }
    if matches!(name, "pthread_create" | "thrd_create") {
        note(Technique::Threads);
    }
}

fn is_prefetch(name: &str) -> bool {
    (name.starts_with('_') && name.contains("prefetch"))
        || name.starts_with("_MM_HINT_")
        || name.starts_with("svprf")
        || name.starts_with("__pld")
}

/// Intrinsics that are named like vector code and are none.
const SCALAR_INTRINSICS: [&str; 15] = [
    "_mm_prefetch",
    "_mm_malloc",
    "_mm_free",
    "_mm_pause",
    "_mm_sfence",
    "_mm_lfence",
    "_mm_mfence",
    "_mm_getcsr",
    "_mm_setcsr",
    "_mm_clflush",
    "_mm_clflushopt",
    "_mm_clwb",
    "_mm_popcnt_u32",
    "_mm_popcnt_u64",
    "_mm_monitor",
];

/// Beginnings of other vector names. The matrix unit's tiles are vectors of vectors, `_m_paddd` is
/// of the first vectors that there were, and the C library has types of its own for who watches its
/// loader: `La_x86_64_zmm`.
const VECTOR_STARTS: [&str; 9] = [
    "_MM_SHUFFLE",
    "_MM_TRANSPOSE",
    "_tile_",
    "__tile",
    "_m_p",
    "_m_from_int",
    "La_x86_64_",
    "La_x32_",
    "La_aarch64_",
];

fn is_vector(name: &str) -> bool {
    if let Some(rest) = name.strip_prefix("_mm") {
        let width = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        return width.starts_with('_') && !SCALAR_INTRINSICS.contains(&name);
    }
    if let Some(rest) = name.strip_prefix("__m") {
        return ["64", "128", "256", "512", "mask"]
            .iter()
            .any(|width| rest.starts_with(width));
    }
    if let Some(builtin) = name.strip_prefix("__builtin_") {
        // The machine's prefetch builtins are told apart by `is_prefetch`.
        return (builtin.starts_with("ia32_") && !builtin.contains("prefetch"))
            || [
                "shuffle",
                "convertvector",
                "neon_",
                "sve_",
                "assoc_barrier_v",
            ]
            .iter()
            .any(|start| builtin.starts_with(start));
    }
    if let Some(rest) = name.strip_prefix("__v") {
        // `__v8df` and its like, and `__v8hi_u`: the vector types behind the headers' own.
        let rest = rest.trim_end_matches("_u");
        let letters = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        return (letters.len() < rest.len() && (2..=3).contains(&letters.len()))
            || is_vector_attribute(name);
    }
    let starts = VECTOR_STARTS.iter().any(|start| name.starts_with(start)) && !is_prefetch(name);
    starts || is_arm_vector(name) || is_vector_attribute(name)
}

/// `float64x2_t`, `svfloat64_t`, `vfmaq_f64`, `svld1_f64`.
fn is_arm_vector(name: &str) -> bool {
    let lanes = ["float", "int", "uint", "poly", "bfloat"]
        .iter()
        .find_map(|start| name.strip_prefix(start));
    if let Some(rest) = lanes.and_then(|rest| rest.strip_suffix("_t")) {
        return rest.split('x').count() >= 2
            && rest
                .split('x')
                .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    }
    let typed = [
        "_f16", "_f32", "_f64", "_s8", "_s16", "_s32", "_s64", "_u8", "_u16", "_u32", "_u64",
    ];
    let Some(stem) = typed.iter().find_map(|end| name.strip_suffix(end)) else {
        return name.starts_with("svfloat") || name == "svbool_t";
    };
    let family = [
        "vld", "vst", "vadd", "vsub", "vmul", "vmla", "vfma", "vdup", "vget", "vpadd", "svld",
        "svst", "svml", "svdup", "svadd", "svmul",
    ];
    family.iter().any(|start| stem.starts_with(start))
}

/// Long names that mean one thing wherever they stand.
fn is_vector_attribute(name: &str) -> bool {
    matches!(
        name.trim_matches('_'),
        "vector_size" | "ext_vector_type" | "neon_vector_type" | "arm_sve_vector_bits"
    )
}

fn is_openmp(name: &str) -> bool {
    const RUNTIME: [&str; 17] = [
        "get_",
        "set_",
        "in_",
        "init_",
        "destroy_",
        "unset_",
        "test_",
        "target_",
        "alloc",
        "calloc",
        "realloc",
        "free",
        "pause_",
        "lock_t",
        "nest_lock_t",
        "sched_t",
        "fulfill_",
    ];
    let runtime = name
        .strip_prefix("omp_")
        .is_some_and(|rest| RUNTIME.iter().any(|start| rest.starts_with(start)));
    runtime
        || ["GOMP_", "__builtin_GOMP_", "__kmpc_", "__builtin_omp_"]
            .iter()
            .any(|start| name.starts_with(start))
}

fn of_attribute(name: &Token<'_>, rest: &[Token<'_>], scan: &mut Scan) {
    if name.kind != TokenKind::Ident {
        return;
    }
    match name.text.trim_matches('_') {
        "optimize" | "target" | "target_clones" | "target_version" | "optnone" | "minsize" => {
            scan.note(Technique::OptimizePragma, name.line, name.text.as_ref());
        }
        "simd" => scan.note(Technique::Simd, name.line, name.text.as_ref()),
        "mode" => {
            // `mode(V4DF)` makes a vector of a scalar type.
            let mode = rest
                .get(2)
                .map(|mode| mode.text.trim_matches('_'))
                .filter(|mode| mode.starts_with('V'));
            if let Some(mode) = mode {
                scan.note(Technique::Simd, name.line, format!("mode({mode})"));
            }
        }
        _ => {}
    }
}

fn of_asm(
    keyword: &Token<'_>,
    group: &[Token<'_>],
    is_macro: impl Fn(&str) -> bool,
    scan: &mut Scan,
) {
    scan.note(Technique::InlineAsm, keyword.line, keyword.text.as_ref());
    let mut text = String::new();
    let mut in_template = true;
    for token in group {
        in_template &= !token.is_punct(":") && !token.is_punct("::");
        if token.kind == TokenKind::Str {
            text.push_str(&token.text);
        } else {
            // Only neighbours join into one literal.
            text.push(' ');
            scan.needs_preprocessing |=
                (in_template && token.kind == TokenKind::Ident) || is_macro(&token.text);
        }
    }
    let text = text.to_ascii_lowercase();
    let mut before = ' ';
    for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        let name = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        // `%[name]` is an operand's own name.
        let operand =
            std::mem::replace(&mut before, word.chars().next_back().unwrap_or(' ')) == '[';
        if name.starts_with("prefetch") {
            scan.note(Technique::Prefetch, keyword.line, format!("asm {name}"));
        }
        if !operand && is_vector_assembly(name) {
            scan.note(Technique::Simd, keyword.line, format!("asm {name}"));
        }
    }
}

/// Beginnings of mnemonics of vectors of whole numbers and of the matrix unit, and short ones of
/// other vectors: long enough to be no label's, and `pext` is none of them.
const OTHER_VECTORS: [&str; 42] = [
    "movdq",
    "movntdq",
    "lddqu",
    "pabs",
    "packss",
    "packus",
    "paddb",
    "paddw",
    "paddd",
    "paddq",
    "padds",
    "paddus",
    "palignr",
    "pand",
    "pavg",
    "pblend",
    "pcmp",
    "pextr",
    "phadd",
    "phsub",
    "pinsr",
    "pmadd",
    "pmax",
    "pmin",
    "pmov",
    "pmul",
    "psadbw",
    "pshuf",
    "psign",
    "psll",
    "psra",
    "psrl",
    "psub",
    "punpck",
    "pxor",
    "tdp",
    "tilezero",
    "tileload",
    "tilestore",
    "tilerelease",
    "ldtilecfg",
    "sttilecfg",
];
const SHORT_VECTORS: [&str; 5] = ["por", "orps", "orpd", "dpps", "dppd"];

fn is_vector_assembly(word: &str) -> bool {
    const AVX: [&str; 34] = [
        "vadd",
        "vaes",
        "valign",
        "vand",
        "vblend",
        "vbroadcast",
        "vcmp",
        "vcom",
        "vcvt",
        "vdiv",
        "vdp",
        "vexp",
        "vextract",
        "vf",
        "vgather",
        "vhadd",
        "vhsub",
        "vinsert",
        "vld",
        "vmask",
        "vmax",
        "vmin",
        "vmov",
        "vmul",
        "vor",
        "vperm",
        "vp",
        "vr",
        "vscatter",
        "vshuf",
        "vsqrt",
        "vsub",
        "vunpck",
        "vxor",
    ];
    let register = ["xmm", "ymm", "zmm", "tmm", "mm"]
        .iter()
        .find_map(|start| word.strip_prefix(start));
    if register.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        && word != "mm"
    {
        return true;
    }
    let avx = word.len() >= 5 && AVX.iter().any(|start| word.starts_with(start));
    let packed = word.len() >= 5 && (word.ends_with("pd") || word.ends_with("ps"));
    avx || packed
        || SHORT_VECTORS.contains(&word)
        || OTHER_VECTORS.iter().any(|start| word.starts_with(start))
}

/// Notes what a pragma asks for, and what its words use: a clause is an expression and may hold
/// statements.
pub(super) fn of_pragma(pragma: &Directive<'_>, scan: &mut Scan) {
    of_tokens(&pragma.body, |_| false, scan);
    let words: Vec<&str> = pragma
        .body
        .iter()
        .take(32)
        .map(|token| token.text.as_ref())
        .collect();
    match words.as_slice() {
        ["omp", rest @ ..] => of_openmp(pragma.line, rest, scan),
        ["GCC", "optimize" | "target", ..] | ["clang", "optimize", ..] => {
            scan.note(
                Technique::OptimizePragma,
                pragma.line,
                format!("#pragma {} {}", words[0], words[1]),
            );
        }
        _ => {}
    }
}
