//! Candidates for matmul as models write them: vector code with the usual headers, in many forms.

use std::fmt::Write;

const HEADERS: &str =
    "#include <immintrin.h>\n#include <omp.h>\n#include <stdlib.h>\n#include <string.h>\n\n";
const SIGNATURE: &str =
    "void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {\n";

/// Packed panels, an 8 x 24 tile in registers, OpenMP over panels; plain C without AVX-512.
pub(super) const AVX512: &str = include_str!("../../../../bench/tests/honest/matmul-avx512-8x24.c");
/// A 4 x 8 tile in registers.
pub(super) const AVX2: &str = include_str!("../../../../bench/tests/honest/matmul-avx2-4x8.c");

/// The expert candidate for this CPU.
pub(super) fn expert() -> (&'static str, &'static str) {
    if std::arch::is_x86_feature_detected!("avx512f") {
        ("packed 8 x 24 tiles, AVX-512", AVX512)
    } else {
        ("4 x 8 tiles, AVX2", AVX2)
    }
}

/// `count` candidates that all differ.
pub(super) fn candidates(count: usize) -> Vec<String> {
    let wide = std::arch::is_x86_feature_detected!("avx512f");
    let shapes: Vec<(usize, usize, bool)> = [1, 2, 4]
        .into_iter()
        .flat_map(|rows| [1, 2, 4].map(move |vectors| (rows, vectors)))
        .flat_map(|(rows, vectors)| [false, true].map(move |prefetch| (rows, vectors, prefetch)))
        .collect();
    (0..count)
        .map(|index| {
            let source = match index % (shapes.len() + 2) {
                at if at < shapes.len() => tile(shapes[at], wide),
                at if at == shapes.len() => blocked(64),
                _ => blocked(32),
            };
            format!("// candidate {index}\n{source}")
        })
        .collect()
}

/// A register tile of `rows` by `vectors` that is kept for the whole loop over K.
fn tile((rows, vectors, prefetch): (usize, usize, bool), wide: bool) -> String {
    let (bits, lanes, kind) = if wide {
        (512, 8, "__m512d")
    } else {
        (256, 4, "__m256d")
    };
    let width = lanes * vectors;
    let mut code = format!("{HEADERS}{SIGNATURE}    #pragma omp parallel for schedule(static)\n");
    let _ = writeln!(code, "    for (int i = 0; i < M; i += {rows}) {{");
    let _ = writeln!(code, "        for (int j = 0; j < N; j += {width}) {{");
    for row in 0..rows {
        for vector in 0..vectors {
            let _ = writeln!(
                code,
                "            {kind} c{row}{vector} = _mm{bits}_setzero_pd();"
            );
        }
    }
    code.push_str("            for (int k = 0; k < K; k++) {\n                const double *b = &B[k * N + j];\n");
    if prefetch {
        code.push_str("                _mm_prefetch((const char *)(b + 4 * N), _MM_HINT_T0);\n");
    }
    for vector in 0..vectors {
        let _ = writeln!(
            code,
            "                {kind} b{vector} = _mm{bits}_loadu_pd(b + {});",
            vector * lanes
        );
    }
    for row in 0..rows {
        let _ = writeln!(
            code,
            "                {kind} a{row} = _mm{bits}_set1_pd(A[(i + {row}) * K + k]);"
        );
        for vector in 0..vectors {
            let _ = writeln!(
                code,
                "                c{row}{vector} = _mm{bits}_fmadd_pd(a{row}, b{vector}, c{row}{vector});"
            );
        }
    }
    code.push_str("            }\n");
    for row in 0..rows {
        for vector in 0..vectors {
            let at = vector * lanes;
            let _ = writeln!(
                code,
                "            _mm{bits}_storeu_pd(&C[(i + {row}) * N + j + {at}], c{row}{vector});"
            );
        }
    }
    code.push_str("        }\n    }\n}\n");
    code
}

/// Plain loops in blocks.
fn blocked(block: usize) -> String {
    format!(
        "{HEADERS}{SIGNATURE}    memset(C, 0, sizeof(double) * M * N);
    for (int ii = 0; ii < M; ii += {block})
        for (int kk = 0; kk < K; kk += {block})
            for (int i = ii; i < ii + {block}; i++)
                for (int k = kk; k < kk + {block}; k++) {{
                    const double a = A[i * K + k];
                    for (int j = 0; j < N; j++) C[i * N + j] += a * B[k * N + j];
                }}
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_differ_and_have_the_entry_point() {
        let list = candidates(45);
        let distinct: std::collections::BTreeSet<&String> = list.iter().collect();
        assert_eq!(distinct.len(), 45);
        assert!(
            list.iter()
                .all(|source| source.contains("matmul_optimized"))
        );
    }
}
