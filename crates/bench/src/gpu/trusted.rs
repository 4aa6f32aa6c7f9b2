//! The examiner's own kernels (`trusted.cu`), as functions.

use hotloop_flow::interface::Kind;

use crate::gpu::driver::{Address, Failure, Geometry, Gpu, Kernel};

/// The source, to be compiled like any device half, but without rules.
pub(crate) const SOURCE: &str = include_str!("trusted.cu");
/// Its kernels.
pub(crate) const NAMES: [&str; 18] = [
    "hl_draw",
    "hl_same",
    "hl_equal",
    "hl_signs",
    "hl_count_rows",
    "hl_begin_rows",
    "hl_columns",
    "hl_fill",
    "hl_guard",
    "hl_intact",
    "hl_filled",
    "hl_sweep",
    TOUCH,
    "hl_compare",
    "hl_compare_apart",
    "hl_nothing",
    "hl_copy",
    MULTIPLY_ADD,
];
/// What a runner uses of them.
pub(crate) const TOUCH: &str = "hl_touch";
const MULTIPLY_ADD: &str = "hl_multiply_add";

const THREADS: u32 = 256;
/// Chains of `hl_multiply_add`, with two operations a link.
const OPERATIONS: u32 = 16;

/// How the numbers of an input lie in their range. All but the first are inputs on which shortcuts
/// fail that are right for uniform ones. Numbers on a grid of sixteen have few digits, so that
/// honest sums of them round little. All lie about the middle of their range, as uniform ones do:
/// bounds are measured on sums that stay small beside the magnitudes of their terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Uniform = 0,
    /// Half are one number near an end of the grid or its mirror image, the others on the grid.
    Frequent = 1,
    /// So small that they vanish beside others, where the range holds such numbers.
    Tiny = 2,
    /// The ends of the grid.
    Extremes = 3,
    /// On the grid, so that many are equal.
    Ties = 4,
    /// How near a number lies to the middle of the range follows from each bit of its place: one
    /// scale for all numbers leaves few digits for most.
    Uneven = 5,
    /// Uniform but for a few lines, whose numbers are all small. Whoever looks at a part of the
    /// numbers takes all for uniform.
    Rare = 6,
}

impl Shape {
    /// In an order in which neighbours differ most.
    pub(crate) const HOSTILE: [Self; 6] = [
        Self::Frequent,
        Self::Uneven,
        Self::Tiny,
        Self::Rare,
        Self::Extremes,
        Self::Ties,
    ];
}

/// How numbers of an input are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Drawing {
    pub(crate) shape: Shape,
    pub(crate) kind: Kind,
    pub(crate) elements: u64,
    pub(crate) key: u64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) lines: [Lines; 2],
}

/// Numbers at the same place of one dimension are a line. The dimension has a stride and a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) stride: u64,
    pub(crate) length: u64,
}

impl Lines {
    /// Shorter dimensions have none: a line would be a large part of all numbers.
    const LEAST: u64 = 8;
    const NONE: Self = Self {
        stride: 1,
        length: 1,
    };

    /// Those of two dimensions, or of the only one that is long. `key` chooses among more.
    pub(crate) fn of(shape: &[u64], key: u64) -> [Self; 2] {
        let mut stride = 1;
        let mut long = Vec::new();
        for length in shape.iter().rev() {
            let length = (*length).max(1);
            if length >= Self::LEAST {
                long.push(Self { stride, length });
            }
            stride *= length;
        }
        let first = (key >> 48) as usize;
        match long.len() {
            0 => [Self::NONE; 2],
            1 => [long[0], Self::NONE],
            count => [long[first % count], long[(first + 1) % count]],
        }
    }
}

/// An output of any type and any strides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Apart {
    /// The type's number in `trusted.cu`.
    pub(crate) number: i32,
    pub(crate) at: Address,
    /// Where its lengths and then its strides lie, in elements.
    pub(crate) layout: Address,
    pub(crate) dimensions: i32,
    pub(crate) elements: u64,
    /// The scale of an element: the size of what is right times the first, and the second.
    pub(crate) scale: (f64, f64),
}

/// Guards around a buffer: a slot of `bytes`, of which `[from, to)` is the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Guards {
    pub(crate) slot: Address,
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) bytes: u64,
}

/// The kernels, loaded into a context.
pub(crate) struct Kernels {
    blocks: u32,
    loaded: Vec<(&'static str, Kernel)>,
}

impl Kernels {
    /// Loads what [`SOURCE`] was compiled to.
    pub(crate) fn load(gpu: &Gpu, cubin: &[u8], multiprocessors: u32) -> Result<Self, Failure> {
        let module = gpu.load(cubin)?;
        let loaded = NAMES
            .into_iter()
            .map(|name| Ok((name, gpu.kernel(module, name)?)))
            .collect::<Result<_, Failure>>()?;
        Ok(Self {
            blocks: 8 * multiprocessors.max(1),
            loaded,
        })
    }

    /// Launches with one thread for each of `items`, or a grid that fills the GPU.
    fn launch(
        &self,
        gpu: &Gpu,
        name: &str,
        items: u64,
        arguments: &mut [Vec<u8>],
    ) -> Result<(), Failure> {
        let (_, kernel) = self
            .loaded
            .iter()
            .find(|(loaded, _)| *loaded == name)
            .expect("every name is loaded");
        let blocks = items
            .div_ceil(u64::from(THREADS))
            .clamp(1, u64::from(self.blocks));
        gpu.launch(*kernel, &Geometry::row(blocks as u32, THREADS), arguments)
    }

    fn drawn(
        gpu: &Gpu,
        this: &Self,
        name: &str,
        at: Address,
        drawing: &Drawing,
        more: &[u64],
    ) -> Result<(), Failure> {
        let mut arguments = vec![
            (drawing.shape as i32).to_ne_bytes().to_vec(),
            number_of(drawing.kind).to_ne_bytes().to_vec(),
            word(at),
            word(drawing.elements),
            word(drawing.key),
            drawing.low.to_ne_bytes().to_vec(),
            drawing.high.to_ne_bytes().to_vec(),
        ];
        for lines in drawing.lines {
            arguments.extend([word(lines.stride), word(lines.length)]);
        }
        arguments.extend(more.iter().copied().map(word));
        this.launch(gpu, name, drawing.elements.div_ceil(2), &mut arguments)
    }

    pub(crate) fn draw(&self, gpu: &Gpu, to: Address, drawing: &Drawing) -> Result<(), Failure> {
        Self::drawn(gpu, self, "hl_draw", to, drawing, &[])
    }

    /// Sets the word at `changed` if the memory differs from what was drawn.
    pub(crate) fn same(
        &self,
        gpu: &Gpu,
        from: Address,
        drawing: &Drawing,
        changed: Address,
    ) -> Result<(), Failure> {
        Self::drawn(gpu, self, "hl_same", from, drawing, &[changed])
    }

    pub(crate) fn equal(
        &self,
        gpu: &Gpu,
        (a, b): (Address, Address),
        bytes: u64,
        changed: Address,
    ) -> Result<(), Failure> {
        let mut arguments = [word(a), word(b), word(bytes), word(changed)];
        self.launch(gpu, "hl_equal", bytes, &mut arguments)
    }

    pub(crate) fn signs(
        &self,
        gpu: &Gpu,
        to: Address,
        count: u64,
        key: u64,
    ) -> Result<(), Failure> {
        self.launch(
            gpu,
            "hl_signs",
            count,
            &mut [word(to), word(count), word(key)],
        )
    }

    /// Row pointers of a sparse matrix with `entries`, rows of unequal length. If `heavy` is not 0,
    /// about as many rows hold half of the entries.
    pub(crate) fn row_pointers(
        &self,
        gpu: &Gpu,
        to: Address,
        (rows, entries): (u64, u64),
        key: u64,
        heavy: u64,
    ) -> Result<(), Failure> {
        gpu.set(to, &[0; 4], 4 * (rows + 1))?;
        let mut arguments = [word(to), word(rows), word(entries), word(key), word(heavy)];
        self.launch(gpu, "hl_count_rows", entries, &mut arguments)?;
        self.launch(gpu, "hl_begin_rows", 1, &mut [word(to), word(rows)])
    }

    /// Columns of a sparse matrix with these row pointers. If they are `crowded`, those of a row lie
    /// near each other.
    pub(crate) fn columns(
        &self,
        gpu: &Gpu,
        (to, rows_at): (Address, Address),
        (rows, columns): (u64, u64),
        key: u64,
        crowded: bool,
    ) -> Result<(), Failure> {
        let mut arguments = [
            word(to),
            word(rows_at),
            word(rows),
            word(columns),
            word(key),
            word(u64::from(crowded)),
        ];
        self.launch(gpu, "hl_columns", rows, &mut arguments)
    }

    pub(crate) fn fill(
        &self,
        gpu: &Gpu,
        to: Address,
        bytes: u64,
        pattern: u64,
    ) -> Result<(), Failure> {
        let mut arguments = [word(to), word(bytes), word(pattern)];
        self.launch(gpu, "hl_fill", bytes / 8, &mut arguments)
    }

    pub(crate) fn guard(&self, gpu: &Gpu, guards: &Guards, pattern: u64) -> Result<(), Failure> {
        let Guards {
            slot,
            from,
            to,
            bytes,
        } = *guards;
        let mut arguments = [word(slot), word(from), word(to), word(bytes), word(pattern)];
        self.launch(gpu, "hl_guard", from + bytes - to, &mut arguments)
    }

    pub(crate) fn intact(
        &self,
        gpu: &Gpu,
        guards: &Guards,
        pattern: u64,
        broken: Address,
    ) -> Result<(), Failure> {
        let Guards {
            slot,
            from,
            to,
            bytes,
        } = *guards;
        let mut arguments = [
            word(slot),
            word(from),
            word(to),
            word(bytes),
            word(pattern),
            word(broken),
        ];
        self.launch(gpu, "hl_intact", from + bytes - to, &mut arguments)
    }

    pub(crate) fn filled(
        &self,
        gpu: &Gpu,
        from: Address,
        bytes: u64,
        pattern: u64,
        broken: Address,
    ) -> Result<(), Failure> {
        let mut arguments = [word(from), word(bytes / 8), word(pattern), word(broken)];
        self.launch(gpu, "hl_filled", bytes / 8, &mut arguments)
    }

    pub(crate) fn sweep(&self, gpu: &Gpu, scratch: Address, bytes: u64) -> Result<(), Failure> {
        let mut arguments = [
            word(scratch),
            word(bytes / 16),
            1.0f32.to_ne_bytes().to_vec(),
        ];
        self.launch(gpu, "hl_sweep", bytes / 16, &mut arguments)
    }

    pub(crate) fn compare(
        &self,
        gpu: &Gpu,
        (kind, got): (Kind, Address),
        (want, scale): (Address, Address),
        count: u64,
        found: Address,
    ) -> Result<(), Failure> {
        let kind = number_of(kind).to_ne_bytes().to_vec();
        let mut arguments = [
            kind,
            word(got),
            word(want),
            word(scale),
            word(count),
            word(found),
        ];
        self.launch(gpu, "hl_compare", count, &mut arguments)
    }

    /// Compares an output with what is right, which lies in order.
    pub(crate) fn compare_apart(
        &self,
        gpu: &Gpu,
        output: &Apart,
        want: Address,
        found: Address,
    ) -> Result<(), Failure> {
        let mut arguments = [
            output.number.to_ne_bytes().to_vec(),
            word(output.at),
            word(output.layout),
            output.dimensions.to_ne_bytes().to_vec(),
            word(want),
            output.scale.0.to_ne_bytes().to_vec(),
            output.scale.1.to_ne_bytes().to_vec(),
            word(output.elements),
            word(found),
        ];
        self.launch(gpu, "hl_compare_apart", output.elements, &mut arguments)
    }

    pub(crate) fn nothing(&self, gpu: &Gpu) -> Result<(), Failure> {
        self.launch(gpu, "hl_nothing", 1, &mut [])
    }

    pub(crate) fn copy(
        &self,
        gpu: &Gpu,
        to: Address,
        from: Address,
        bytes: u64,
    ) -> Result<(), Failure> {
        let mut arguments = [word(to), word(from), word(bytes / 16)];
        self.launch(gpu, "hl_copy", bytes / 16, &mut arguments)
    }

    /// Multiplies and adds on the whole GPU; returns the number of operations.
    pub(crate) fn multiply_add(&self, gpu: &Gpu, to: Address, rounds: u32) -> Result<f64, Failure> {
        let number = |value: f32| value.to_ne_bytes().to_vec();
        let mut arguments = [
            word(to),
            rounds.to_ne_bytes().to_vec(),
            number(0.999),
            number(0.5),
        ];
        let threads = u64::from(self.blocks) * u64::from(THREADS);
        self.launch(gpu, MULTIPLY_ADD, threads, &mut arguments)?;
        Ok(threads as f64 * f64::from(rounds) * f64::from(OPERATIONS))
    }
}

fn word(value: u64) -> Vec<u8> {
    value.to_ne_bytes().to_vec()
}

/// The number of a type in `trusted.cu`.
fn number_of(kind: Kind) -> i32 {
    match kind {
        Kind::F64 => 0,
        Kind::F32 => 1,
        Kind::F16 => 2,
        Kind::Bf16 => 3,
        Kind::I32 => 4,
        Kind::I64 => 5,
    }
}

/// Words of what a comparison finds in memory, which begins as zeros.
pub(crate) const FOUND_WORDS: usize = 3;

/// What a comparison found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Found {
    /// The largest error in units of the scale; infinite for what is no number.
    pub(crate) error: f64,
    /// Where it is.
    pub(crate) index: u64,
    /// The reference itself is no number somewhere.
    pub(crate) reference_broken: bool,
    /// Numbers that were compared.
    pub(crate) compared: u64,
}

impl Found {
    pub(crate) fn read(words: &[u64]) -> Self {
        let [worst, broken, compared] = [words[0], words[1], words[2]];
        Self {
            error: f64::from(f32::from_bits((worst >> 32) as u32)),
            index: u64::from(u32::MAX - worst as u32),
            reference_broken: broken != 0,
            compared,
        }
    }
}

/// A pattern that is NaN in every type with fractions and differs from run to run; for integers any
/// pattern will do.
pub(crate) fn poison(kind: Kind, random: u64) -> u64 {
    let repeated =
        |bits: u64, width: u32| (0..64 / width).fold(0, |all, at| all | bits << (at * width));
    match kind {
        Kind::F64 => 0x7ff4_0000_0000_0000 | random >> 14,
        Kind::F32 => repeated(0x7fa0_0000 | random >> 44, 32),
        Kind::F16 => repeated(0x7d00 | random >> 56, 16),
        Kind::Bf16 => repeated(0x7fa0 | random >> 59, 16),
        Kind::I32 => repeated(random >> 32, 32),
        Kind::I64 => random,
    }
}

/// A pattern that is NaN at every place of every type with fractions, for memory whose type is not
/// known. No byte of it is 0 or 1.
pub(crate) fn poison_of_any(random: u64) -> u64 {
    0x7ff2_7ff2_7ff2_7ff2 | random & 0x000d_000d_000d_000d
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poison_of_any_type_is_no_number_at_any_place() {
        for random in [0, u64::MAX, 0x1234_5678_9abc_def0] {
            let bytes = poison_of_any(random).to_le_bytes();
            assert!(f64::from_le_bytes(bytes).is_nan());
            let singles = bytes.as_chunks::<4>().0.iter();
            assert!(
                singles
                    .into_iter()
                    .all(|it| f32::from_le_bytes(*it).is_nan())
            );
            for word in bytes.as_chunks::<2>().0 {
                let word = u16::from_le_bytes(*word);
                let is_nan =
                    |exponent: u16| word & exponent == exponent && word & !exponent & 0x7fff != 0;
                assert!(is_nan(0x7c00) && is_nan(0x7f80), "{word:x}");
            }
            assert!(bytes.iter().all(|byte| *byte > 1));
        }
    }

    #[test]
    fn poison_is_no_number_in_any_type_with_fractions() {
        for random in [0, 1, u64::MAX, 0x0123_4567_89ab_cdef] {
            assert!(f64::from_bits(poison(Kind::F64, random)).is_nan());
            assert!(f32::from_bits(poison(Kind::F32, random) as u32).is_nan());
            let half = poison(Kind::F16, random) as u16;
            assert!(half & 0x7c00 == 0x7c00 && half & 0x3ff != 0);
            let upper = u32::from(poison(Kind::Bf16, random) as u16) << 16;
            assert!(f32::from_bits(upper).is_nan());
        }
        assert_ne!(poison(Kind::F32, 1 << 50), poison(Kind::F32, 2 << 50));
    }

    #[test]
    fn lines_are_those_of_long_dimensions() {
        let lines = |shape: &[u64], key: u64| {
            Lines::of(shape, key << 48).map(|lines| (lines.stride, lines.length))
        };
        assert_eq!(lines(&[70, 50], 0), [(1, 50), (50, 70)]);
        assert_eq!(lines(&[70, 50], 1), [(50, 70), (1, 50)]);
        assert_eq!(lines(&[32, 16, 3, 3], 5), [(144, 32), (9, 16)]);
        assert_eq!(lines(&[9, 1, 7], 3), [(7, 9), (1, 1)]);
        assert_eq!(lines(&[], 3), [(1, 1); 2]);
    }

    #[test]
    fn a_finding_is_an_error_and_its_place() {
        let worst = u64::from(2.5f32.to_bits()) << 32 | u64::from(u32::MAX - 7);
        let found = Found::read(&[worst, 0, 9]);
        assert_eq!((found.error, found.index, found.compared), (2.5, 7, 9));
        assert!(!found.reference_broken);
    }
}
