//! Products with frozen matrices in bf16. Sums, activations and gradients are f32. The matrix unit
//! sees 16 bits of their mantissa.
//!
//! ```text
//! few rows (decoding)           skinny   weights widened in registers, read once
//! a batch of answers            few      tiles of the matrix unit, where there is one; weights read once
//! many rows (prompts, training) many     tiles of the matrix unit, weights packed
//!                               widened  without one: a chunk of weights in f32 at a time
//! ```

mod few;
mod many;
mod matrix;
mod pack;
mod skinny;
mod tiles;
mod widened;

use super::onto::Onto;

pub(super) use matrix::Matrix;

/// Up to this many rows, weights are widened in registers if there is no matrix unit.
const SKINNY: usize = 64;

/// From this many rows on, the matrix unit is used. With up to four rows, widening was about a
/// fifth faster.
const FEW_FROM: usize = 8;

/// Up to this many rows, weights go into the unit without packing.
const FEW: usize = 64;

/// How a product is computed.
#[derive(Clone, Copy)]
enum Path {
    Skinny,
    Widened,
    Few(tiles::Unit),
    Many(tiles::Unit),
}

impl Path {
    fn forward(rows: usize, inputs: usize) -> Self {
        if let Some(unit) = tiles::Unit::find() {
            if rows > FEW {
                return Self::Many(unit);
            }
            if rows >= FEW_FROM && inputs.is_multiple_of(tiles::DEPTH) {
                return Self::Few(unit);
            }
        }
        if rows <= SKINNY {
            Self::Skinny
        } else {
            Self::Widened
        }
    }

    fn backward() -> Self {
        tiles::Unit::find().map_or(Self::Widened, Self::Many)
    }
}

/// `y = x w^T`, or added to y.
pub(super) fn forward(y: &mut [f32], x: &[f32], w: Matrix, onto: Onto) {
    let path = Path::forward(x.len() / w.inputs, w.inputs);
    forward_by(path, y, x, w, onto);
}

/// `dx = dy w`, or added to dx.
pub(super) fn backward(dx: &mut [f32], dy: &[f32], w: Matrix, onto: Onto) {
    backward_by(Path::backward(), dx, dy, w, onto);
}

fn forward_by(path: Path, y: &mut [f32], x: &[f32], w: Matrix, onto: Onto) {
    let rows = x.len() / w.inputs;
    assert_eq!(
        (x.len(), y.len()),
        (rows * w.inputs, rows * w.outputs),
        "x and y do not fit the matrix"
    );
    assert_eq!(
        w.data.len(),
        w.outputs * w.inputs,
        "the matrix has another size"
    );
    match path {
        Path::Skinny => skinny::product(y, x, w, onto),
        Path::Widened => widened::forward(y, x, w, onto),
        Path::Few(unit) => few::product(unit, y, x, w, onto),
        Path::Many(unit) => many::product(unit, many::Way::Forward, y, x, w, onto),
    }
}

fn backward_by(path: Path, dx: &mut [f32], dy: &[f32], w: Matrix, onto: Onto) {
    let rows = dy.len() / w.outputs;
    assert_eq!(
        (dy.len(), dx.len()),
        (rows * w.outputs, rows * w.inputs),
        "dy and dx do not fit the matrix"
    );
    assert_eq!(
        w.data.len(),
        w.outputs * w.inputs,
        "the matrix has another size"
    );
    match path {
        Path::Many(unit) => many::product(unit, many::Way::Back, dx, dy, w, onto),
        _ => widened::backward(dx, dy, w, onto),
    }
}

#[cfg(test)]
mod tests;
