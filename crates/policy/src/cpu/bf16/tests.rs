//! Compares every path with sums in f64 over the rounded weights.

use half::bf16;
use pulp::Arch;

use super::*;
use crate::noise;

struct Case {
    x: Vec<f32>,
    w: Vec<bf16>,
    start: Vec<f32>,
    rows: usize,
    outputs: usize,
    inputs: usize,
}

impl Case {
    fn new(rows: usize, outputs: usize, inputs: usize) -> Self {
        let fill = |seed, len: usize| (0..len as u64).map(move |i| noise::normal(seed, i));
        let w = fill(2, outputs * inputs).map(bf16::from_f32).collect();
        let long = rows * outputs.max(inputs);
        Self {
            x: fill(1, long).collect(),
            w,
            start: fill(3, long).collect(),
            rows,
            outputs,
            inputs,
        }
    }

    fn matrix(&self) -> Matrix<'_> {
        Matrix {
            data: &self.w,
            outputs: self.outputs,
            inputs: self.inputs,
        }
    }

    /// Compares a path with plain sums.
    fn check(
        &self,
        name: &str,
        forward: bool,
        threads: usize,
        compute: impl Fn(&mut [f32], &[f32], Onto) + Sync,
    ) {
        let Self {
            rows,
            outputs,
            inputs,
            ..
        } = *self;
        let (from, to) = if forward {
            (inputs, outputs)
        } else {
            (outputs, inputs)
        };
        let x = &self.x[..rows * from];
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        for onto in [Onto::Set, Onto::Add] {
            let mut y = self.start[..rows * to].to_vec();
            pool.install(|| compute(&mut y, x, onto));
            for i in 0..rows {
                for j in 0..to {
                    let weight = |l: usize| {
                        if forward {
                            self.w[j * inputs + l]
                        } else {
                            self.w[l * inputs + j]
                        }
                    };
                    let (mut sum, mut size) = (0.0, 0.0);
                    for l in 0..from {
                        let term = f64::from(x[i * from + l]) * weight(l).to_f64();
                        sum += term;
                        size += term.abs();
                    }
                    if onto == Onto::Add {
                        sum += f64::from(self.start[i * to + j]);
                    }
                    let error = (f64::from(y[i * to + j]) - sum).abs();
                    // The error of sums in f32 over exact products, or over activations of 16 bits.
                    // With 8 bits it would be far larger.
                    let bound = if ["few", "many", "chosen"].contains(&name) {
                        8e-6
                    } else {
                        2e-7
                    };
                    let place = format!("{rows} x {outputs} x {inputs} at {i},{j}");
                    assert!(error < bound * size + 1e-6, "{name}: {place}: {error:.1e}");
                }
            }
        }
    }
}

fn forward_paths() -> Vec<(&'static str, Path)> {
    let mut paths = vec![("skinny", Path::Skinny), ("widened", Path::Widened)];
    if let Some(unit) = tiles::Unit::find() {
        paths.extend([("few", Path::Few(unit)), ("many", Path::Many(unit))]);
    }
    paths
}

#[test]
fn every_path_forward_agrees_with_plain_sums() {
    for (rows, outputs, inputs) in [
        (1, 5, 64),
        (3, 130, 96),
        (7, 33, 7),
        (16, 200, 32),
        (17, 31, 160),
        (45, 257, 64),
        (70, 100, 33),
        (150, 1100, 576),
    ] {
        let case = Case::new(rows, outputs, inputs);
        for (name, path) in forward_paths() {
            if name == "few" && inputs % 32 != 0 {
                continue;
            }
            for threads in [1, 3] {
                case.check(name, true, threads, |y, x, onto| {
                    forward_by(path, y, x, case.matrix(), onto);
                });
            }
        }
        case.check("chosen", true, 2, |y, x, onto| {
            forward(y, x, case.matrix(), onto);
        });
    }
}

#[test]
fn every_path_backward_agrees_with_plain_sums() {
    for (rows, outputs, inputs) in [
        (1, 5, 3),
        (33, 40, 70),
        (64, 576, 31),
        (150, 1100, 96),
        (129, 33, 1030),
    ] {
        let case = Case::new(rows, outputs, inputs);
        for (name, path) in forward_paths() {
            for threads in [1, 3] {
                case.check(name, false, threads, |dx, dy, onto| {
                    backward_by(path, dx, dy, case.matrix(), onto);
                });
            }
        }
        case.check("chosen", false, 2, |dx, dy, onto| {
            backward(dx, dy, case.matrix(), onto);
        });
    }
}

#[test]
fn widening_in_registers_works_with_and_without_vector_instructions() {
    let mut archs = vec![("scalar", Arch::Scalar)];
    archs.extend(pulp::x86::V3::try_new().map(|v3| ("AVX2", Arch::V3(v3))));
    archs.extend(pulp::x86::V4::try_new().map(|v4| ("AVX-512", Arch::V4(v4))));
    for (name, arch) in archs {
        for (rows, outputs, inputs) in [
            (1, 300, 576),
            (2, 5, 34),
            (3, 131, 2),
            (6, 64, 130),
            (9, 7, 31),
        ] {
            let case = Case::new(rows, outputs, inputs);
            case.check(name, true, 2, |y, x, onto| {
                skinny::product_with(arch, y, x, case.matrix(), onto);
            });
        }
    }
}

#[test]
fn nan_comes_out_as_nan() {
    for (name, path) in forward_paths() {
        let mut case = Case::new(5, 40, 64);
        case.x[64 + 3] = f32::NAN;
        let mut y = vec![0.0; 5 * 40];
        forward_by(path, &mut y, &case.x[..5 * 64], case.matrix(), Onto::Set);
        assert!(y[40..80].iter().all(|y| y.is_nan()), "{name}");
        assert!(
            y[..40].iter().chain(&y[80..]).all(|y| y.is_finite()),
            "{name}"
        );
    }
}
