use super::*;
use crate::extracted::{COMPLETION_BYTES, SOURCE_BYTES};
use crate::task::TaskFiles;

const TASK: &str = include_str!("../../tests/data/matmul.toml");

fn task() -> Task {
    Task::parse(TaskFiles {
        toml: TASK.into(),
        ..TaskFiles::default()
    })
    .unwrap()
}

const HEAD: &str = "void matmul_optimized(double *A, double *B, double *C, int M, int N, int K)";

fn whole(body: &str) -> String {
    format!("{HEAD} {{ {body} }}\n")
}

fn fenced(source: &str) -> String {
    format!("Here it is:\n```c\n{source}```\nDone.")
}

#[track_caller]
fn gives(completion: &str, source: &str) -> Candidate {
    let candidate = Candidate::extract(completion, &task()).unwrap();
    assert_eq!(candidate.source(), source);
    candidate
}

#[track_caller]
fn fails(completion: &str, why: &str) {
    let malformed = Candidate::extract(completion, &task()).unwrap_err();
    assert!(malformed.why.contains(why), "{malformed} lacks {why:?}");
}

fn accepts(source: &str) -> bool {
    Candidate::from_source(source.as_bytes(), &task()).is_ok()
}

#[test]
fn a_block_is_taken_unchanged() {
    let source = format!(
        "#include <stdio.h>\n/* note */\n{}int main() {{ return 0; }}\n",
        whole("C[0] = 1;")
    );
    let candidate = gives(&fenced(&source), &source);
    assert_eq!(
        candidate.hash(),
        blake3::hash(source.as_bytes()).to_hex().to_string()
    );
    assert!(candidate.notes().is_empty());
    for (open, close) in [
        ("```C", "```"),
        ("```cpp", "```"),
        ("```", "```"),
        ("~~~c", "~~~"),
        ("  ```c", "  ```"),
    ] {
        gives(&format!("Text\n{open}\n{source}{close}\n"), &source);
    }
}

#[test]
fn the_last_complete_definition_wins() {
    let (first, second) = (whole("C[0] = 1;"), whole("C[0] = 2;"));
    gives(&format!("{}\n{}", fenced(&first), fenced(&second)), &second);
    gives(
        &format!("{}\n```c\n{HEAD} {{ for (", fenced(&first)),
        &first,
    );
    gives(
        &format!(
            "{}\n```c\nint main() {{}}\n```\n```sh\ngcc x.c\n```",
            fenced(&first)
        ),
        &first,
    );
    gives(
        &format!(
            "{}\n```c\nvoid matmul_optimized(float *A) {{ }}\n```",
            fenced(&first)
        ),
        &first,
    );
}

#[test]
fn a_cut_off_answer_keeps_its_complete_functions() {
    let source = whole("C[0] = 1;");
    let candidate = gives(
        &format!("```c\n{source}\nint main() {{\n    double A["),
        &format!("{source}\n"),
    );
    assert_eq!(candidate.notes().len(), 1);
    fails(&format!("```c\n{HEAD} {{\n  for (int i = 0;"), "is cut off");
    fails(&format!("{HEAD} {{\n  for (int i = 0;"), "is cut off");
}

#[test]
fn the_compiler_judges_braces_inside_a_closed_block() {
    let source = format!("{HEAD} {{ if (M) {{ C[0] = 1; }}\n");
    gives(&fenced(&source), &source);
}

#[test]
fn bare_code_is_found_between_prose() {
    let source = format!("#include <math.h>\n{}", whole("C[0] = 1;"));
    gives(&source, &source);
    gives(
        &format!(
            "Sure, don't worry (it's easy):\n\n{source}\nThis code (see above) is fast; enjoy {{it}}."
        ),
        &format!("{source}\n"),
    );
    let guarded = format!("#ifndef A\n#define A\n{}#endif\n", whole(""));
    gives(&guarded, &guarded);
    gives(&format!("```\n```\n{source}```"), &source);
}

#[test]
fn other_names_and_missing_bodies_are_malformed() {
    fails("I cannot help with that.", "no function `matmul_optimized`");
    fails("", "no function `matmul_optimized`");
    fails(
        &fenced("void matmul(double *A) { }\n"),
        "no function `matmul_optimized`",
    );
    fails(
        &fenced("int main() { matmul_optimized(a, b, c, 1, 1, 1); }\n"),
        "no function `matmul_optimized`",
    );
    fails(&fenced(&format!("{HEAD};\n")), "has no body");
    fails(
        &fenced("void matmul_optimized(A, B, C, M, N, K) double *A, *B, *C; int M, N, K; { }\n"),
        "has no body",
    );
    fails(
        &fenced(&format!("#if 0\n{}#endif\n", whole(""))),
        "no function `matmul_optimized`",
    );
    fails(
        &fenced(&format!("// {}", whole(""))),
        "no function `matmul_optimized`",
    );
}

#[test]
fn signatures_may_differ_where_a_call_is_unaffected() {
    for head in [
        "void matmul_optimized(const double *restrict a, const double *__restrict__ b, double *const c, const int m, int n, signed k)",
        "void matmul_optimized(double A[], double B[M0*K0], double C[restrict static 4], int M, int N, int K)",
        "void matmul_optimized(double *A [[gnu::unused]], [[maybe_unused]] double *B, double C[4] [[gnu::unused]], int M [[gnu::unused]], int N, int K)",
        "void\nmatmul_optimized(register double* A, double *B /* in */, double *C, // out\n int M, int N, int32_t K)",
        "typedef double real; typedef real *vec; void matmul_optimized(real *A, vec B, vec C, int M, int N, int K)",
        "typedef double ad __attribute__((aligned(64))); void matmul_optimized(ad *A, ad *B, ad *C, int M, int N, int K)",
        "#define T double\n#define N 256\nvoid matmul_optimized(T *A, T *B, T *C, int M, int N, int K)",
        "#define HOT __attribute__((hot))\nHOT __attribute__((noinline)) void matmul_optimized(double *A, double *B, double *C, int M, int N, int K)",
        "[[gnu::hot]] extern void matmul_optimized(double *A, double *B, double *C, int M, int N, int K)",
        "void matmul_optimized(double *A __attribute__((unused)), double *, double_t *C, int M, int, int K)",
    ] {
        assert_eq!(
            Candidate::from_source(format!("{head} {{ }}").as_bytes(), &task()).err(),
            None,
            "{head}"
        );
    }
}

#[test]
fn signatures_that_a_call_would_break_are_malformed() {
    let check = |head: &str, why: &str| {
        let malformed =
            Candidate::from_source(format!("{head} {{ }}").as_bytes(), &task()).unwrap_err();
        assert!(malformed.why.ends_with(why), "{malformed} lacks {why:?}");
    };
    check(
        "double matmul_optimized(double *A, double *B, double *C, int M, int N, int K)",
        "it returns `double`",
    );
    check(
        "__global__ void matmul_optimized(double *A, double *B, double *C, int M, int N, int K)",
        "it returns `__global__ void`",
    );
    check(
        "void matmul_optimized(double *A, double *B, double *C, size_t M, int N, int K)",
        "parameter 4 is `size_t M` instead of `int`",
    );
    check(
        "void matmul_optimized(double *A, double *B, double *C, int M, unsigned N, int K)",
        "parameter 5 is `unsigned N` instead of `int`",
    );
    check(
        "void matmul_optimized(double *A, double *B, double *C, int M, int N, long K)",
        "parameter 6 is `long K` instead of `int`",
    );
    check(
        "void matmul_optimized(float *A, double *B, double *C, int M, int N, int K)",
        "parameter 1 is `float *A` instead of `double *`",
    );
    check(
        "void matmul_optimized(double *A, double **B, double *C, int M, int N, int K)",
        "parameter 2 is `double **B` instead of `double *`",
    );
    check(
        "void matmul_optimized(double *A, double B[][8], double *C, int M, int N, int K)",
        "parameter 2 is `double B [ ] [ 8 ]` instead of `double *`",
    );
    check(
        "void matmul_optimized(Matrix A, double *B, double *C, int M, int N, int K)",
        "parameter 1 is `Matrix A` instead of `double *`",
    );
    check(
        "typedef double v8 __attribute__((vector_size(64))); void matmul_optimized(v8 *A, v8 *B, v8 *C, int M, int N, int K)",
        "parameter 1 is `v8 *A` instead of `double *`",
    );
    check(
        "void matmul_optimized(double *A, double *B, double *C, int M, int N, int K, int threads)",
        "it takes 7 parameters instead of 6",
    );
    check(
        "void matmul_optimized()",
        "it takes 0 parameters instead of 6",
    );
    check(
        "void matmul_optimized(void)",
        "it takes 0 parameters instead of 6",
    );
}

#[test]
fn macros_that_name_each_other_terminate() {
    let define = |level| format!("#define T{level} T{0} T{0}\n", level + 1);
    let source: String = (0..60).map(define).collect();
    assert!(!accepts(&format!(
        "{source}void matmul_optimized(T0 *A) {{ }}"
    )));
    assert!(!accepts(
        "#define T T\nvoid matmul_optimized(T *A, T *B, T *C, int M, int N, int K) { }"
    ));
}

#[test]
fn storage_words_that_hide_the_entry_point_are_dropped() {
    let source = whole("C[0] = 1;");
    for words in [
        "static ",
        "inline ",
        "static inline ",
        "inline static ",
        "__inline__ ",
        "static\t",
    ] {
        let candidate = gives(&fenced(&format!("{words}{source}")), &source);
        assert_eq!(candidate.notes().len(), 1);
    }
    let candidate = Candidate::from_source(
        format!("static {HEAD};\nstatic int x;\nstatic {source}").as_bytes(),
        &task(),
    )
    .unwrap();
    assert_eq!(
        candidate.source(),
        format!("{HEAD};\nstatic int x;\n{source}")
    );
    let kept = format!("extern inline {source}");
    gives(&fenced(&kept), &kept);
}

#[test]
fn dropping_a_storage_word_uncovers_nothing() {
    let source = whole("C[0] = 1;");
    for hidden in [
        "static #line 1 \"immintrin.h\" 3",
        "static %:define N 1",
        "inline # 1 \"immintrin.h\"",
        "/static *",
    ] {
        fails(
            &fenced(&format!("[[gnu::hot\n{hidden}\n]] {source}")),
            "the code would change its meaning",
        );
        assert!(
            !accepts(&format!("[[gnu::hot\n{hidden}\n]] {HEAD};\n{source}")),
            "{hidden}"
        );
    }
    gives(
        &fenced(&format!("[[gnu::hot]] static {source}")),
        &format!("[[gnu::hot]] {source}"),
    );
}

#[test]
fn helpers_come_from_the_one_block_that_has_them() {
    let (helper, entry) = (
        "static double dot(int k) { return k; }\n",
        whole("C[0] = dot(K);"),
    );
    let candidate = gives(
        &format!("{}\n{}", fenced(helper), fenced(&entry)),
        &format!("{helper}{entry}"),
    );
    assert_eq!(
        candidate.notes(),
        ["the block that defines `dot` is put in front"]
    );
    gives(
        &format!("{}\n{}\n{}", fenced(helper), fenced(helper), fenced(&entry)),
        &entry,
    );
    let own = format!("{helper}{entry}");
    gives(&format!("{}\n{}", fenced(helper), fenced(&own)), &own);
    let older = format!("{helper}{}", whole("C[0] = 0;"));
    gives(&format!("{}\n{}", fenced(&older), fenced(&entry)), &entry);
}

#[test]
fn disguises_are_malformed() {
    fails(
        &fenced(&format!("{}const char *s = R\"(\")\";\n", whole(""))),
        "raw string",
    );
    fails(
        &fenced(&format!("#line 1 \"immintrin.h\"\n{}", whole(""))),
        "#line",
    );
    fails(
        &fenced(&format!("# 1 \"immintrin.h\" 1 3\n{}", whole(""))),
        "#line",
    );
    fails(
        &fenced(&format!(
            "// x \\\r\r\n#pragma GCC optimize(\"O3\")\n{}",
            whole("")
        )),
        "line 1 has a carriage return",
    );
    assert!(accepts(&format!("// x\r\n{}", whole(""))));
    fails(
        &fenced(&format!("int x;\n#define V\\u00e9 __m512d\n{}", whole(""))),
        "line 2 has a universal character name",
    );
    assert!(accepts(&format!(
        "// \\u00e9\nconst char *s = \"\\u00e9\";\nint \u{e9};\n{}",
        whole("")
    )));
}

#[test]
fn files_have_limits() {
    let source = whole("");
    let judge = |bytes: &[u8]| Candidate::from_source(bytes, &task());
    assert_eq!(judge(source.trim_end().as_bytes()).unwrap().source, source);
    assert!(
        judge(format!("{source}\0").as_bytes())
            .unwrap_err()
            .why
            .contains("NUL")
    );
    assert!(
        judge(" ".repeat(SOURCE_BYTES + 1).as_bytes())
            .unwrap_err()
            .why
            .contains("longer")
    );
    assert!(
        judge(&[b"// \xff\n".as_slice(), source.as_bytes()].concat())
            .unwrap()
            .notes[0]
            .contains("UTF-8")
    );
    assert!(judge(b"int x;").is_err());
    fails(&"x".repeat(COMPLETION_BYTES + 1), "longer");
}

#[test]
fn copies_have_the_same_normal_form() {
    let normal = |source: &str| {
        Candidate::from_source(source.as_bytes(), &task())
            .unwrap()
            .normalised()
    };
    let plain = normal(&format!("#define F(x) x\n{}", whole("C[0]=1; /* one */")));
    assert_eq!(
        plain,
        normal(&format!(
            "// hi\n# define F(x)   x\n{HEAD}\n{{\nC[ 0 ] = 1;\n}}\n"
        ))
    );
    assert_ne!(
        plain,
        normal(&format!("#define F (x) x\n{}", whole("C[0]=1;")))
    );
    assert_ne!(
        plain,
        normal(&format!("#define F(x) x\n{}", whole("C[0]=2;")))
    );
    assert_ne!(
        normal(&whole("char *s = \"a b\";")),
        normal(&whole("char *s = \"ab\";"))
    );
}

#[test]
fn a_megabyte_of_anything_is_read_quickly() {
    let task = task();
    for unit in [
        "{}",
        "```c\n",
        "void f(",
        "static ",
        "#if X\n#else\n{\n",
        "matmul_optimized(){",
        "typedef x",
        "~~~\n{",
        "f();",
        "#define A A A\n",
    ] {
        let text = unit.repeat(COMPLETION_BYTES / unit.len());
        drop(Candidate::extract(&text, &task));
        drop(Candidate::extract(
            &format!("```c\n{}static {text}", whole("")),
            &task,
        ));
    }
}

/// Searching each block for each call would take ten times as long.
#[test]
fn helpers_are_found_among_many_blocks() {
    let many =
        |count: usize, each: fn(usize) -> String| (0..count).map(each).collect::<Vec<_>>().concat();
    let blocks = many(8_000, |at| {
        format!("```c\nint f{at}(int k) {{ return k; }}\n```\n")
    });
    let calls = many(20_000, |at| format!("g{at}(0);"));
    let entry = whole(&format!("{calls} f7999(K);"));
    gives(
        &format!("{blocks}{}", fenced(&entry)),
        &format!("int f7999(int k) {{ return k; }}\n{entry}"),
    );
}
