use super::*;
use proptest::prelude::*;

const HEAD: &str = "#include <immintrin.h>\n#include <omp.h>\nvoid matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {\n";

/// `c0..c7`, each line written by `line`.
fn eight(line: impl Fn(usize) -> String) -> String {
    (0..8).map(line).collect::<Vec<_>>().join("\n")
}

fn of(body: &str) -> Features {
    Features::of(&format!("{HEAD}{body}}}\n"))
}

fn table_row(features: &Features) -> (String, String, String) {
    (
        features.blocking_text(),
        features.threads.to_string(),
        features.prefetch.to_string(),
    )
}

fn row(blocking: &str, threads: &str, prefetch: &str) -> (String, String, String) {
    (blocking.into(), threads.into(), prefetch.into())
}

/// In the spirit of fig. 9: O0, LR 0.
fn figure_9() -> String {
    format!(
        "const int BS = 64;
#pragma omp parallel for collapse(2) \\
    num_threads(40) schedule(static)
for (int ib = 0; ib < M; ib += BS) {{
  for (int jb = 0; jb < N; jb += BS) {{
    for (int i = ib; i < M && i < ib + BS; i++) {{
      __m512d c[8];
      for (int j = 0; j < 8; j++) c[j] = _mm512_setzero_pd();
      for (int k = 0; k < K; k++) {{
        _mm_prefetch((const char *)&B[(k+1)*N+jb], _MM_HINT_T0);
        __m512d a = _mm512_set1_pd(A[i*K+k]);
        {}
      }}
      for (int j = 0; j < BS; j += 8) {{
        c[j/8] = _mm512_add_pd(c[j/8], _mm512_load_pd(&C[i*N+j+jb]));
        _mm512_storeu_pd(&C[i*N+j+jb], c[j/8]);
      }}
    }}
  }}
}}",
        eight(|n| format!(
            "c[{n}] = _mm512_fmadd_pd(a, _mm512_load_pd(&B[k*N+jb+{}]), c[{n}]);",
            8 * n
        ))
    )
}

/// In the spirit of fig. 10: O1, LR 0.
fn figure_10() -> String {
    format!(
        "const int BS = 64, NT = 40;
#pragma omp parallel num_threads(NT)
{{
  int tid = omp_get_thread_num();
  int chunk = (M + NT-1) / NT;
  int start = tid*chunk;
  int end = (tid+1)*chunk>M ? M : (tid+1)*chunk;
  for (int ii = start; ii < end; ii+=BS) {{
    for (int jj = 0; jj < N; jj += BS) {{
      for (int i=ii; i<ii+BS && i<end; i++) {{
        {}
        for (int k = 0; k < K; k++) {{
          if (k+8<K) _mm_prefetch(B+(k+8)*N+jj, _MM_HINT_T0);
          __m512d a=_mm512_set1_pd(A[i*K+k]);
          {}
        }}
        {}
      }}
    }}
  }}
}}",
        eight(|n| format!("__m512d c{n} = _mm512_setzero_pd();")),
        eight(|n| format!(
            "c{n} = _mm512_fmadd_pd(a, _mm512_load_pd(B+k*N+jj+{}), c{n});",
            8 * n
        )),
        eight(|n| format!(
            "c{n} = _mm512_add_pd(c{n}, _mm512_load_pd(&C[i*N+jj+{0}])); _mm512_store_pd(&C[i*N+jj+{0}], c{n});",
            8 * n
        )),
    )
}

/// In the spirit of fig. 11: O3, LR 0.
const FIGURE_11: &str = "const int BS = 64;
#pragma omp parallel for collapse(2) num_threads(40) schedule(static)
for (int ib = 0; ib < M; ib += BS) {
  for (int jb = 0; jb < N; jb += BS) {
    for (int i=ib; i<ib+BS && i<M; i+=8) {
      for (int j=jb; j<jb+BS && j<N; j+=8) {
        __m512d C_blk[8];
        for (int r=0; r<8; r++)
          C_blk[r] = _mm512_loadu_pd(&C[(i+r)*N+j]);
        for (int k = 0; k < K; k++) {
          __m512d b = _mm512_loadu_pd(&B[k*N+j]);
          for (int r = 0; r < 8; r++) {
            __m512d a = _mm512_broadcastsd_pd(_mm_load_sd(&A[(i+r)*K+k]));
            C_blk[r] = _mm512_fmadd_pd(a, b, C_blk[r]);
          }
        }
        for (int r=0; r<8; r++)
          _mm512_storeu_pd(&C[(i+r)*N+j], C_blk[r]);
      }
    }
  }
}";

/// In the spirit of fig. 12: O0, LR 5e-7.
fn figure_12() -> String {
    format!(
        "const int BS = 128;
#pragma omp parallel num_threads(40)
{{
  int tid = omp_get_thread_num();
  int nt = omp_get_num_threads();
  int chunk = (M + nt-1) / nt;
  int ib_s = tid*chunk, ib_e = (tid+1)*chunk;
  ib_e = ib_e < M ? ib_e : M;
  for (int ib = ib_s; ib<ib_e; ib+=BS) {{
    int im = (ib+BS)>ib_e ? ib_e : (ib+BS);
    for (int jb = 0; jb < N; jb += BS) {{
      int jm = (jb+BS)>N ? N : (jb+BS);
      for (int i = ib; i < im; i++) {{
        for (int j = jb; j < jm; j += 64) {{
          {}
          for (int k = 0; k < K; k++) {{
            if (k+1 < K) _mm_prefetch(&B[(k+1)*N+j], _MM_HINT_T0);
            __m512d a=_mm512_set1_pd(A[i*K+k]);
            {}
          }}
          {}
        }}
      }}
    }}
  }}
}}",
        eight(|n| format!("__m512d c{n} = _mm512_loadu_pd(&C[i*N+j+{}]);", 8 * n)),
        eight(|n| format!(
            "c{n} = _mm512_fmadd_pd(a, _mm512_loadu_pd(&B[k*N+j+{}]), c{n});",
            8 * n
        )),
        eight(|n| format!("_mm512_storeu_pd(&C[i*N+j+{}], c{n});", 8 * n)),
    )
}

/// In the spirit of fig. 13: O1, LR 5e-7, the paper's best.
fn figure_13() -> String {
    format!(
        "#pragma omp parallel for num_threads(40) schedule(static)
for (int i = 0; i < M; i++) {{
  for (int j = 0; j < N; j += 64) {{
    {}
    for (int k = 0; k < K; k++) {{
      if (k < K-1) _mm_prefetch(&B[(k+1)*N+j], _MM_HINT_T0);
      __m512d a = _mm512_set1_pd(A[i*K+k]);
      {}
    }}
    {}
  }}
}}",
        eight(|n| format!("__m512d s{n} = _mm512_setzero_pd();")),
        eight(|n| format!(
            "s{n} = _mm512_fmadd_pd(a, _mm512_load_pd(&B[k*N+j+{}]), s{n});",
            8 * n
        )),
        eight(|n| format!("_mm512_store_pd(&C[i*N+j+{}], s{n});", 8 * n)),
    )
}

/// In the spirit of fig. 14: O3, LR 5e-7, with the prefetch that table III lists.
const FIGURE_14: &str = "const int BS = 64, NT = 40;
#pragma omp parallel num_threads(NT)
{
  int tid = omp_get_thread_num();
  int start = (tid*M)/NT;
  int end = ((tid+1)*M)/NT;
  for (int ii=start; ii<end; ii+=BS) {
    for (int jj = 0; jj < N; jj += BS) {
      _mm_prefetch((const char *)&B[jj + BS], _MM_HINT_T0);
      for (int i=ii; i<ii+BS && i<end; i++) {
        __m512d sums[8];
        for (int s=0; s<8; s++)
          sums[s] = _mm512_setzero_pd();
        for (int k = 0; k < K; k++) {
          __m512d a=_mm512_set1_pd(A[i*K+k]);
          for (int j=0; j<BS; j+=8) {
            __m512d b = _mm512_loadu_pd(&B[k*N+jj+j]);
            sums[j/8] = _mm512_fmadd_pd(a, b, sums[j/8]);
          }
        }
        for (int j=0; j<BS; j+=8) {
          __m512d c = _mm512_loadu_pd(&C[i*N+jj+j]);
          c = _mm512_add_pd(c, sums[j/8]);
          _mm512_storeu_pd(&C[i*N+jj+j], c);
        }
      }
    }
  }
}";

#[test]
fn table_3_is_reproduced_from_the_papers_codes() {
    assert_eq!(table_row(&of(&figure_9())), row("64", "collapse(2)", "k+1"));
    assert_eq!(
        table_row(&of(&figure_10())),
        row("64", "manual split", "k+8")
    );
    assert_eq!(table_row(&of(FIGURE_11)), row("64", "collapse(2)", "none"));
    assert_eq!(
        table_row(&of(&figure_12())),
        row("128", "manual split", "k+1")
    );
    assert_eq!(
        table_row(&of(&figure_13())),
        row("none", "parallel for", "k+1")
    );
    assert_eq!(
        table_row(&of(FIGURE_14)),
        row("64", "manual split", "block boundary")
    );
}

#[test]
fn accumulators_tiles_and_vectors_are_found_in_the_papers_codes() {
    let all = [
        figure_9(),
        figure_10(),
        FIGURE_11.into(),
        figure_12(),
        figure_13(),
        FIGURE_14.into(),
    ];
    let features: Vec<Features> = all.iter().map(|body| of(body)).collect();
    assert_eq!(
        features
            .iter()
            .map(|found| found.accumulators)
            .collect::<Vec<_>>(),
        [8; 6]
    );
    assert!(features.iter().all(|found| found.simd_bits == Some(512)));
    assert_eq!(features[2].register_tile, Some((8, 8)));
    assert_eq!(features[4].register_tile, Some((1, 64)));
    // The paper: figures 10 and 14 update C in place, figure 13 writes it directly.
    let updates: Vec<bool> = features
        .iter()
        .map(|found| found.read_modify_write)
        .collect();
    assert_eq!(updates, [true, true, true, true, false, true]);
}

#[test]
fn the_best_code_of_experiment_1_collapses_its_deepest_loops() {
    let features = Features::of(
        "#define BLOCK_SIZE 2048
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
#pragma omp parallel for
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      C[i * N + j] = 0.0;
  for (int mb = 0; mb < M; mb += BLOCK_SIZE) {
    int m_end = mb+BLOCK_SIZE>M ? M : mb+BLOCK_SIZE;
    for (int kb = 0; kb < K; kb += BLOCK_SIZE) {
      int k_end = kb+BLOCK_SIZE>K ? K : kb+BLOCK_SIZE;
#pragma omp parallel for collapse(2)
      for (int i = mb; i < m_end; ++i) {
        for (int j = 0; j < N; ++j) {
          double cij = C[i * N + j];
          for (int k = kb; k < k_end; ++k)
            cij += A[i*K+k] * B[k*N+j];
          C[i * N + j] = cij;
        }
      }
    }
  }
}",
    );
    assert_eq!(table_row(&features), row("2048", "collapse(2)", "none"));
    assert!(features.read_modify_write);
    assert_eq!(
        (
            features.accumulators,
            features.simd_bits,
            features.register_tile
        ),
        (1, None, None)
    );
}

#[test]
fn a_plain_loop_has_no_features() {
    let features = Features::of(include_str!("../../../../../tasks/matmul/seed.c"));
    assert_eq!(table_row(&features), row("none", "none", "none"));
    assert_eq!(
        (
            features.accumulators,
            features.read_modify_write,
            features.register_tile
        ),
        (1, false, None)
    );
}

#[test]
fn a_handwritten_register_tile_is_counted() {
    let features = of(
        "for (int i = 0; i < M; i += 2) for (int j = 0; j < N; j += 2) {
        double c00 = 0, c01 = 0, c10 = 0, c11 = 0;
        for (int k = 0; k < K; k++) {
            double a0 = A[i*K+k], a1 = A[(i+1)*K+k], b0 = B[k*N+j], b1 = B[k*N+j+1];
            c00 += a0 * b0; c01 += a0 * b1; c10 += a1 * b0; c11 += a1 * b1;
        }
        C[i*N+j] = c00; C[i*N+j+1] = c01; C[(i+1)*N+j] = c10; C[(i+1)*N+j+1] = c11;
    }",
    );
    assert_eq!(
        (features.accumulators, features.register_tile),
        (4, Some((2, 2)))
    );
    assert_eq!(features.blocking_text(), "none");
}

#[test]
fn other_ways_to_write_things_are_known() {
    let tasks = of(
        "#pragma omp parallel\n#pragma omp single\nfor (int i = 0; i < M; i += 32) {\n#pragma omp task\nfor (int x = i; x < i + 32; x++) C[x] += A[x] * B[x]; }",
    );
    assert_eq!(
        (tasks.threads, tasks.read_modify_write),
        (Threads::Tasks, true)
    );
    assert_eq!(tasks.blocking, [32]);
    let region =
        of("#pragma omp parallel\n{\n#pragma omp for\nfor (int i = 0; i < M; i++) C[i] = 0; }");
    assert_eq!(region.threads, Threads::ParallelFor);
    let offset = of(
        "enum { T = 32 }; for (int ib = 0; ib < M; ib = ib + T) for (int i = 0; i < T; i++) C[ib + i] = 1;",
    );
    assert_eq!(offset.blocking, [32]);
    let ahead = of("for (int k = 0; k < K; k++) { __builtin_prefetch(&A[k + 16]); C[0] = A[k]; }");
    assert_eq!(ahead.prefetch, Prefetch::Ahead("k".into(), 16));
}

#[test]
fn vector_extensions_of_the_compiler_have_a_width() {
    let tile = "for (int j = 0; j < N; j += 8) { v8 s = {0}; for (int k = 0; k < K; k++) s += A[k] * *(v8*)(B + k * N + j); *(v8*)(C + j) = s; }";
    let of = |size: &str| {
        of(&format!(
            "typedef double v8 __attribute__((vector_size({size}), aligned(8))); {tile}"
        ))
    };
    assert_eq!(of("64").simd_bits, Some(512));
    assert_eq!(of("4 * 8").simd_bits, Some(256));
    assert_eq!(of("what(").simd_bits, None, "a width that cannot be read");
    assert_eq!(of("64").register_tile, Some((1, 8)));
}

#[test]
fn a_loop_step_with_a_product_is_not_a_sum() {
    let features = of(
        "for (int j = 0; j < N; j += 4 * 8) { double s[8]; for (int k = 0; k < K; k++) for (int r = 0; r < 8; r++) s[r] += A[k] * B[r]; C[j] = s[0]; }",
    );
    assert_eq!(
        (features.accumulators, features.register_tile),
        (8, Some((1, 32)))
    );
}

#[test]
fn dead_code_and_comments_have_no_features() {
    let features = of(
        "// #pragma omp parallel for\n/* _mm_prefetch(&A[k+1]) */\n#if 0\n__m512d x;\n#endif\nC[0] = 1;",
    );
    assert_eq!(table_row(&features), row("none", "none", "none"));
    assert_eq!(features.simd_bits, None);
}

/// Correct programs whose loops, brackets, assignments or pragmas would take hours in pairs.
#[test]
fn programs_of_a_quarter_of_a_megabyte_are_read_in_time() {
    let fill = |unit: &str| unit.repeat((250 << 10) / unit.len());
    let half = (120 << 10) / 18;
    let programs = [
        fill("for(i=0;i<9;i++)"),
        fill("#pragma omp parallel for\nfor(i=0;i<9;i++)\n"),
        fill("a="),
        fill("x[0]+=a*"),
        format!("{}1{};", "a[".repeat(half), "]".repeat(half)),
        fill("for(int i=0;i<16;i+=16){_mm_prefetch(a+i);x[i]=a*b;}"),
        format!("const int {}", fill("a=b+")),
        fill("x[0]=y[0];"),
        "double x[4294967296][4294967296]; for(;i<1;i++) x[0][0] += a*b;".to_owned(),
    ];
    let begin = std::time::Instant::now();
    for program in programs {
        let _ = of(&program);
    }
    assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
}

proptest! {
    #[test]
    fn any_text_has_features(text in "[ -~\n]{0,300}") {
        let _ = Features::of(&text);
    }

    #[test]
    fn pieces_of_code_in_any_order_have_features(pieces in prop::collection::vec(0..12usize, 0..60)) {
        let words = ["for", "(", ")", "{", "}", ";", "i += 8", "x[", "]", " = ", "_mm_prefetch(", "\n#pragma omp parallel for collapse(2)\n"];
        let text: String = pieces.into_iter().map(|at| words[at]).collect();
        let _ = Features::of(&text);
    }
}
