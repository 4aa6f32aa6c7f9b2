//! Elements of a buffer as numbers, and the distance of two buffers.

use hotloop_flow::interface::Kind;

use crate::cpu::verify::found::within;

#[expect(unsafe_code, reason = "words are bytes too")]
pub(super) fn as_bytes(values: &[u64], length: usize) -> &[u8] {
    // SAFETY: every byte of a word is a valid byte, and the middle part contains all of them.
    let (_, bytes, _) = unsafe { values.align_to::<u8>() };
    &bytes[..length]
}

/// Element `index` of a buffer as a double. Exact for every kind but large 64-bit integers.
pub(super) fn number(kind: Kind, bytes: &[u8], index: usize) -> f64 {
    let chunk = &bytes[index * kind.bytes()..(index + 1) * kind.bytes()];
    match kind {
        Kind::F64 => f64::from_ne_bytes(chunk.try_into().expect("eight bytes")),
        Kind::F32 => f64::from(f32::from_ne_bytes(chunk.try_into().expect("four bytes"))),
        Kind::I32 => f64::from(i32::from_ne_bytes(chunk.try_into().expect("four bytes"))),
        Kind::I64 => i64::from_ne_bytes(chunk.try_into().expect("eight bytes")) as f64,
        Kind::F16 | Kind::Bf16 => unreachable!("a C task has no {kind}"),
    }
}

/// The worst error of a buffer relative to the elements' scales, and which element has it.
pub(super) fn worst(kind: Kind, got: &[u8], want: &[u8], scale: &[f64]) -> (f64, usize) {
    match kind {
        Kind::F64 => worst_of(got, want, scale, |got, want| {
            (f64::from_ne_bytes(got) - f64::from_ne_bytes(want)).abs()
        }),
        Kind::F32 => worst_of(got, want, scale, |got, want| {
            (f64::from(f32::from_ne_bytes(got)) - f64::from(f32::from_ne_bytes(want))).abs()
        }),
        Kind::I32 => worst_of(got, want, scale, |got, want| {
            f64::from(i32::from_ne_bytes(got).abs_diff(i32::from_ne_bytes(want)))
        }),
        // Exact where a double would not be.
        Kind::I64 => worst_of(got, want, scale, |got, want| {
            i64::from_ne_bytes(got).abs_diff(i64::from_ne_bytes(want)) as f64
        }),
        Kind::F16 | Kind::Bf16 => unreachable!("a C task has no {kind}"),
    }
}

/// The same for elements of `BYTES` bytes with the difference `off`. Each kind has its own loop,
/// because every element of every call is compared.
fn worst_of<const BYTES: usize>(
    got: &[u8],
    want: &[u8],
    scale: &[f64],
    off: impl Fn([u8; BYTES], [u8; BYTES]) -> f64,
) -> (f64, usize) {
    let mut worst = (0.0, 0);
    let pairs = got.as_chunks().0.iter().zip(want.as_chunks().0);
    for (index, ((got, want), scale)) in pairs.zip(scale).enumerate() {
        let off = off(*got, *want);
        let error = if off == 0.0 { 0.0 } else { off / scale };
        if !within(error, worst.0) {
            worst = (if error.is_nan() { f64::INFINITY } else { error }, index);
            if worst.0 == f64::INFINITY {
                break;
            }
        }
    }
    worst
}
