//! Matrix products over strided views. Only this module calls the `gemm` crates.

#![expect(
    unsafe_code,
    reason = "the gemm crates take raw pointers; every view is checked against its slice first"
)]
#![expect(
    clippy::many_single_char_names,
    reason = "m, n, k and a, b, c are what everyone calls them"
)]

use super::onto::{Onto, Strided};
use super::skinny::{self, Rows};

/// A matrix inside a slice. The value in row i and column j is at `i * row + j * col`.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    data: &'a [f32],
    row: usize,
    col: usize,
}

impl<'a> View<'a> {
    /// Row-major with `stride` values from row to row.
    pub(super) fn rows(data: &'a [f32], stride: usize) -> Self {
        Self {
            data,
            row: stride,
            col: 1,
        }
    }

    /// The transpose.
    pub(super) fn t(self) -> Self {
        Self {
            data: self.data,
            row: self.col,
            col: self.row,
        }
    }

    fn check(&self, rows: usize, cols: usize) {
        if rows > 0 && cols > 0 {
            let last = (rows - 1) * self.row + (cols - 1) * self.col;
            assert!(
                last < self.data.len(),
                "a {rows} x {cols} view reaches past its {} values",
                self.data.len()
            );
        }
    }
}

/// Rows, columns, and the length of the sums.
#[derive(Clone, Copy)]
pub(super) struct Dims(pub(super) usize, pub(super) usize, pub(super) usize);

/// Products with fewer multiplications stay on one thread, because waking another costs more.
const PARALLEL_FROM: usize = 1 << 21;

/// Up to this many rows, a product with the rows of a matrix needs no packing.
const SKINNY: usize = 64;

#[derive(Clone, Copy)]
struct Target {
    data: *mut f32,
    row: usize,
    col: usize,
}

impl Target {
    fn t(self) -> Self {
        Self {
            data: self.data,
            row: self.col,
            col: self.row,
        }
    }
}

// SAFETY: threads get disjoint parts of the target, see `product`.
unsafe impl Send for Target {}
// SAFETY: the same.
unsafe impl Sync for Target {}

/// `c (rows of `stride`) = scale * a b`, or added to c, on this thread only.
pub(super) fn product_serial(c: Strided, a: View, b: View, dims: Dims, scale: f32, onto: Onto) {
    let target = checked(c, a, b, dims);
    run(target, a, b, dims, scale, onto);
}

/// The same, spread over the threads of the pool when it is large enough.
pub(super) fn product(c: Strided, a: View, b: View, dims: Dims, scale: f32, onto: Onto) {
    let Dims(m, n, k) = dims;
    if m <= SKINNY && n >= 4 && k >= 16 && a.col == 1 && b.row == 1 {
        a.check(m, k);
        b.check(k, n);
        let x = Rows {
            data: a.data,
            stride: a.row,
            count: m,
        };
        let w = Rows {
            data: b.data,
            stride: b.col,
            count: n,
        };
        return skinny::product(c, x, w, k, scale, onto);
    }
    let target = checked(c, a, b, dims);
    let threads = rayon::current_num_threads();
    if threads == 1 || m * n * k < PARALLEL_FROM {
        return run(target, a, b, dims, scale, onto);
    }
    // Parts are whole rows or whole columns of c, so no value has two writers.
    let along_rows = m >= n;
    let length = if along_rows { m } else { n };
    let part = length.div_ceil(threads).next_multiple_of(16);
    rayon::scope(|scope| {
        for start in (0..length).step_by(part) {
            let size = part.min(length - start);
            scope.spawn(move |_| {
                let whole = target;
                if along_rows {
                    let a = View {
                        data: &a.data[start * a.row..],
                        ..a
                    };
                    // SAFETY: start < m, and the target holds m rows.
                    let data = unsafe { whole.data.add(start * whole.row) };
                    run(
                        Target { data, ..whole },
                        a,
                        b,
                        Dims(size, n, k),
                        scale,
                        onto,
                    );
                } else {
                    let b = View {
                        data: &b.data[start * b.col..],
                        ..b
                    };
                    // SAFETY: start < n, and the target holds n columns.
                    let data = unsafe { whole.data.add(start * whole.col) };
                    run(
                        Target { data, ..whole },
                        a,
                        b,
                        Dims(m, size, k),
                        scale,
                        onto,
                    );
                }
            });
        }
    });
}

fn checked(c: Strided, a: View, b: View, Dims(m, n, k): Dims) -> Target {
    let Strided { data, stride } = c;
    View::rows(data, stride).check(m, n);
    assert!(m <= 1 || stride >= n, "rows of the target overlap");
    a.check(m, k);
    b.check(k, n);
    Target {
        data: data.as_mut_ptr(),
        row: stride,
        col: 1,
    }
}

fn run(c: Target, a: View, b: View, Dims(m, n, k): Dims, scale: f32, onto: Onto) {
    // The kernels need contiguous columns. Rows are the columns of the transpose.
    let (c, a, b, m, n) = if c.col < c.row {
        (c.t(), b.t(), a.t(), n, m)
    } else {
        (c, a, b, m, n)
    };
    let (keep, read) = match onto {
        Onto::Set => (0.0, false),
        Onto::Add => (1.0, true),
    };
    let signed = |stride: usize| stride as isize;
    // SAFETY: `checked` has shown that m x n, m x k and k x n values are inside the three slices,
    // and the caller borrows c mutably for the whole call.
    unsafe {
        gemm_f32::gemm::f32::get_gemm_fn()(
            m,
            n,
            k,
            c.data,
            signed(c.col),
            signed(c.row),
            read,
            a.data.as_ptr(),
            signed(a.col),
            signed(a.row),
            b.data.as_ptr(),
            signed(b.col),
            signed(b.row),
            keep,
            scale,
            false,
            false,
            false,
            gemm_common::Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise;

    fn check(dims: Dims, threads: usize) {
        let Dims(m, n, k) = dims;
        let fill = |seed, len: usize| {
            (0..len as u64)
                .map(|i| noise::normal(seed, i))
                .collect::<Vec<f32>>()
        };
        let (a, bt, start) = (fill(1, m * k), fill(2, n * k), fill(3, m * n));
        let mut c = start.clone();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            product(
                Strided::rows(&mut c, n),
                View::rows(&a, k),
                View::rows(&bt, k).t(),
                dims,
                0.5,
                Onto::Add,
            );
        });
        for i in 0..m {
            for j in 0..n {
                let dot: f64 = (0..k)
                    .map(|l| f64::from(a[i * k + l]) * f64::from(bt[j * k + l]))
                    .sum();
                let wanted = f64::from(start[i * n + j]) + 0.5 * dot;
                assert!(
                    (f64::from(c[i * n + j]) - wanted).abs() < 1e-4 * (k as f64).sqrt(),
                    "{m}x{n}x{k} at {i},{j}"
                );
            }
        }
    }

    #[test]
    fn products_agree_with_plain_sums_skinny_or_not_on_one_thread_or_three() {
        for threads in [1, 3] {
            for dims in [
                Dims(1, 5, 3),
                Dims(3, 201, 40),
                Dims(1, 300, 576),
                Dims(39, 131, 70),
                Dims(64, 1000, 33),
                Dims(130, 70, 33),
                Dims(200, 150, 100),
                Dims(40, 600, 100),
            ] {
                check(dims, threads);
            }
        }
    }

    #[test]
    #[should_panic(expected = "reaches past")]
    fn a_view_past_its_slice_is_a_bug() {
        let mut c = [0.0; 4];
        product_serial(
            Strided::rows(&mut c, 2),
            View::rows(&[0.0; 3], 2),
            View::rows(&[0.0; 4], 2),
            Dims(2, 2, 2),
            1.0,
            Onto::Set,
        );
    }
}
