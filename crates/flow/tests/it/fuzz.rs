//! Properties that hold for any text. `HOTLOOP_FUZZ_CASES` sets the inputs per property.

use hotloop_flow::language::c::{own_text, scan};
use hotloop_flow::{Candidate, Task};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::MATMUL;
use crate::fates::COMPLETIONS;

const ENTRY: &str = "void matmul_optimized(double *A, double *B, double *C, int M, int N, int K)";

/// Pieces that mean something to the lexer, the scan or the extraction.
const PIECES: [&str; 86] = [
    ENTRY,
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    "*",
    "=",
    "<:",
    ":>",
    "<%",
    "%>",
    "%:",
    "%:%:",
    "#",
    "##",
    "\\\n",
    "\\ \n",
    "\n",
    "\r\n",
    " ",
    "\t",
    "//",
    "/*",
    "*/",
    "\"",
    "'",
    "\\",
    "L\"",
    "u8\"x\"",
    "R\"(",
    "'\\''",
    "\"\\x78\\",
    "```c\n",
    "```\n",
    "\n```",
    "~~~\n",
    "````",
    "matmul_optimized",
    "static ",
    "inline ",
    "extern ",
    "extern \"C\" {",
    "typedef ",
    "double ",
    "void ",
    "int ",
    "long ",
    "const ",
    "restrict ",
    "struct s ",
    "N ",
    "f(x) ",
    "#define N 256\n",
    "#define F(x) x\n",
    "#define CAT(a, b) a##b\n",
    "#undef N\n",
    "#include <stdio.h>\n",
    "#include <\n",
    "#include \"x.h\"\n",
    "#if 0\n",
    "#if X\n",
    "#ifdef __cplusplus\n",
    "#ifndef A\n",
    "#else\n",
    "#elif 1\n",
    "#endif\n",
    "#pragma omp parallel for simd\n",
    "#line 3 \"x\"\n",
    "# 12 \"candidate.c\" 2\n",
    "_Pragma(",
    "_Pragma(\"omp for\")",
    "__pragma(",
    "__attribute__((",
    "asm(",
    "_mm512_add_pd",
    "__builtin_prefetch",
    "[[omp::directive(simd",
    "\\u00e9",
    "é",
    "\u{feff}",
    "\0",
    "1e+",
];

fn config() -> ProptestConfig {
    let cases = std::env::var("HOTLOOP_FUZZ_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(20_000);
    // Writes nothing to the checkout. A failure prints its input.
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn survives(text: &str, task: &Task) {
    let extracted = Candidate::extract(text, task);
    let read = Candidate::from_source(text.as_bytes(), task);
    for candidate in extracted.iter().chain(&read) {
        candidate.normalised();
    }
    let scanned = [
        scan(text),
        scan(&own_text(text, "candidate.c", |line| line.len() > 9)),
    ];
    for rules in task.spec.stages.iter() {
        for scan in &scanned {
            drop(rules.violation(scan));
        }
    }
}

/// Extraction from fenced output must return that output.
fn is_stable(completion: &str, task: &Task) -> Result<(), TestCaseError> {
    let Ok(candidate) = Candidate::extract(completion, task) else {
        return Ok(());
    };
    if candidate.source().contains("```") {
        return Ok(());
    }
    let again = Candidate::extract(&format!("Text.\n```c\n{}```\n", candidate.source()), task);
    prop_assert_eq!(
        again.as_ref().map(Candidate::source),
        Ok(candidate.source())
    );
    let read = Candidate::from_source(candidate.source().as_bytes(), task);
    prop_assert_eq!(read.as_ref().map(Candidate::hash), Ok(candidate.hash()));
    Ok(())
}

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(select(&PIECES[..]), 0..60).prop_map(|pieces| pieces.concat())
}

/// A mutated completion from the data folder.
fn mutated() -> impl Strategy<Value = String> {
    let accident = (0..4u8, any::<Index>(), any::<Index>(), select(&PIECES[..]));
    (
        select(&COMPLETIONS[..]),
        prop::collection::vec(accident, 0..6),
    )
        .prop_map(|((_, completion), accidents)| {
            let mut text: Vec<char> = completion.chars().collect();
            for (what, first, second, piece) in accidents {
                let (first, second) = (first.index(text.len() + 1), second.index(text.len() + 1));
                let (start, end) = (
                    first.min(second),
                    first.max(second).min(first.min(second) + 40),
                );
                match what {
                    0 => drop(text.splice(start..start, piece.chars())),
                    1 => drop(text.drain(start..end)),
                    2 => drop(text.splice(start..start, text[start..end].to_vec())),
                    _ => text.truncate(second.max(20)),
                }
            }
            text.into_iter().collect()
        })
}

/// Pieces of a line that do not change when the blanks around them do.
const WORDS: [&str; 32] = [
    "x",
    "N",
    "1.5e-3",
    "(",
    ")",
    "{",
    "}",
    ";",
    "=",
    "+",
    "#",
    "##",
    "\"_mm512_add_pd // no\"",
    "'/'",
    "_mm512_add_pd",
    "__m256d",
    "_mm_malloc",
    "__builtin_prefetch",
    "prefetch",
    "omp_get_thread_num",
    "pthread_create",
    "__attribute__((optimize(\"O3\")))",
    "asm(\"prefetcht0 (%0)\" :: \"r\"(x))",
    "asm",
    "_Pragma(\"omp parallel\")",
    "_Pragma",
    "vector_size",
    "CAT(a, b)",
    "F(x)",
    "simd",
    "omp",
    "0",
];

/// How a line may begin.
const STARTS: [&str; 17] = [
    "",
    "",
    "",
    "",
    "#pragma omp",
    "#pragma GCC",
    "#define N",
    "#define F(x)",
    "#define CAT(a, b)",
    "#include <stdio.h>",
    "#include \"x.h\"",
    "#if",
    "#if 0",
    "#ifdef N",
    "#else",
    "#endif",
    "#undef N",
];

const COMMENTS: [&str; 5] = [
    " ",
    "\t",
    "/* _mm512_add_pd */",
    " /*#pragma omp*/ ",
    "/**/",
];

/// The same lines without and with comments.
fn commented() -> impl Strategy<Value = (String, String)> {
    let word = (select(&WORDS[..]), select(&COMMENTS[..]));
    let line = (
        select(&STARTS[..]),
        select(&COMMENTS[..]),
        prop::collection::vec(word, 0..6),
        any::<bool>(),
    );
    prop::collection::vec(line, 0..12).prop_map(|lines| {
        let (mut plain, mut full) = (String::new(), String::new());
        for (start, comment, words, ends) in lines {
            plain.extend([start, " "]);
            full.extend([comment, start, comment]);
            for (word, comment) in words {
                plain.extend([word, " "]);
                full.extend([word, comment]);
            }
            plain.push('\n');
            full.push_str(if ends {
                " // __builtin_prefetch(p)\n"
            } else {
                "\n"
            });
        }
        (plain, full)
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        drop(Candidate::from_source(&bytes, &MATMUL));
        survives(&String::from_utf8_lossy(&bytes), &MATMUL);
    }

    #[test]
    fn any_characters_are_survived(characters in prop::collection::vec(any::<char>(), 0..200)) {
        survives(&characters.into_iter().collect::<String>(), &MATMUL);
    }

    #[test]
    fn any_soup_is_survived(text in soup()) {
        survives(&text, &MATMUL);
    }

    #[test]
    fn any_accident_is_survived(text in mutated()) {
        survives(&text, &MATMUL);
    }

    #[test]
    fn extraction_gives_back_its_own_output(text in mutated(), soup in soup()) {
        is_stable(&text, &MATMUL)?;
        is_stable(&format!("{soup}\n{ENTRY} {{ {soup} }}\n"), &MATMUL)?;
    }

    #[test]
    fn comments_never_change_a_scan((plain, full) in commented()) {
        prop_assert_eq!(scan(&plain), scan(&full));
    }
}
