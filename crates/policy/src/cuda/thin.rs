//! Products over a short length that add to activations, as adapters need them: the kernels of thin.cu.

use super::blas::{Dims, Operand, Target};
use super::device::{Device, Launch, args};
use super::error::Result;
use crate::Precision;

/// Fewer rows than this leave most of the device idle, whoever multiplies.
const ROWS: usize = 192;
/// Blocks that keep a device busy.
const BLOCKS: usize = 1024;

/// The kernel for a product, if it is one of these.
pub(super) fn kernel(
    precision: Precision,
    a: Operand,
    b: Operand,
    c: Target,
    dims: Dims,
) -> Option<&'static str> {
    let Dims(rows, columns, length) = dims;
    let adds = precision == Precision::Bf16 && c.add && !c.wide && !a.transposed && rows >= ROWS;
    let eights = [columns, length, a.stride, b.stride, c.stride]
        .iter()
        .all(|size| size.is_multiple_of(8));
    let places = [a.at, b.at, c.at].iter().all(|at| at.0.is_multiple_of(16));
    match length {
        _ if !(adds && eights && places) => None,
        0..=16 => Some("thin_product_16"),
        17..=32 => Some("thin_product_32"),
        33..=64 => Some("thin_product_64"),
        _ => None,
    }
}

/// Rows of a block: as many as leave enough blocks, since each begins by reading its columns of b.
fn span(rows: usize, across: usize) -> usize {
    (rows * across / BLOCKS).next_multiple_of(16).clamp(16, 256)
}

/// `c += alpha a b`.
pub(super) fn product(
    (device, name): (&Device, &'static str),
    a: Operand,
    b: Operand,
    c: Target,
    Dims(rows, columns, length): Dims,
    alpha: f32,
) -> Result<()> {
    let across = columns.div_ceil(256);
    let span = span(rows, across);
    let [sa, sb, sc] = [a.stride, b.stride, c.stride].map(|stride| stride as i32);
    let (height, width, length, transposed) = (
        rows as i32,
        columns as i32,
        length as i32,
        i32::from(b.transposed),
    );
    let step = span as i32;
    let arguments = args![
        a.at, b.at, c.at, sa, sb, sc, height, width, length, step, transposed, alpha
    ];
    device.launch(
        name,
        Launch::grid(across, rows.div_ceil(span), 1, 128),
        arguments,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::device::Address;

    #[test]
    fn only_short_aligned_sums_onto_activations_are_taken() {
        let (a, b) = (
            Operand::rows(Address(256), 16),
            Operand::rows(Address(512), 16).t(),
        );
        let to = Target::add(Address(1024), 64);
        let name = |c, dims| kernel(Precision::Bf16, a, b, c, dims);
        assert_eq!(name(to, Dims(300, 64, 16)), Some("thin_product_16"));
        assert_eq!(name(to, Dims(300, 64, 48)), Some("thin_product_64"));
        assert_eq!(name(to, Dims(300, 64, 72)), None, "a long sum");
        assert_eq!(name(to, Dims(8, 64, 16)), None, "few rows");
        assert_eq!(
            name(Target::set(Address(1024), 64), Dims(300, 64, 16)),
            None,
            "nothing to add to"
        );
        assert_eq!(
            name(Target::add(Address(1026), 64), Dims(300, 64, 16)),
            None,
            "off the grid of 16 bytes"
        );
        assert_eq!(kernel(Precision::F32, a, b, to, Dims(300, 64, 16)), None);
    }

    #[test]
    fn spans_are_whole_fragments() {
        assert_eq!(
            (span(16384, 35), span(300, 1), span(16384, 6)),
            (256, 16, 96)
        );
    }
}
