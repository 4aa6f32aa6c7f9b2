//! Fresh, unpredictable inputs. A candidate that could predict them could compute ahead.

use chacha20::rand_core::block::Generator;
use chacha20::rand_core::{Rng, SeedableRng};
use chacha20::variants::Legacy;
use chacha20::{ChaCha8Rng, ChaChaCore, R8};

use hotloop_flow::formula::{self, Sizes};
use hotloop_flow::interface::{Arg, Fill, Kind};

/// Words that the generator's core produces at once.
const WORDS: usize = 64;

/// A generator seeded by the operating system.
pub(crate) struct Fresh {
    rng: ChaCha8Rng,
}

impl Fresh {
    /// A generator whose seed nobody knows.
    pub(crate) fn from_system() -> std::io::Result<Self> {
        let mut seed = [0; 32];
        std::io::Read::read_exact(&mut fs_err::File::open("/dev/urandom")?, &mut seed)?;
        Ok(Self {
            rng: ChaCha8Rng::from_seed(seed),
        })
    }

    /// A generator with a known seed, for tests.
    #[cfg(test)]
    pub(crate) fn from_seed(seed: u8) -> Self {
        Self {
            rng: ChaCha8Rng::from_seed([seed; 32]),
        }
    }

    /// Another generator, which cannot be predicted from this one.
    pub(crate) fn fork(&mut self) -> Self {
        Self {
            rng: ChaCha8Rng::from_seed(self.seed()),
        }
    }

    fn seed(&mut self) -> [u8; 32] {
        let mut seed = [0; 32];
        self.rng.fill_bytes(&mut seed);
        seed
    }

    /// Fills with `number` of `EACH` random words per element. The words come straight from the
    /// core. Going through the generator's own buffer and converting in a second pass takes longer,
    /// and every run of every candidate draws new inputs.
    fn numbers<const BYTES: usize, const EACH: usize>(
        &mut self,
        bytes: &mut [u8],
        number: impl Fn([u32; EACH]) -> [u8; BYTES],
    ) {
        let mut core = ChaChaCore::<R8, Legacy>::from_seed(self.seed());
        let mut words = [0; WORDS];
        for part in bytes.chunks_mut(WORDS / EACH * BYTES) {
            core.generate(&mut words);
            for (place, drawn) in part.as_chunks_mut().0.iter_mut().zip(words.as_chunks().0) {
                *place = number(*drawn);
            }
        }
    }

    /// A random word.
    pub(crate) fn word(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// A random index below `end`.
    pub(crate) fn index(&mut self, end: usize) -> usize {
        // The bias of a 64-bit remainder is negligible here.
        (self.word() % end.max(1) as u64) as usize
    }

    /// Fills with doubles, uniform in `[low, high)`.
    pub(crate) fn doubles(&mut self, bytes: &mut [u8], low: f64, high: f64) {
        let width = high - low;
        self.numbers(bytes, |[first, second]: [u32; 2]| {
            let random = u64::from(first) | u64::from(second) << 32;
            // 52 random bits behind the exponent of 1.0: uniform in [1, 2).
            let unit = f64::from_bits(random >> 12 | 0x3ff0_0000_0000_0000) - 1.0;
            (low + width * unit).to_ne_bytes()
        });
    }

    fn uniform(&mut self, kind: Kind, bytes: &mut [u8], low: f64, high: f64) {
        match kind {
            Kind::F64 => self.doubles(bytes, low, high),
            Kind::F32 => self.numbers(bytes, |[random]: [u32; 1]| {
                let unit = f32::from_bits(random >> 9 | 0x3f80_0000) - 1.0;
                (low as f32 + (high - low) as f32 * unit).to_ne_bytes()
            }),
            Kind::I32 => {
                for chunk in bytes.as_chunks_mut::<4>().0 {
                    *chunk = (low as i32 + self.index((high - low) as usize) as i32).to_ne_bytes();
                }
            }
            Kind::I64 => {
                for chunk in bytes.as_chunks_mut::<8>().0 {
                    *chunk = (low as i64 + self.index((high - low) as usize) as i64).to_ne_bytes();
                }
            }
            Kind::F16 | Kind::Bf16 => {
                for chunk in bytes.as_chunks_mut::<2>().0 {
                    let mut drawn = [0; 8];
                    self.doubles(&mut drawn, low, high);
                    *chunk = half_bytes(kind, f64::from_ne_bytes(drawn));
                }
            }
        }
    }

    /// Row pointers with rows of different lengths. Each entry goes to a random row.
    fn row_pointers(&mut self, bytes: &mut [u8], entries: usize) {
        let rows = (bytes.len() / 4).saturating_sub(1);
        let mut counts = vec![0u32; rows];
        if rows > 0 {
            for _ in 0..entries {
                counts[self.index(rows)] += 1;
            }
        }
        let mut sum = 0u32;
        let ends = std::iter::once(0).chain(counts.into_iter().map(|count| {
            sum += count;
            sum
        }));
        for (chunk, end) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(ends) {
            *chunk = end.to_ne_bytes();
        }
    }

    /// Ascending columns within each row with random gaps, distinct as long as the row has room.
    fn columns(&mut self, bytes: &mut [u8], rows: &[u32], columns: usize) {
        let cells = bytes.as_chunks_mut::<4>().0;
        let mut picked: Vec<u32> = Vec::new();
        for ends in rows.windows(2) {
            let row = &mut cells[ends[0] as usize..ends[1] as usize];
            picked.clear();
            picked.extend((0..row.len()).map(|_| self.index(columns) as u32));
            picked.sort_unstable();
            // Shifts duplicates up, then back from the edge, so that columns stay ascending and
            // distinct.
            for index in 1..picked.len() {
                picked[index] = picked[index].max(picked[index - 1] + 1);
            }
            let mut bound = columns as u32;
            for column in picked.iter_mut().rev() {
                *column = (*column).min(bound.saturating_sub(1));
                bound = *column;
            }
            for (cell, column) in row.iter_mut().zip(&picked) {
                *cell = column.to_ne_bytes();
            }
        }
    }
}

/// Fills `bytes` with fresh content for one argument of one call.
///
/// `earlier` returns the bytes of an argument that was already filled.
pub(crate) fn fill<'a>(
    fresh: &mut Fresh,
    arg: &Arg,
    sizes: &Sizes,
    bytes: &mut [u8],
    earlier: impl Fn(&str) -> Option<&'a [u8]>,
) {
    let size = |text: &str| formula::count(text, sizes).expect("checked by Task::parse");
    match (&arg.fill, &arg.value) {
        (Some(Fill::Uniform(low, high)), _) => fresh.uniform(arg.kind, bytes, *low, *high),
        (Some(Fill::RowPointers { entries }), _) => fresh.row_pointers(bytes, size(entries)),
        (Some(Fill::Columns { rows, columns }), _) => {
            let rows: Vec<u32> = earlier(rows)
                .unwrap_or_default()
                .as_chunks::<4>()
                .0
                .iter()
                .map(|chunk| u32::from_ne_bytes(*chunk))
                .collect();
            fresh.columns(bytes, &rows, size(columns));
        }
        (None, Some(value)) => write_scalar(
            arg,
            formula::evaluate(value, sizes).expect("checked"),
            bytes,
        ),
        (None, None) => {}
    }
}

fn write_scalar(arg: &Arg, value: f64, bytes: &mut [u8]) {
    match arg.kind {
        Kind::F64 => bytes.copy_from_slice(&value.to_ne_bytes()),
        Kind::F32 => bytes.copy_from_slice(&(value as f32).to_ne_bytes()),
        Kind::I32 => bytes.copy_from_slice(&(value as i32).to_ne_bytes()),
        Kind::I64 => bytes.copy_from_slice(&(value as i64).to_ne_bytes()),
        kind @ (Kind::F16 | Kind::Bf16) => bytes.copy_from_slice(&half_bytes(kind, value)),
    }
}

/// A number of 16 bits, as it lies in memory.
fn half_bytes(kind: Kind, value: f64) -> [u8; 2] {
    if kind == Kind::Bf16 {
        half::bf16::from_f64(value).to_ne_bytes()
    } else {
        half::f16::from_f64(value).to_ne_bytes()
    }
}

/// Poisons an output with NaN of a random payload, so that unwritten elements can never pass.
pub(crate) fn poison(fresh: &mut Fresh, kind: Kind, bytes: &mut [u8]) {
    let random = fresh.word();
    match kind {
        Kind::F64 | Kind::I64 => {
            let pattern = (0x7ff4_0000_0000_0000 | random >> 14).to_ne_bytes();
            bytes.as_chunks_mut::<8>().0.fill(pattern);
        }
        Kind::F32 | Kind::I32 => {
            let pattern = (0x7fa0_0000 | (random >> 44) as u32).to_ne_bytes();
            bytes.as_chunks_mut::<4>().0.fill(pattern);
        }
        Kind::F16 | Kind::Bf16 => unreachable!("a C task has no {kind}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_fill_their_range() {
        let mut bytes = vec![0; 8 * 10_000];
        Fresh::from_seed(1).doubles(&mut bytes, -1.0, 1.0);
        let values: Vec<f64> = bytes
            .as_chunks::<8>()
            .0
            .iter()
            .map(|chunk| f64::from_ne_bytes(*chunk))
            .collect();
        assert!(values.iter().all(|value| (-1.0..1.0).contains(value)));
        let mean = values.iter().sum::<f64>() / 1e4;
        assert!(mean.abs() < 0.05, "{mean}");
    }

    #[test]
    fn no_number_is_left_out_or_comes_twice() {
        let mut fresh = Fresh::from_seed(4);
        for count in [1, 31, 32, 33, 64, 1000] {
            let mut bytes = vec![0; 2 * 8 * count];
            let (first, second) = bytes.split_at_mut(8 * count);
            fresh.doubles(first, 1.0, 2.0);
            fresh.doubles(second, 1.0, 2.0);
            let drawn: std::collections::HashSet<_> = bytes.as_chunks::<8>().0.iter().collect();
            assert_eq!(
                (drawn.len(), drawn.contains(&[0; 8])),
                (2 * count, false),
                "{count} doubles, twice"
            );
            let mut bytes = vec![0; 4 * count];
            fresh.uniform(Kind::F32, &mut bytes, 1.0, 2.0);
            let values = bytes
                .as_chunks::<4>()
                .0
                .iter()
                .map(|chunk| f32::from_ne_bytes(*chunk));
            assert!(
                values.clone().all(|value| (1.0..2.0).contains(&value)),
                "{count} floats"
            );
            assert!(
                count == 1
                    || values
                        .clone()
                        .any(|value| values.clone().next() != Some(value))
            );
        }
    }

    #[test]
    fn sparse_rows_are_ascending_and_distinct() {
        let (rows, columns, entries) = (50usize, 20usize, 400usize);
        let mut fresh = Fresh::from_seed(2);
        let mut pointers = vec![0; 4 * (rows + 1)];
        fresh.row_pointers(&mut pointers, entries);
        let ends: Vec<u32> = pointers
            .as_chunks::<4>()
            .0
            .iter()
            .map(|chunk| u32::from_ne_bytes(*chunk))
            .collect();
        assert_eq!((ends[0], ends[rows]), (0, 400));
        let mut cells = vec![0; 4 * entries];
        fresh.columns(&mut cells, &ends, columns);
        let cells: Vec<u32> = cells
            .as_chunks::<4>()
            .0
            .iter()
            .map(|chunk| u32::from_ne_bytes(*chunk))
            .collect();
        for row in ends
            .windows(2)
            .map(|ends| &cells[ends[0] as usize..ends[1] as usize])
            .filter(|row| row.len() <= columns)
        {
            assert!(row.windows(2).all(|pair| pair[0] < pair[1]), "{row:?}");
            assert!(row.iter().all(|column| (*column as usize) < columns));
        }
    }

    #[test]
    fn poison_is_never_a_number() {
        let mut bytes = [0; 16];
        poison(&mut Fresh::from_seed(3), Kind::F64, &mut bytes);
        assert!(f64::from_ne_bytes(bytes[..8].try_into().unwrap()).is_nan());
        poison(&mut Fresh::from_seed(3), Kind::F32, &mut bytes);
        assert!(f32::from_ne_bytes(bytes[..4].try_into().unwrap()).is_nan());
    }
}
