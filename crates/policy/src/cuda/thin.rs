//! Products over a short length that add to activations, as adapters need them, with the kernels of
//! thin.cu.

use super::device::{Device, Launch, args};
use super::error::Result;
use super::product::{Dims, Product};
use crate::precision::Precision;

/// With fewer rows most of the device is idle, whatever computes the product.
const ROWS: usize = 192;
/// Blocks that keep a device busy.
const BLOCKS: usize = 1024;

/// The kernel for a product, if there is one.
pub(super) fn kernel(precision: Precision, product: &Product) -> Option<&'static str> {
    let Product { a, b, c, dims, .. } = *product;
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

/// Rows per block, as many as leave enough blocks, because each block first reads its columns of b.
fn span(rows: usize, across: usize) -> usize {
    (rows * across / BLOCKS).next_multiple_of(16).clamp(16, 256)
}

/// `c += alpha a b`.
pub(super) fn multiply(device: &Device, kernel: &'static str, product: &Product) -> Result<()> {
    let Product {
        a,
        b,
        c,
        dims: Dims(rows, columns, length),
        alpha,
    } = *product;
    let across = columns.div_ceil(256);
    let span = span(rows, across);
    let [sa, sb, sc] = [a.stride, b.stride, c.stride].map(|stride| stride as i32);
    let [height, width, length, step] = [rows, columns, length, span].map(|size| size as i32);
    let transposed = i32::from(b.transposed);
    let arguments = args![
        a.at, b.at, c.at, sa, sb, sc, height, width, length, step, transposed, alpha
    ];
    device.launch(
        kernel,
        Launch::grid(across, rows.div_ceil(span), 1, 128),
        arguments,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::device::Address;
    use crate::cuda::product::{Operand, Target};

    #[test]
    fn only_short_aligned_sums_added_to_activations_are_supported() {
        let a = Operand::rows(Address(256), 16);
        let b = Operand::rows(Address(512), 16).t();
        let to = Target::add(Address(1024), 64);
        let product = |c, dims| Product {
            a,
            b,
            c,
            dims,
            alpha: 1.0,
        };
        let name = |c, dims| kernel(Precision::Bf16, &product(c, dims));
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
        assert_eq!(
            kernel(Precision::F32, &product(to, Dims(300, 64, 16))),
            None
        );
    }

    #[test]
    fn spans_are_whole_fragments() {
        assert_eq!(
            (span(16384, 35), span(300, 1), span(16384, 6)),
            (256, 16, 96)
        );
    }
}
