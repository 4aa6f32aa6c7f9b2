//! Transpositions.

use super::parts::{Alias, Load, pragma};
use crate::axis::{axis, space};

axis!(
    /// Which accesses are contiguous.
    Way {
        /// Tiles go through shared memory, and all are.
        Tiles = 8,
        /// Only loads.
        Loads = 2,
        /// Only stores.
        Stores = 2,
    }
);

axis!(
    /// A tile's edge.
    Tile(u32) { 32 = 6, 16 = 2, 64 = 3 }
);

axis!(
    /// Rows of threads in a block.
    Deep(u32) { 8 = 5, 4 = 2, 16 = 3, 32 = 2 }
);

axis!(
    /// Floats between the rows of a tile, against bank conflicts.
    Gap(u32) { 1 = 8, 0 = 2 }
);

axis!(
    /// Whether loops over a tile are unrolled.
    Unrolled {
        No = 4,
        Yes = 4,
    }
);

space!(
    /// The choices of a candidate.
    Transpose {
        /// Which accesses are contiguous.
        way: Way,
        /// A tile's edge.
        tile: Tile,
        /// Rows of threads.
        deep: Deep,
        /// Floats between rows.
        gap: Gap,
        /// Whether loops are unrolled.
        unrolled: Unrolled,
        /// How the input is read.
        load: Load,
        /// What pointers promise.
        alias: Alias,
    }
);

impl Transpose {
    pub(super) fn makes_sense(&self) -> bool {
        let fits = self.deep.0 <= self.tile.0 && self.tile.0 * self.deep.0 <= 1024;
        let is_plain = self.gap.0 == 1 && self.unrolled == Unrolled::No && self.tile.0 != 64;
        // Without a loop there is nothing to unroll.
        let loops = self.deep.0 < self.tile.0 || self.unrolled == Unrolled::No;
        fits && loops && (self.way == Way::Tiles || is_plain)
    }

    pub(super) fn source(&self) -> String {
        let (tile, deep) = (self.tile.0, self.deep.0);
        let (body, blocks) = match self.way {
            Way::Tiles => (
                self.tiles(),
                format!("(cols + {0}) / {tile}, (rows + {0}) / {tile}", tile - 1),
            ),
            Way::Loads => (
                self.direct(
                    "cols",
                    "rows",
                    "y[(long long)i * rows + j]",
                    "x[(long long)j * cols + i]",
                ),
                format!(
                    "(cols + {}) / {tile}, (rows + {}) / {deep}",
                    tile - 1,
                    deep - 1
                ),
            ),
            Way::Stores => (
                self.direct(
                    "rows",
                    "cols",
                    "y[(long long)j * rows + i]",
                    "x[(long long)i * cols + j]",
                ),
                format!(
                    "(rows + {}) / {tile}, (cols + {}) / {deep}",
                    tile - 1,
                    deep - 1
                ),
            ),
        };
        format!(
            "__global__ void transpose_fast({}, {}, int rows, int cols) {{\n{body}}}\n\n\
             extern \"C\" void solve(const float* x, float* y, int rows, int cols) {{\n    \
             dim3 threads({tile}, {deep});\n    dim3 blocks({blocks});\n    \
             transpose_fast<<<blocks, threads>>>(x, y, rows, cols);\n}}\n",
            self.alias.input("x"),
            self.alias.output("y")
        )
    }

    /// A thread moves one element; `i` runs along the dimension of the threads' columns.
    fn direct(&self, along: &str, across: &str, to: &str, from: &str) -> String {
        let (tile, deep) = (self.tile.0, self.deep.0);
        format!(
            "    int i = blockIdx.x * {tile} + threadIdx.x;\n    int j = blockIdx.y * {deep} + threadIdx.y;\n    \
             if (i < {along} && j < {across}) {{\n        {to} = {};\n    }}\n",
            self.load.of(from)
        )
    }

    fn tiles(&self) -> String {
        let (tile, deep, gap) = (self.tile.0, self.deep.0, self.gap.0);
        let unroll = match self.unrolled {
            Unrolled::Yes => pragma(tile / deep, "    "),
            Unrolled::No => String::new(),
        };
        let begin = if deep == tile {
            "    {\n        int k = 0;\n".to_owned()
        } else {
            format!("{unroll}    for (int k = 0; k < {tile}; k += {deep}) {{\n")
        };
        let from = self.load.of("x[(long long)(row + k) * cols + col]");
        format!(
            "    __shared__ float tile[{tile}][{}];\n    int col = blockIdx.x * {tile} + threadIdx.x;\n    \
             int row = blockIdx.y * {tile} + threadIdx.y;\n{begin}        if (row + k < rows && col < cols) {{\n            \
             tile[threadIdx.y + k][threadIdx.x] = {from};\n        }}\n    }}\n    __syncthreads();\n    \
             col = blockIdx.y * {tile} + threadIdx.x;\n    row = blockIdx.x * {tile} + threadIdx.y;\n{begin}        \
             if (row + k < cols && col < rows) {{\n            \
             y[(long long)(row + k) * rows + col] = tile[threadIdx.x][threadIdx.y + k];\n        }}\n    }}\n",
            tile + gap
        )
    }
}
