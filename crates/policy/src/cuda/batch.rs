//! A pack in the form that kernels read: integers of every row, tiles of attention, and the order
//! of equal tokens.

use super::device::{Address, Device};
use super::error::Result;
use crate::pack::Pack;

/// Rows of a tile of attention, as in flash.cu.
const TILE: usize = 64;

/// The addresses of a pack's integers on the device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Batch {
    pub(super) rows: usize,
    pub(super) tokens: Address,
    pub(super) positions: Address,
    /// First row of each row's sequence.
    pub(super) first: Address,
    /// End of each row's sequence.
    pub(super) last: Address,
    /// Cache slot of each row.
    pub(super) slots: Address,
    pub(super) tiles: Address,
    pub(super) tile_count: usize,
    /// Rows sorted by token, and where each token's begin.
    pub(super) order: Address,
    pub(super) starts: Address,
    pub(super) distinct: usize,
}

/// The integers of a pack, part by part.
struct Ints {
    parts: Vec<Vec<i32>>,
    tile_count: usize,
    distinct: usize,
}

/// Tiles (row, first, last, which has the nth most queries after it), those with the most keys
/// first. Work is assigned in this order, so that no long tile is left for the end.
fn tiles(spans: &mut [[i32; 3]]) -> Vec<i32> {
    spans.sort_by_key(|[row, first, _]| std::cmp::Reverse(row - first));
    let mut by_queries: Vec<i32> = (0..spans.len() as i32).collect();
    by_queries.sort_by_key(|nth| {
        let [row, _, last] = spans[*nth as usize];
        std::cmp::Reverse(last - row)
    });
    spans
        .iter()
        .zip(by_queries)
        .flat_map(|([row, first, last], nth)| [*row, *first, *last, nth])
        .collect()
}

/// Builds the parts: tokens, positions, first, last, slots, tiles, order, starts.
fn ints(pack: &Pack, slots: &[i32]) -> Ints {
    let mut spans = Vec::new();
    let (mut first, mut last, mut slot) = (Vec::new(), Vec::new(), Vec::new());
    for (nth, pair) in pack.starts.windows(2).enumerate() {
        let (begin, end) = (pair[0] as i32, pair[1] as i32);
        for row in (pair[0]..pair[1]).step_by(TILE) {
            spans.push([row as i32, begin, end]);
        }
        let rows = pair[1] - pair[0];
        first.extend(std::iter::repeat_n(begin, rows));
        last.extend(std::iter::repeat_n(end, rows));
        slot.extend(std::iter::repeat_n(
            slots.get(nth).copied().unwrap_or(0),
            rows,
        ));
    }
    let mut order: Vec<i32> = (0..pack.rows() as i32).collect();
    order.sort_by_key(|row| pack.tokens[*row as usize]);
    let begins = |at: &usize| {
        *at == 0 || pack.tokens[order[*at] as usize] != pack.tokens[order[*at - 1] as usize]
    };
    let mut starts: Vec<i32> = (0..order.len())
        .filter(begins)
        .map(|at| at as i32)
        .collect();
    let distinct = starts.len();
    starts.push(order.len() as i32);
    let tokens = pack.tokens.iter().map(|token| *token as i32).collect();
    let positions = pack.positions().map(|position| position as i32).collect();
    let tiles = tiles(&mut spans);
    let tile_count = spans.len();
    // Tiles come first, because the kernels read them sixteen bytes at a time.
    Ints {
        parts: vec![tiles, tokens, positions, first, last, slot, order, starts],
        tile_count,
        distinct,
    }
}

impl Batch {
    /// Copies a pack into memory for at least `INTS` integers per row. `slots` names the cache of
    /// each sequence.
    pub(super) fn upload(device: &Device, to: Address, pack: &Pack, slots: &[i32]) -> Result<Self> {
        let Ints {
            parts,
            tile_count,
            distinct,
        } = ints(pack, slots);
        let mut at = 0;
        let mut places = Vec::with_capacity(parts.len());
        for part in &parts {
            places.push(to.plus(at * 4));
            at += part.len();
        }
        device.write(to, &parts.concat())?;
        let [tiles, tokens, positions, first, last, slots, order, starts] = places[..] else {
            unreachable!("eight parts were built")
        };
        let rows = pack.rows();
        Ok(Self {
            rows,
            tokens,
            positions,
            first,
            last,
            slots,
            tiles,
            tile_count,
            order,
            starts,
            distinct,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::workspace::INTS;
    use crate::pack::Sequence;

    #[test]
    fn tiles_stay_inside_their_sequence_and_equal_tokens_come_together() {
        let long: Vec<u32> = (0..130).map(|i| i % 3).collect();
        let pack = Pack::new(&[Sequence::answer(&long, &[]), Sequence::answer(&[5], &[2])]);
        let Ints {
            parts,
            tile_count,
            distinct,
        } = ints(&pack, &[4, 7]);
        assert_eq!(
            parts[0],
            [
                128, 0, 130, 2, 64, 0, 130, 1, 0, 0, 130, 0, 130, 130, 132, 3
            ]
        );
        assert_eq!((tile_count, distinct), (4, 4));
        assert_eq!(
            (parts[3][129], parts[3][130], parts[4][0], parts[5][131]),
            (0, 130, 130, 7)
        );
        let (order, starts) = (&parts[6], &parts[7]);
        for pair in starts.windows(2) {
            let run = &order[pair[0] as usize..pair[1] as usize];
            assert!(
                run.iter()
                    .all(|row| pack.tokens[*row as usize] == pack.tokens[run[0] as usize])
            );
            assert!(run.is_sorted(), "a fixed order of summation");
        }
        assert_eq!(starts.last(), Some(&132));
    }

    #[test]
    fn integers_fit_into_a_workspace() {
        let ones: Vec<Sequence> = (0..40).map(|i| Sequence::answer(&[i], &[])).collect();
        let pack = Pack::new(&ones);
        let total: usize = ints(&pack, &[]).parts.iter().map(Vec::len).sum();
        assert!(total <= pack.rows() * INTS + 64, "{total}");
    }
}
