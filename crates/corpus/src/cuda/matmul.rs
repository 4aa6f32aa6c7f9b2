//! Products of square matrices.

use super::parts::{Alias, Load, pragma};
use crate::axis::{axis, space};

axis!(
    /// How a block works.
    Way {
        /// A result a thread, from global memory.
        Plain = 2,
        /// Tiles in shared memory, a few results a thread in a column.
        Tiles = 4,
        /// Tiles in shared memory, a block of results a thread in registers.
        Registers = 9,
    }
);

axis!(
    /// A tile's edge, or a plain block's width.
    Tile(u32) { 32 = 5, 16 = 4, 8 = 1 }
);

axis!(
    /// Rows of results of a block.
    Rows(u32) { 64 = 5, 128 = 4, 32 = 3 }
);

axis!(
    /// Columns of results of a block.
    Columns(u32) { 64 = 5, 128 = 4, 32 = 3 }
);

axis!(
    /// The depth of a tile.
    Depth(u32) { 8 = 5, 16 = 4, 32 = 1 }
);

axis!(
    /// Rows of results of a thread.
    Down(u32) { 4 = 5, 8 = 4, 2 = 2, 1 = 2 }
);

axis!(
    /// Columns of results of a thread.
    Across(u32) { 4 = 5, 8 = 3, 2 = 2 }
);

axis!(
    /// Floats in a load of `B`, where rows are aligned.
    Width(u32) { 1 = 6, 4 = 4 }
);

axis!(
    /// Whether the loops over a tile are unrolled.
    Unrolled {
        No = 3,
        Yes = 5,
    }
);

space!(
    /// The choices of a candidate.
    Matmul {
        /// How a block works.
        way: Way,
        /// A tile's edge.
        tile: Tile,
        /// Rows of results of a block.
        rows: Rows,
        /// Columns of results of a block.
        columns: Columns,
        /// The depth of a tile.
        depth: Depth,
        /// Rows of results of a thread.
        down: Down,
        /// Columns of results of a thread.
        across: Across,
        /// Floats in a load of `B`.
        width: Width,
        /// Whether loops are unrolled.
        unrolled: Unrolled,
        /// How inputs are read.
        load: Load,
        /// What pointers promise.
        alias: Alias,
    }
);

impl Matmul {
    pub(super) fn makes_sense(&self) -> bool {
        let no_block = (self.rows.0, self.columns.0, self.depth.0, self.across.0) == (64, 64, 8, 4)
            && self.width.0 == 1;
        match self.way {
            Way::Plain => no_block && self.down.0 == 1 && self.tile.0 >= 16,
            Way::Tiles => {
                no_block
                    && self.tile.0.is_multiple_of(self.down.0)
                    && self.down.0 <= self.tile.0 / 2
            }
            Way::Registers => {
                let threads = self.threads();
                let shared = 4 * self.depth.0 * (self.rows.0 + self.columns.0);
                self.tile.0 == 32
                    && self.down.0 > 1
                    && (64..=512).contains(&threads)
                    && shared <= 48 * 1024
            }
        }
    }

    /// Threads of a block with results in registers.
    fn threads(&self) -> u32 {
        (self.rows.0 / self.down.0) * (self.columns.0 / self.across.0)
    }

    pub(super) fn source(&self) -> String {
        let (body, threads, wide, high) = match self.way {
            Way::Plain => (
                self.plain(),
                format!("({0}, {0})", self.tile.0.min(16)),
                self.tile.0.min(16),
                self.tile.0.min(16),
            ),
            Way::Tiles => (
                self.tiles(),
                format!("({}, {})", self.tile.0, self.tile.0 / self.down.0),
                self.tile.0,
                self.tile.0,
            ),
            Way::Registers => (
                self.registers(),
                format!("({})", self.threads()),
                self.columns.0,
                self.rows.0,
            ),
        };
        format!(
            "__global__ void matmul_fast({}, {}, {}, int N) {{\n{body}}}\n\n\
             extern \"C\" void solve(const float* A, const float* B, float* C, int N) {{\n    \
             dim3 threads{threads};\n    dim3 blocks((N + {}) / {wide}, (N + {}) / {high});\n    \
             matmul_fast<<<blocks, threads>>>(A, B, C, N);\n}}\n",
            self.alias.input("A"),
            self.alias.input("B"),
            self.alias.output("C"),
            wide - 1,
            high - 1
        )
    }

    fn unroll(&self, count: u32, indent: &str) -> String {
        match self.unrolled {
            Unrolled::Yes => pragma(count, indent),
            Unrolled::No => String::new(),
        }
    }

    fn plain(&self) -> String {
        let edge = self.tile.0.min(16);
        format!(
            "    int row = blockIdx.y * {edge} + threadIdx.y;\n    int col = blockIdx.x * {edge} + threadIdx.x;\n    \
             if (row < N && col < N) {{\n        float sum = 0.0f;\n{}        for (int k = 0; k < N; k++) {{\n            \
             sum += {} * {};\n        }}\n        C[(long long)row * N + col] = sum;\n    }}\n",
            self.unroll(self.tile.0 / 4, "        "),
            self.load.of("A[(long long)row * N + k]"),
            self.load.of("B[(long long)k * N + col]")
        )
    }

    fn tiles(&self) -> String {
        let (tile, down) = (self.tile.0, self.down.0);
        let step = tile / down;
        let rows = |line: &dyn Fn(u32) -> String| -> String {
            (0..down).map(|r| line(r * step)).collect()
        };
        let fill = rows(&|ahead| {
            format!(
                "        a[threadIdx.y + {ahead}][threadIdx.x] = row + {ahead} < N && t + threadIdx.x < N ? {} : 0.0f;\n        \
                 b[threadIdx.y + {ahead}][threadIdx.x] = t + threadIdx.y + {ahead} < N && col < N ? {} : 0.0f;\n",
                self.load.of(&format!(
                    "A[(long long)(row + {ahead}) * N + t + threadIdx.x]"
                )),
                self.load.of(&format!(
                    "B[(long long)(t + threadIdx.y + {ahead}) * N + col]"
                ))
            )
        });
        let names: Vec<String> = (0..down).map(|r| format!("sum{r} = 0.0f")).collect();
        let add: String = (0..down)
            .map(|r| {
                format!(
                    "            sum{r} += a[threadIdx.y + {}][k] * b[k][threadIdx.x];\n",
                    r * step
                )
            })
            .collect();
        let store: String = (0..down)
            .map(|r| {
                let ahead = r * step;
                format!(
                    "    if (row + {ahead} < N && col < N) {{\n        C[(long long)(row + {ahead}) * N + col] = sum{r};\n    }}\n"
                )
            })
            .collect();
        format!(
            "    __shared__ float a[{tile}][{tile}], b[{tile}][{tile}];\n    \
             int row = blockIdx.y * {tile} + threadIdx.y;\n    int col = blockIdx.x * {tile} + threadIdx.x;\n    \
             float {};\n    for (int t = 0; t < N; t += {tile}) {{\n{fill}        __syncthreads();\n{}        \
             for (int k = 0; k < {tile}; k++) {{\n{add}        }}\n        __syncthreads();\n    }}\n{store}",
            names.join(", "),
            self.unroll(tile, "        ")
        )
    }

    fn registers(&self) -> String {
        let (rows, columns, depth) = (self.rows.0, self.columns.0, self.depth.0);
        let (down, across, threads) = (self.down.0, self.across.0, self.threads());
        let fill_a = format!(
            "        for (int i = id; i < {}; i += {threads}) {{\n            int r = i / {depth}, k = i % {depth};\n            \
             a[k][r] = top + r < N && t + k < N ? {} : 0.0f;\n        }}\n",
            rows * depth,
            self.load.of("A[(long long)(top + r) * N + t + k]")
        );
        let plain = |indent: &str| {
            format!(
                "{indent}for (int i = id; i < {}; i += {threads}) {{\n{indent}    int k = i / {columns}, c = i % {columns};\n\
                 {indent}    b[k][c] = t + k < N && left + c < N ? {} : 0.0f;\n{indent}}}\n",
                depth * columns,
                self.load.of("B[(long long)(t + k) * N + left + c]")
            )
        };
        let fill_b = if self.width.0 == 1 {
            plain("        ")
        } else {
            let quarter = columns / 4;
            format!(
                "        if (N % 4 == 0) {{\n            for (int i = id; i < {}; i += {threads}) {{\n                \
                 int k = i / {quarter}, c = i % {quarter} * 4;\n                \
                 float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);\n                \
                 if (t + k < N && left + c < N) {{\n                    \
                 v = {};\n                }}\n                \
                 b[k][c] = v.x;\n                b[k][c + 1] = v.y;\n                b[k][c + 2] = v.z;\n                \
                 b[k][c + 3] = v.w;\n            }}\n        }} else {{\n{}        }}\n",
                depth * quarter,
                self.load
                    .of("*reinterpret_cast<const float4*>(&B[(long long)(t + k) * N + left + c])")
                    .replace("&*", ""),
                plain("            ")
            )
        };
        let (wide, u_down, u_across) = (
            columns / across,
            self.unroll(down, "            "),
            self.unroll(across, "                "),
        );
        format!(
            "    __shared__ float a[{depth}][{rows}], b[{depth}][{columns}];\n    \
             int id = threadIdx.x, x = id % {wide} * {across}, y = id / {wide} * {down};\n    \
             int top = blockIdx.y * {rows}, left = blockIdx.x * {columns};\n    \
             float sum[{down}][{across}] = {{}};\n    for (int t = 0; t < N; t += {depth}) {{\n{fill_a}{fill_b}        \
             __syncthreads();\n{}        for (int k = 0; k < {depth}; k++) {{\n{u_down}            \
             for (int r = 0; r < {down}; r++) {{\n{u_across}                for (int c = 0; c < {across}; c++) {{\n                    \
             sum[r][c] += a[k][y + r] * b[k][x + c];\n                }}\n            }}\n        }}\n        \
             __syncthreads();\n    }}\n    for (int r = 0; r < {down}; r++) {{\n        for (int c = 0; c < {across}; c++) {{\n            \
             if (top + y + r < N && left + x + c < N) {{\n                \
             C[(long long)(top + y + r) * N + left + x + c] = sum[r][c];\n            }}\n        }}\n    }}\n",
            self.unroll(depth, "        ")
        )
    }
}
