//! Matrix products as scalar loop nests: order, tiles, accumulators, unrolling.

mod source;

use super::{Buffer, Sizes, Sort};
use crate::axis::{axis, space};
use crate::dress::{Edge, Prefetch, Qualifiers, Threads, Tile, Unroll, Uses};

axis!(
    /// The order of the loops, outermost first.
    Order {
        /// i, j, k
        Ijk = 10,
        /// i, k, j
        Ikj = 10,
        /// j, i, k
        Jik = 4,
        /// j, k, i
        Jki = 3,
        /// k, i, j
        Kij = 4,
        /// k, j, i
        Kji = 2,
    }
);

impl Order {
    fn dimensions(self) -> [usize; 3] {
        const I: usize = 0;
        const J: usize = 1;
        const K: usize = 2;
        match self {
            Self::Ijk => [I, J, K],
            Self::Ikj => [I, K, J],
            Self::Jik => [J, I, K],
            Self::Jki => [J, K, I],
            Self::Kij => [K, I, J],
            Self::Kji => [K, J, I],
        }
    }
}

axis!(
    /// Where products are summed.
    Sum {
        /// In a local, if the innermost loop is over k.
        Local = 6,
        /// In as many locals as the unroll factor.
        Many = 2,
        /// In C.
        InPlace = 5,
    }
);

axis!(
    /// How C is zeroed before sums are added to it.
    Zero {
        Memset = 3,
        /// A loop over all of it.
        Loop = 2,
        /// Row by row, in the loop over i.
        Row = 2,
        /// Not needed.
        None = 5,
    }
);

axis!(
    /// Whether the factor that the innermost loop does not change is kept in a local.
    Hoist {
        No = 1,
        Yes = 1,
    }
);

axis!(
    /// How elements are named.
    Address {
        /// By index.
        Index = 6,
        /// By pointers to rows.
        Rows = 3,
        /// By pointers that walk along k.
        Walk = 1,
    }
);

axis!(
    /// Whether the innermost loop has `#pragma omp simd`.
    Simd {
        No = 5,
        Yes = 1,
    }
);

space!(
    /// A scalar loop nest.
    Nest {
        /// Which task.
        sort: Sort,
        /// Order of the loops.
        order: Order,
        /// Tile of i.
        ti: Tile,
        /// Tile of j.
        tj: Tile,
        /// Tile of k.
        tk: Tile,
        /// Ends of tiles.
        edge: Edge,
        /// Where sums are kept.
        sum: Sum,
        /// How C is zeroed.
        zero: Zero,
        /// Kept factor.
        hoist: Hoist,
        /// Unrolling of the innermost loop.
        unroll: Unroll,
        /// Names of elements.
        address: Address,
        /// B transposed into a buffer.
        packed: Buffer,
        /// Vectors by pragma.
        simd: Simd,
        threads: Threads,
        /// Prefetch of B.
        prefetch: Prefetch,
        sizes: Sizes,
        qualifiers: Qualifiers,
    }
);

impl Nest {
    fn tiles(&self) -> [u32; 3] {
        [self.ti.0, self.tj.0, self.tk.0]
    }

    fn inner(&self) -> usize {
        self.order.dimensions()[2]
    }

    fn sums_k(&self) -> bool {
        self.inner() == 2
    }

    /// The loops of tiles and then of elements, as (dimension, whether of tiles).
    fn loops(&self) -> Vec<(usize, bool)> {
        let order = self.order.dimensions();
        let tiled = order
            .into_iter()
            .filter(|d| self.tiles()[*d] > 0)
            .map(|d| (d, true));
        tiled.chain(order.into_iter().map(|d| (d, false))).collect()
    }

    /// Whether the choices fit together, and none of them is without effect.
    pub fn makes_sense(&self) -> bool {
        let tiled = self.tiles().iter().any(|tile| *tile > 0);
        let fixed = self.sort == Sort::Fixed;
        let by_hand = self.unroll.hand().is_some();
        let sums_in_c = self.sum == Sum::InPlace || self.tk.0 > 0;
        let edges = if tiled {
            (fixed || self.edge != Edge::Exact)
                && !(self.edge == Edge::And && (by_hand || self.simd == Simd::Yes))
        } else {
            (self.edge == Edge::Exact) == fixed && self.edge != Edge::And
        };
        let sums = match self.sum {
            Sum::Local => self.sums_k(),
            Sum::Many => self.sums_k() && by_hand,
            Sum::InPlace => true,
        };
        let zero = match self.zero {
            Zero::None => !sums_in_c,
            Zero::Memset | Zero::Loop => sums_in_c,
            Zero::Row => sums_in_c && !tiled && self.order.dimensions()[0] == 0,
        };
        let address = match self.address {
            Address::Index => true,
            Address::Rows => self.inner() != 0,
            Address::Walk => {
                self.sums_k() && !by_hand && self.packed == Buffer::None && self.simd == Simd::No
            }
        };
        let packed = match self.packed {
            Buffer::None => true,
            Buffer::Static => self.sums_k() && fixed,
            Buffer::Heap => self.sums_k(),
            Buffer::Stack => false,
        };
        let simd = self.simd == Simd::No
            || (self.unroll == Unroll::One
                && !(self.sums_k() && self.sum == Sum::InPlace)
                && !self.prefetch.any());
        let hoist = self.hoist == Hoist::No || !self.sums_k();
        let prefetch =
            !self.prefetch.any() || (self.packed == Buffer::None && !(self.sums_k() && by_hand));
        let sizes = self.sizes == Sizes::Named || fixed;
        edges
            && sums
            && zero
            && address
            && packed
            && simd
            && hoist
            && prefetch
            && sizes
            && self.threads_fit()
    }

    fn threads_fit(&self) -> bool {
        let loops = self.loops();
        match self.threads {
            Threads::None => true,
            _ if loops[0].0 == 2 => false,
            Threads::Collapse => {
                let declares = self.zero == Zero::Row
                    || (self.address == Address::Rows && !loops[1].1)
                    || (self.edge == Edge::Min && loops[0].1 && !loops[1].1);
                loops[1].0 != 2 && loops[1].0 != loops[0].0 && !declares && loops.len() > 2
            }
            _ => true,
        }
    }

    /// Its techniques.
    pub fn uses(&self) -> Uses {
        Uses {
            blocks: self.tiles().iter().any(|tile| *tile > 0) || self.packed != Buffer::None,
            simd: self.simd == Simd::Yes,
            threads: self.threads.any(),
            prefetch: self.prefetch.any(),
        }
    }
}
