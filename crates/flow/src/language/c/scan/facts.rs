//! Techniques that single names, pragmas, attributes and inline assembly reveal.

use crate::language::c::lex::{Directive, Token, TokenKind};
use crate::language::c::scan::mnemonics::is_vector_assembly;
use crate::language::c::scan::words::{is_of_first_vectors, is_of_masks, is_of_openmp};
use crate::language::c::template::{without_comments, written};
use crate::technique::{Scan, Technique};

/// A directive's own words come first. Looking further in each of many would cost quadratic time.
const REACH: usize = 4096;
/// Attributes of OpenMP that are read in one text. One with more has, for all that is known,
/// everything.
const OPENMP_ATTRIBUTES: usize = 1000;

fn is_attribute(name: &str) -> bool {
    matches!(name, "__attribute__" | "__attribute" | "__declspec")
}

/// Whether a word begins inline assembly.
pub fn is_asm(name: &str) -> bool {
    matches!(name, "asm" | "__asm" | "__asm__")
}

/// Records the techniques of `tokens`.
pub(super) fn of_tokens(tokens: &[Token<'_>], scan: &mut Scan) {
    // Groups inside a group were read with it.
    let mut read_to = 0;
    let mut openmp_attributes = 0;
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != TokenKind::Ident {
            continue;
        }
        of_name(token, &token.text, scan);
        if token.is_ident("omp") && tokens.get(at + 1).is_some_and(|next| next.is_punct("::")) {
            openmp_attributes += 1;
            if openmp_attributes <= OPENMP_ATTRIBUTES {
                of_openmp_attribute(&tokens[at + 2..], scan);
            } else {
                scan.note(Technique::Openmp, token.line, "omp::");
                scan.note(Technique::Simd, token.line, "omp::");
            }
        }
        if at >= read_to && is_asm(&token.text) {
            let qualifiers = tokens[at + 1..]
                .iter()
                .take(4)
                .take_while(|next| next.kind == TokenKind::Ident)
                .count();
            let group = group(&tokens[at + 1 + qualifiers..]);
            read_to = at + group.len();
            of_asm(token, group, scan);
        }
    }
    for group in attributes(tokens) {
        let deepest = deepest_name(group);
        let mut depth = 0usize;
        for (index, inner) in group.iter().enumerate() {
            depth += usize::from(inner.is_punct("(") || inner.is_punct("["));
            depth = depth.saturating_sub(usize::from(inner.is_punct(")") || inner.is_punct("]")));
            if inner.kind == TokenKind::Ident && depth <= deepest {
                of_attribute(inner, &group[index..], scan);
            }
        }
        // `alias("...")` and its like name functions.
        for (first, name) in literals(group) {
            of_name(first, &name, scan);
        }
    }
}

/// How deep in the parentheses of an attribute its names stand: deeper words are arguments, such
/// as a function `target` in `cleanup(target)`. Those of an attribute within it stand anywhere.
fn deepest_name(group: &[Token<'_>]) -> usize {
    let opens = |pair: &[Token<'_>]| pair.iter().all(|token| token.is_punct("["));
    let behind_first = group.get(1..).unwrap_or_default();
    let holds_another =
        group.iter().any(|token| is_attribute(&token.text)) || behind_first.windows(2).any(opens);
    if holds_another { usize::MAX } else { 1 }
}

/// The string literals of some tokens as a compiler reads them: neighbours are one. Each comes with
/// its first token.
pub fn literals<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<(&'t Token<'a>, String)> {
    let mut found: Vec<(&Token<'_>, String)> = Vec::new();
    let mut goes_on = false;
    for token in tokens {
        let is_literal = token.kind == TokenKind::Str;
        match found.last_mut() {
            Some((_, text)) if is_literal && goes_on => text.push_str(&token.text),
            _ if is_literal => found.push((token, token.text.to_string())),
            _ => {}
        }
        goes_on = is_literal;
    }
    found
}

/// What stands in the attributes of a text: between the parentheses of `__attribute__((...))`, and
/// between the brackets of `[[...]]`. One within another comes with it.
pub fn attributes<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let mut found = Vec::new();
    let mut read_to = 0;
    for (at, token) in tokens.iter().enumerate() {
        if at < read_to {
            continue;
        }
        let inside = if token.kind == TokenKind::Ident && is_attribute(&token.text) {
            group(&tokens[at + 1..])
        } else if token.is_punct("[") && tokens.get(at + 1).is_some_and(|next| next.is_punct("[")) {
            group(&tokens[at..])
        } else {
            continue;
        };
        read_to = at + inside.len();
        found.push(inside);
    }
    found
}

/// The tokens of the parentheses or brackets that open at `tokens[0]`, without them.
fn group<'t, 'a>(tokens: &'t [Token<'a>]) -> &'t [Token<'a>] {
    let opens = |token: &Token<'_>| token.is_punct("(") || token.is_punct("[");
    let closes = |token: &Token<'_>| token.is_punct(")") || token.is_punct("]");
    let mut depth = 0i32;
    for (at, token) in tokens.iter().enumerate() {
        depth += i32::from(opens(token)) - i32::from(closes(token));
        if depth <= 0 {
            return tokens.get(1..at).unwrap_or(&[]);
        }
    }
    // Not closed, but its tokens count all the same.
    tokens.get(1..).unwrap_or(&[])
}

/// `directive(parallel for)` of `[[omp::directive(parallel for)]]`, which newer compilers treat
/// like the pragma.
fn of_openmp_attribute(tokens: &[Token<'_>], scan: &mut Scan) {
    let Some(name) = tokens.first() else { return };
    let near = &tokens[1..tokens.len().min(REACH)];
    let words: Vec<&str> = group(near)
        .iter()
        .map(|token| token.text.as_ref())
        .collect();
    if name.is_ident("sequence") {
        // It contains several directives.
        of_openmp(name.line, &["sequence"], scan);
    }
    of_openmp(name.line, &words, scan);
}

/// Records the techniques of an OpenMP directive.
fn of_openmp(line: u32, words: &[&str], scan: &mut Scan) {
    // The directive's own words end where its first clause takes an argument.
    let names: Vec<&str> = words
        .iter()
        .copied()
        .take_while(|word| *word != "(")
        .collect();
    let text = format!("#pragma omp {}", names[..names.len().min(8)].join(" "))
        .trim_end()
        .to_owned();
    // A `loop` that stays in its thread is compiled as `simd`, and other directives name theirs
    // within a clause.
    let within = matches!(
        names.as_slice(),
        ["metadirective" | "begin" | "declare", ..]
    ) && words.contains(&"simd");
    if names.contains(&"simd") || names.contains(&"loop") || within {
        scan.note(Technique::Simd, line, text.clone());
    }
    if !matches!(names.as_slice(), ["simd", ..] | ["declare", "simd", ..]) {
        scan.note(Technique::Openmp, line, text);
    }
}

fn of_name(token: &Token<'_>, name: &str, scan: &mut Scan) {
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
        || ["__builtin_ia32_gatherpf", "__builtin_ia32_scatterpf"]
            .iter()
            .any(|start| name.starts_with(start))
}

/// Intrinsics that are named like vector code but are scalar. Two of them store one number past the
/// caches, and fetch nothing.
const SCALAR_INTRINSICS: [&str; 23] = [
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
    "_mm_tzcnt_32",
    "_mm_tzcnt_64",
    "_mm_crc32_u8",
    "_mm_crc32_u16",
    "_mm_crc32_u32",
    "_mm_crc32_u64",
    "_mm_monitor",
    "_mm_stream_si32",
    "_mm_stream_si64",
];

/// Beginnings of the machine's builtins on plain registers, behind `__builtin_ia32_`.
const SCALAR_BUILTINS: [&str; 14] = [
    "pause",
    "lfence",
    "mfence",
    "sfence",
    "lzcnt_u",
    "tzcnt_u",
    "crc32",
    "addcarryx_u",
    "subborrow_u",
    "bextr_u",
    "bzhi_",
    "pdep_",
    "pext_",
    "movnti",
];

/// Beginnings of other vector names. The matrix unit's tiles are vectors of vectors, and every
/// compiler has more functions on them. The C library has types of its own for who watches its
/// loader: `La_x86_64_zmm`. `_ZGVbN2v_exp` is a function of its vector mathematics.
const VECTOR_STARTS: [&str; 7] = [
    "_tile_",
    "_tile1024i",
    "__tile",
    "_ZGV",
    "La_x86_64_",
    "La_x32_",
    "La_aarch64_",
];

/// Other vector names. `_xrstor64` fills all vector registers.
const VECTOR_NAMES: [&str; 20] = [
    "_MM_SHUFFLE",
    "_MM_SHUFFLE2",
    "_MM_TRANSPOSE4_PS",
    "_movdir64b",
    "_xsave",
    "_xsave64",
    "_xsavec",
    "_xsavec64",
    "_xsaveopt",
    "_xsaveopt64",
    "_xsaves",
    "_xsaves64",
    "_xrstor",
    "_xrstor64",
    "_xrstors",
    "_xrstors64",
    "_fxsave",
    "_fxsave64",
    "_fxrstor",
    "_fxrstor64",
];

fn is_vector(name: &str) -> bool {
    if let Some(rest) = name.strip_prefix("_mm") {
        let width = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        return width.starts_with('_') && !SCALAR_INTRINSICS.contains(&name);
    }
    if let Some(rest) = name.strip_prefix("__m") {
        return rest.starts_with(|width: char| width.is_ascii_digit()) || rest.starts_with("mask");
    }
    if let Some(builtin) = name.strip_prefix("__builtin_") {
        // The machine's prefetch builtins are told apart by `is_prefetch`.
        // `__builtin_apply` hands over all registers that arguments come in.
        let machine = builtin.strip_prefix("ia32_");
        let is_scalar = |rest: &str| SCALAR_BUILTINS.iter().any(|start| rest.starts_with(start));
        return machine.is_some_and(|rest| !is_scalar(rest) && !is_prefetch(name))
            || matches!(builtin, "apply" | "apply_args" | "return")
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
        // `__v8df`, `__v8hi_u`, `__v8df_aligned`: the types behind the headers' own vector types.
        let ends = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let letters = ends.split('_').next().unwrap_or_default();
        return ends.len() < rest.len() && (2..=3).contains(&letters.len());
    }
    VECTOR_STARTS.iter().any(|start| name.starts_with(start))
        || VECTOR_NAMES.contains(&name)
        || is_of_first_vectors(name)
        || is_of_masks(name)
}

/// Whether a header's line makes a type of vectors, and no name in it tells: `double8` of a header
/// that is for another language.
pub fn hides_vectors(line: &str) -> bool {
    let mut words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let makes = |word: &str| matches!(word.trim_matches('_'), "vector_size" | "ext_vector_type");
    words.clone().any(makes) && !words.any(is_vector)
}

fn is_openmp(name: &str) -> bool {
    is_of_openmp(name)
        || ["GOMP_", "__builtin_GOMP_", "__kmpc_", "__builtin_omp_"]
            .iter()
            .any(|start| name.starts_with(start))
}

/// Machine modes of single numbers. All others are vectors, `V4DF`, or as wide as one.
const SCALAR_MODES: [&str; 24] = [
    "byte",
    "word",
    "pointer",
    "unwind_word",
    "libgcc_cmp_return",
    "libgcc_shift_count",
    "QI",
    "HI",
    "SI",
    "DI",
    "TI",
    "HF",
    "BF",
    "SF",
    "DF",
    "XF",
    "TF",
    "SC",
    "DC",
    "XC",
    "TC",
    "SD",
    "DD",
    "TD",
];

fn of_attribute(name: &Token<'_>, rest: &[Token<'_>], scan: &mut Scan) {
    match name.text.trim_matches('_') {
        "optimize" | "target" | "target_clones" | "target_version" | "optnone" | "minsize" => {
            scan.note(Technique::OptimizePragma, name.line, name.text.as_ref());
        }
        "simd"
        | "vector_size"
        | "ext_vector_type"
        | "neon_vector_type"
        | "neon_polyvector_type"
        | "arm_sve_vector_bits"
        | "matrix_type" => scan.note(Technique::Simd, name.line, name.text.as_ref()),
        "mode" => {
            // `mode(V4DF)` makes a vector of a scalar type.
            let mode = rest
                .get(2)
                .map(|mode| mode.text.trim_matches('_'))
                .filter(|mode| !SCALAR_MODES.contains(mode));
            if let Some(mode) = mode {
                scan.note(Technique::Simd, name.line, format!("mode({mode})"));
            }
        }
        _ => {}
    }
}

fn of_asm(keyword: &Token<'_>, group: &[Token<'_>], scan: &mut Scan) {
    scan.note(Technique::InlineAsm, keyword.line, keyword.text.as_ref());
    let mut text = String::new();
    // Only neighbours join into one literal.
    for (_, literal) in literals(group) {
        // Alternatives may cut a word in pieces. Where comments cannot be told, all of it counts.
        let plain = |text: String| without_comments(&text).unwrap_or(text);
        let written = plain(written(&literal).unwrap_or_default());
        for part in [plain(literal), written] {
            text.push_str(&part.to_ascii_lowercase());
            text.push(' ');
        }
    }
    let mut before = ' ';
    for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        let name = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        // `%[name]` is an operand's own name.
        let operand =
            std::mem::replace(&mut before, word.chars().next_back().unwrap_or(' ')) == '[';
        if name.starts_with("prefetch") || name.contains("gatherpf") || name.contains("scatterpf") {
            scan.note(Technique::Prefetch, keyword.line, format!("asm {name}"));
        }
        if !operand && is_vector_assembly(name) {
            scan.note(Technique::Simd, keyword.line, format!("asm {name}"));
        }
    }
}

/// Words of `#pragma clang loop` that vectorise nothing.
const LOOP_WORDS: [&str; 6] = [
    "unroll",
    "unroll_count",
    "distribute",
    "enable",
    "disable",
    "full",
];
/// Words of `#pragma clang fp` that keep results as they are, but for fused multiplications.
const FLOAT_WORDS: [&str; 8] = [
    "contract",
    "exceptions",
    "fast",
    "on",
    "off",
    "ignore",
    "maytrap",
    "strict",
];

/// Records the techniques of a pragma and of its words. A clause is an expression and may contain
/// statements.
pub(super) fn of_pragma(pragma: &Directive<'_>, scan: &mut Scan) {
    of_tokens(&pragma.body, scan);
    let words: Vec<&str> = pragma
        .body
        .iter()
        .map(|token| token.text.as_ref())
        .collect();
    let has_beyond = |rest: &[&str], known: &[&str]| {
        let is_word = |word: &&&str| word.starts_with(|c: char| c.is_alphabetic() || c == '_');
        rest.iter()
            .filter(is_word)
            .any(|word| !known.contains(word))
    };
    // `vectorize(enable)` and `interleave(enable)` vectorise where the level would not.
    if let ["clang", "loop", rest @ ..] = words.as_slice()
        && has_beyond(rest, &LOOP_WORDS)
    {
        scan.note(Technique::Simd, pragma.line, "#pragma clang loop");
    }
    let changes = match words.as_slice() {
        ["omp", rest @ ..] => return of_openmp(pragma.line, rest, scan),
        ["GCC", "optimize" | "target", ..] | ["clang", "optimize", ..] | ["float_control", ..] => {
            true
        }
        // Reordered sums and reciprocals are effects of `-ffast-math`.
        ["clang", "fp", rest @ ..] => has_beyond(rest, &FLOAT_WORDS),
        _ => false,
    };
    if changes {
        let text = format!("#pragma {}", words[..words.len().min(2)].join(" "));
        scan.note(Technique::OptimizePragma, pragma.line, text);
    }
}
