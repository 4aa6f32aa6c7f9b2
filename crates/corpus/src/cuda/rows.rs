//! Tasks that normalise the rows of a matrix: softmax and layer normalisation.

use super::parts::{Alias, Load, pragma};
use crate::axis::{axis, space};

axis!(
    /// The task.
    Sort {
        Softmax = 1,
        Layernorm = 1,
    }
);

axis!(
    /// Who works on a row.
    Owner {
        /// A block.
        Block = 7,
        /// A warp; a block has several.
        Warp = 3,
    }
);

axis!(
    /// Threads of a block.
    Threads(u32) { 256 = 6, 128 = 4, 512 = 3, 1024 = 2, 64 = 2, 32 = 1 }
);

axis!(
    /// How a row's threads put their parts together.
    Reduction {
        /// In shared memory, halves with halves.
        Tree = 5,
        /// Within a warp by shuffles, and then across warps in shared memory.
        Shuffle = 6,
    }
);

axis!(
    /// Floats in a load where rows are aligned.
    Width(u32) { 1 = 6, 4 = 4 }
);

axis!(
    /// How often a row is read before it is written.
    Passes {
        /// Twice: for the maximum or the mean, and for the sum.
        Two = 5,
        /// Once: softmax rescales its sum, and layer normalisation shifts by the row's first value.
        One = 4,
    }
);

axis!(
    /// How the last factor is computed.
    Factor {
        /// Exactly: `/` and `expf`, or `1.0f / sqrtf`.
        Exact = 6,
        /// By a reciprocal or `rsqrtf`.
        Quick = 4,
    }
);

axis!(
    /// How often the loops over columns are unrolled.
    Unroll(u32) { 1 = 6, 2 = 1, 4 = 3 }
);

space!(
    /// The choices of a candidate.
    Rows {
        /// The task.
        sort: Sort,
        /// Who works on a row.
        owner: Owner,
        /// Threads of a block.
        threads: Threads,
        /// How parts are put together.
        reduction: Reduction,
        /// Floats in a load.
        width: Width,
        /// How often a row is read.
        passes: Passes,
        /// How the last factor is computed.
        factor: Factor,
        /// How often loops are unrolled.
        unroll: Unroll,
        /// How the input is read.
        load: Load,
        /// What pointers promise.
        alias: Alias,
    }
);

impl Rows {
    pub(super) fn task(&self) -> &'static str {
        match self.sort {
            Sort::Softmax => "cuda/softmax",
            Sort::Layernorm => "cuda/layernorm",
        }
    }

    pub(super) fn makes_sense(&self) -> bool {
        let shuffles = self.reduction == Reduction::Shuffle;
        match self.owner {
            Owner::Warp => shuffles && (64..=512).contains(&self.threads.0),
            Owner::Block => true,
        }
    }

    pub(super) fn source(&self) -> String {
        let threads = self.threads.0;
        let (name, columns, more) = match self.sort {
            Sort::Softmax => ("softmax", "cols", ""),
            Sort::Layernorm => ("layernorm", "n", ", float eps"),
        };
        let inputs = match self.sort {
            Sort::Softmax => self.alias.input("x"),
            Sort::Layernorm => ["x", "gamma", "beta"]
                .map(|name| self.alias.input(name))
                .join(", "),
        };
        let (plain, arguments) = match self.sort {
            Sort::Softmax => (
                "const float* x, float* y, int rows, int cols",
                "x, y, rows, cols",
            ),
            Sort::Layernorm => (
                "const float* x, const float* gamma, const float* beta, float* y, int rows, int n, float eps",
                "x, gamma, beta, y, rows, n, eps",
            ),
        };
        let body = match self.sort {
            Sort::Softmax => self.softmax(),
            Sort::Layernorm => self.layernorm(),
        };
        let blocks = match self.owner {
            Owner::Block => "    int blocks = rows;\n".to_owned(),
            Owner::Warp => {
                let rows = threads / 32;
                format!("    int blocks = (rows + {}) / {rows};\n", rows - 1)
            }
        };
        format!(
            "__global__ void {name}_fast({inputs}, {}, int rows, int {columns}{more}) {{\n{}{body}}}\n\n\
             extern \"C\" void solve({plain}) {{\n{blocks}    {name}_fast<<<blocks, {threads}>>>({arguments});\n}}\n",
            self.alias.output("y"),
            self.begin(columns)
        )
    }

    /// Names the row, its pointers and the threads that share it.
    fn begin(&self, columns: &str) -> String {
        let threads = self.threads.0;
        let mut text = String::new();
        if self.owner == Owner::Block {
            match (self.reduction, threads) {
                (Reduction::Tree, threads) => {
                    text.push_str(&format!("    __shared__ float part[{threads}];\n"));
                }
                (Reduction::Shuffle, 32) => {}
                (Reduction::Shuffle, threads) => {
                    text.push_str(&format!("    __shared__ float part[{}];\n", threads / 32));
                }
            }
            text.push_str("    int row = blockIdx.x, me = threadIdx.x;\n");
        } else {
            text.push_str(&format!(
                "    int row = blockIdx.x * {} + threadIdx.x / 32, me = threadIdx.x % 32;\n    \
                 if (row >= rows) {{\n        return;\n    }}\n",
                threads / 32
            ));
        }
        text.push_str(&format!(
            "    const float* in = x + (long long)row * {columns};\n    float* out = y + (long long)row * {columns};\n"
        ));
        text
    }

    /// The threads that share a row.
    fn team(&self) -> u32 {
        match self.owner {
            Owner::Block => self.threads.0,
            Owner::Warp => 32,
        }
    }

    /// A loop over the row's elements, each as `body` has it.
    fn each(&self, columns: &str, body: impl Fn(&str) -> String) -> String {
        let (team, load) = (self.team(), self.load);
        let plain = |indent: &str| {
            format!(
                "{}{indent}for (int j = me; j < {columns}; j += {team}) {{\n{indent}    {}\n{indent}}}\n",
                pragma(self.unroll.0, indent),
                body(&load.of("in[j]"))
            )
        };
        if self.width.0 == 1 {
            return plain("    ");
        }
        let parts =
            ["v.x", "v.y", "v.z", "v.w"].map(|part| format!("            {}\n", body(part)));
        format!(
            "    if ({columns} % 4 == 0) {{\n{}        for (int j = me; j < {columns} / 4; j += {team}) {{\n            \
             float4 v = {};\n{}        }}\n    }} else {{\n{}    }}\n",
            pragma(self.unroll.0, "        "),
            load.of("reinterpret_cast<const float4*>(in)[j]"),
            parts.concat(),
            plain("        ")
        )
    }

    /// The loop that writes the row: `value` of an element and its column.
    fn write(&self, columns: &str, value: impl Fn(&str, &str) -> String) -> String {
        let (team, load) = (self.team(), self.load);
        let plain = |indent: &str| {
            format!(
                "{}{indent}for (int j = me; j < {columns}; j += {team}) {{\n{indent}    out[j] = {};\n{indent}}}\n",
                pragma(self.unroll.0, indent),
                value(&load.of("in[j]"), "j")
            )
        };
        if self.width.0 == 1 {
            return plain("    ");
        }
        let parts = [
            ("x", "4 * j"),
            ("y", "4 * j + 1"),
            ("z", "4 * j + 2"),
            ("w", "4 * j + 3"),
        ];
        let parts = parts.map(|(part, at)| {
            format!(
                "            v.{part} = {};\n",
                value(&format!("v.{part}"), at)
            )
        });
        format!(
            "    if ({columns} % 4 == 0) {{\n{}        for (int j = me; j < {columns} / 4; j += {team}) {{\n            \
             float4 v = {};\n{}            reinterpret_cast<float4*>(out)[j] = v;\n        }}\n    }} else {{\n{}    }}\n",
            pragma(self.unroll.0, "        "),
            load.of("reinterpret_cast<const float4*>(in)[j]"),
            parts.concat(),
            plain("        ")
        )
    }

    /// Puts the parts of `name` together, so that every thread has the whole.
    fn reduce(&self, name: &str, both: impl Fn(&str, &str) -> String) -> String {
        let threads = self.threads.0;
        if self.owner == Owner::Block && self.reduction == Reduction::Tree {
            let sum = both("part[me]", "part[me + half]");
            return format!(
                "    part[me] = {name};\n    __syncthreads();\n    for (int half = {}; half > 0; half /= 2) {{\n        \
                 if (me < half) {{\n            part[me] = {sum};\n        }}\n        __syncthreads();\n    }}\n    \
                 {name} = part[0];\n    __syncthreads();\n",
                threads / 2
            );
        }
        let shuffled = both(name, &format!("__shfl_xor_sync(0xffffffff, {name}, lane)"));
        let within = format!(
            "    for (int lane = 16; lane > 0; lane /= 2) {{\n        {name} = {shuffled};\n    }}\n"
        );
        if self.owner == Owner::Warp || threads == 32 {
            return within;
        }
        let across = both(name, "part[w]");
        format!(
            "{within}    if (me % 32 == 0) {{\n        part[me / 32] = {name};\n    }}\n    __syncthreads();\n    \
             {name} = part[0];\n    for (int w = 1; w < {}; w++) {{\n        {name} = {across};\n    }}\n    \
             __syncthreads();\n",
            threads / 32
        )
    }

    fn softmax(&self) -> String {
        let add = |a: &str, b: &str| format!("{a} + {b}");
        let max = |a: &str, b: &str| format!("fmaxf({a}, {b})");
        let mut text = "    float largest = -3.0e38f, sum = 0.0f;\n".to_owned();
        match self.passes {
            Passes::Two => {
                text += &self.each("cols", |e| format!("largest = fmaxf(largest, {e});"));
                text += &self.reduce("largest", max);
                text += &self.each("cols", |e| format!("sum += expf({e} - largest);"));
            }
            Passes::One => {
                text += &self.each("cols", |e| {
                    format!(
                        "{{ float e = {e}, m = fmaxf(largest, e); sum = sum * expf(largest - m) + expf(e - m); \
                         largest = m; }}"
                    )
                });
                text += "    float mine = largest;\n";
                text += &self.reduce("largest", max);
                text += "    sum *= expf(mine - largest);\n";
            }
        }
        text += &self.reduce("sum", add);
        match self.factor {
            Factor::Exact => {
                text + &self.write("cols", |e, _| format!("expf({e} - largest) / sum"))
            }
            Factor::Quick => {
                text += "    float inverse = 1.0f / sum;\n";
                text + &self.write("cols", |e, _| format!("__expf({e} - largest) * inverse"))
            }
        }
    }

    fn layernorm(&self) -> String {
        let add = |a: &str, b: &str| format!("{a} + {b}");
        let mut text = "    float sum = 0.0f, squares = 0.0f;\n".to_owned();
        match self.passes {
            Passes::Two => {
                text += &self.each("n", |e| format!("sum += {e};"));
                text += &self.reduce("sum", add);
                text += "    float mean = sum / n;\n";
                text += &self.each("n", |e| {
                    format!("{{ float d = {e} - mean; squares += d * d; }}")
                });
                text += &self.reduce("squares", add);
                text += "    float variance = squares / n;\n";
            }
            Passes::One => {
                text += "    float shift = in[0];\n";
                text += &self.each("n", |e| {
                    format!("{{ float d = {e} - shift; sum += d; squares += d * d; }}")
                });
                text += &self.reduce("sum", add);
                text += &self.reduce("squares", add);
                text += "    float moved = sum / n, mean = shift + moved;\n    \
                    float variance = squares / n - moved * moved;\n";
            }
        }
        text += match self.factor {
            Factor::Exact => "    float scale = 1.0f / sqrtf(variance + eps);\n",
            Factor::Quick => "    float scale = rsqrtf(variance + eps);\n",
        };
        text + &self.write("n", |e, at| {
            format!("({e} - mean) * scale * gamma[{at}] + beta[{at}]")
        })
    }
}
