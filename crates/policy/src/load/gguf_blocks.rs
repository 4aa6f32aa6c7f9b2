//! The block formats of GGUF, turned into f32.
//!
//! A block holds 32 or 256 values as small integers with shared scales. In the K formats each of
//! eight groups of 32 has its own 6-bit scale and minimum, packed into twelve bytes.

use half::{bf16, f16};

/// A block format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    F32,
    F16,
    Bf16,
    Q4_0,
    Q4_1,
    Q5_0,
    Q8_0,
    Q4K,
    Q5K,
    Q6K,
}

impl Block {
    /// The format with GGML's number `id`.
    pub(super) fn from_id(id: u32) -> Option<Self> {
        Some(match id {
            0 => Self::F32,
            1 => Self::F16,
            2 => Self::Q4_0,
            3 => Self::Q4_1,
            6 => Self::Q5_0,
            8 => Self::Q8_0,
            12 => Self::Q4K,
            13 => Self::Q5K,
            14 => Self::Q6K,
            30 => Self::Bf16,
            _ => return None,
        })
    }

    /// Its usual name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::F32 => "F32",
            Self::F16 => "F16",
            Self::Bf16 => "BF16",
            Self::Q4_0 => "Q4_0",
            Self::Q4_1 => "Q4_1",
            Self::Q5_0 => "Q5_0",
            Self::Q8_0 => "Q8_0",
            Self::Q4K => "Q4_K",
            Self::Q5K => "Q5_K",
            Self::Q6K => "Q6_K",
        }
    }

    /// Values in a block.
    pub(super) fn values(self) -> usize {
        match self {
            Self::F32 | Self::F16 | Self::Bf16 => 1,
            Self::Q4_0 | Self::Q4_1 | Self::Q5_0 | Self::Q8_0 => 32,
            Self::Q4K | Self::Q5K | Self::Q6K => 256,
        }
    }

    /// Bytes of a block.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::Q4_0 => 18,
            Self::Q4_1 => 20,
            Self::Q5_0 => 22,
            Self::Q8_0 => 34,
            Self::Q4K => 144,
            Self::Q5K => 176,
            Self::Q6K => 210,
        }
    }

    /// The values of whole blocks.
    pub(super) fn dequantise(self, bytes: &[u8]) -> Vec<f32> {
        let mut out = Vec::with_capacity(bytes.len() / self.bytes() * self.values());
        for block in bytes.chunks_exact(self.bytes()) {
            match self {
                Self::F32 => out.push(f32::from_le_bytes([block[0], block[1], block[2], block[3]])),
                Self::F16 => out.push(half(block, 0)),
                Self::Bf16 => out.push(bf16::from_le_bytes([block[0], block[1]]).to_f32()),
                Self::Q4_0 => q4(half(block, 0), -8.0 * half(block, 0), &block[2..], &mut out),
                Self::Q4_1 => q4(half(block, 0), half(block, 2), &block[4..], &mut out),
                Self::Q5_0 => q5_0(block, &mut out),
                Self::Q8_0 => out.extend(
                    block[2..]
                        .iter()
                        .map(|&q| half(block, 0) * f32::from(q.cast_signed())),
                ),
                Self::Q4K => k_quants(block, None, &block[16..], &mut out),
                Self::Q5K => k_quants(block, Some(&block[16..48]), &block[48..], &mut out),
                Self::Q6K => q6k(block, &mut out),
            }
        }
        out
    }
}

fn half(block: &[u8], at: usize) -> f32 {
    f16::from_le_bytes([block[at], block[at + 1]]).to_f32()
}

/// 32 four-bit values: the low halves of sixteen bytes, then their high halves.
fn q4(scale: f32, offset: f32, nibbles: &[u8], out: &mut Vec<f32>) {
    out.extend(nibbles.iter().map(|q| f32::from(q & 15) * scale + offset));
    out.extend(nibbles.iter().map(|q| f32::from(q >> 4) * scale + offset));
}

/// Four bits as in `q4`, the fifth from a word of 32 bits.
fn q5_0(block: &[u8], out: &mut Vec<f32>) {
    let scale = half(block, 0);
    let fifth = u32::from_le_bytes([block[2], block[3], block[4], block[5]]);
    for i in 0..32 {
        let byte = block[6 + i % 16];
        let low = if i < 16 { byte & 15 } else { byte >> 4 };
        let bit = ((fifth >> i) & 1) as u8;
        out.push(scale * (f32::from(low | (bit << 4)) - 16.0));
    }
}

/// Scale and minimum of a group of 32, six bits each, from the twelve packed bytes.
fn scale_and_minimum(packed: &[u8], group: usize) -> (f32, f32) {
    let (scale, minimum) = if group < 4 {
        (packed[group] & 63, packed[group + 4] & 63)
    } else {
        let (shared, high_scale, high_minimum) =
            (packed[group + 4], packed[group - 4], packed[group]);
        (
            (shared & 15) | (high_scale >> 6 << 4),
            (shared >> 4) | (high_minimum >> 6 << 4),
        )
    };
    (f32::from(scale), f32::from(minimum))
}

/// `Q4_K` and `Q5_K`: groups in pairs share 32 bytes, one the low halves, the next the high ones.
fn k_quants(block: &[u8], fifth: Option<&[u8]>, nibbles: &[u8], out: &mut Vec<f32>) {
    let (scale, minimum) = (half(block, 0), half(block, 2));
    for group in 0..8 {
        let (group_scale, group_minimum) = scale_and_minimum(&block[4..16], group);
        let bytes = &nibbles[group / 2 * 32..][..32];
        for (i, byte) in bytes.iter().enumerate() {
            let low = if group % 2 == 0 { byte & 15 } else { byte >> 4 };
            let bit = fifth.map_or(0, |bits| (bits[i] >> group) & 1);
            out.push(scale * group_scale * f32::from(low | (bit << 4)) - minimum * group_minimum);
        }
    }
}

/// Six bits: four from `low` and two from `high`, with one signed scale per 16 values.
fn q6k(block: &[u8], out: &mut Vec<f32>) {
    let (low, high, scales) = (&block[..128], &block[128..192], &block[192..208]);
    let scale = half(block, 208);
    for i in 0..256 {
        // Each half of 128 values uses 64 low bytes and 32 high bytes, in four runs of 32.
        let (part, run, lane) = (i / 128, i % 128 / 32, i % 32);
        let byte = low[part * 64 + run % 2 * 32 + lane];
        let four = if run < 2 { byte & 15 } else { byte >> 4 };
        let two = (high[part * 32 + lane] >> (2 * run)) & 3;
        let group = scales[part * 8 + run * 2 + lane / 16].cast_signed();
        out.push(scale * f32::from(group) * (f32::from(four | (two << 4)) - 32.0));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use safetensors::SafeTensors;

    use super::*;

    #[test]
    fn every_format_agrees_with_the_gguf_package() {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/gguf_blocks.safetensors");
        let bytes = fs_err::read(path).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let formats = [
            ("F16", 1),
            ("BF16", 30),
            ("Q4_0", 2),
            ("Q4_1", 3),
            ("Q5_0", 6),
            ("Q8_0", 8),
            ("Q4_K", 12),
            ("Q5_K", 13),
            ("Q6_K", 14),
        ];
        for (name, id) in formats {
            let raw = file.tensor(&format!("{name}.raw")).unwrap();
            let wanted = file.tensor(&format!("{name}.values")).unwrap();
            let wanted: Vec<f32> = Block::F32.dequantise(wanted.data());
            let found = Block::from_id(id).unwrap().dequantise(raw.data());
            assert_eq!(found.len(), wanted.len(), "{name}");
            for (found, wanted) in found.iter().zip(&wanted) {
                // They differ by at most one rounding, because the order of the multiplications is
                // free.
                assert!(
                    (found - wanted).abs() <= 4e-7 * wanted.abs().max(1e-3),
                    "{name}: {found} against {wanted}"
                );
            }
        }
    }
}
