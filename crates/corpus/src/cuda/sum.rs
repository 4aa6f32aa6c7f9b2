//! Sums over the middle dimension of a three-dimensional array.

use super::parts::{Alias, Load, pragma};
use crate::axis::{axis, space};

axis!(
    /// Threads along the last dimension.
    Wide(u32) { 32 = 5, 64 = 3, 128 = 3, 256 = 2 }
);

axis!(
    /// Threads that share the middle dimension of an output.
    Deep(u32) { 1 = 4, 2 = 1, 4 = 3, 8 = 4, 16 = 3 }
);

axis!(
    /// Independent sums of a thread.
    Sums(u32) { 1 = 4, 2 = 3, 4 = 4, 8 = 1 }
);

axis!(
    /// How often the loop over the middle dimension is unrolled.
    Unroll(u32) { 1 = 5, 2 = 1, 4 = 3 }
);

axis!(
    /// How the parts of several threads are added.
    Finish {
        /// The first thread adds all.
        First = 4,
        /// Halves are added to halves.
        Tree = 3,
    }
);

space!(
    /// The choices of a candidate.
    Sum {
        /// Threads along the last dimension.
        wide: Wide,
        /// Threads along the middle one.
        deep: Deep,
        /// Independent sums of a thread.
        sums: Sums,
        /// How often the loop is unrolled.
        unroll: Unroll,
        /// How parts are added.
        finish: Finish,
        /// How the input is read.
        load: Load,
        /// What pointers promise.
        alias: Alias,
    }
);

impl Sum {
    pub(super) fn makes_sense(&self) -> bool {
        self.wide.0 * self.deep.0 <= 1024 && (self.deep.0 > 1 || self.finish == Finish::First)
    }

    pub(super) fn source(&self) -> String {
        let (wide, deep) = (self.wide.0, self.deep.0);
        let finish = self.finish();
        format!(
            "__global__ void sum_fast({}, {}, int B, int D1, int D2) {{\n    \
             int j = blockIdx.x * {wide} + threadIdx.x;\n    long long b = blockIdx.y;\n{}{}{finish}}}\n\n\
             extern \"C\" void solve(const float* x, float* y, int B, int D1, int D2) {{\n    \
             dim3 threads({wide}, {deep});\n    dim3 blocks((D2 + {}) / {wide}, B);\n    \
             sum_fast<<<blocks, threads>>>(x, y, B, D1, D2);\n}}\n",
            self.alias.input("x"),
            self.alias.output("y"),
            self.loops(),
            self.total(),
            wide - 1
        )
    }

    fn loops(&self) -> String {
        let (deep, sums) = (self.deep.0, self.sums.0);
        let names: Vec<String> = (0..sums).map(|at| format!("s{at}")).collect();
        let zeros: Vec<String> = names.iter().map(|name| format!("{name} = 0.0f")).collect();
        let start = if deep > 1 { "threadIdx.y" } else { "0" };
        let mut text = format!(
            "    float {};\n    if (j < D2) {{\n        const float* in = x + b * D1 * D2 + j;\n        int i = {start};\n",
            zeros.join(", ")
        );
        if sums > 1 {
            let last = (sums - 1) * deep;
            text.push_str(&pragma(self.unroll.0, "        "));
            text.push_str(&format!(
                "        for (; i + {last} < D1; i += {}) {{\n",
                sums * deep
            ));
            for (at, name) in names.iter().enumerate() {
                let place = match at as u32 * deep {
                    0 => "in[(long long)i * D2]".to_owned(),
                    ahead => format!("in[(long long)(i + {ahead}) * D2]"),
                };
                text.push_str(&format!(
                    "            {name} += {};\n",
                    self.load.of(&place)
                ));
            }
            text.push_str("        }\n");
        } else {
            text.push_str(&pragma(self.unroll.0, "        "));
        }
        let one = self.load.of("in[(long long)i * D2]");
        text.push_str(&format!(
            "        for (; i < D1; i += {deep}) {{\n            s0 += {one};\n        }}\n    }}\n"
        ));
        text
    }

    /// The sum of a thread's sums.
    fn total(&self) -> String {
        let mut names: Vec<String> = (0..self.sums.0).map(|at| format!("s{at}")).collect();
        while names.len() > 1 {
            names = names
                .chunks(2)
                .map(|pair| match pair {
                    [a, b] => format!("({a} + {b})"),
                    _ => pair.concat(),
                })
                .collect();
        }
        let total = names.concat();
        let total = total
            .strip_prefix('(')
            .and_then(|total| total.strip_suffix(')'))
            .unwrap_or(&total);
        format!("    float sum = {total};\n")
    }

    fn finish(&self) -> String {
        let (wide, deep) = (self.wide.0, self.deep.0);
        let store = "y[b * D2 + j]";
        if deep == 1 {
            return format!("    if (j < D2) {{\n        {store} = sum;\n    }}\n");
        }
        let parts = format!(
            "    __shared__ float parts[{deep}][{wide}];\n    parts[threadIdx.y][threadIdx.x] = sum;\n    __syncthreads();\n"
        );
        match self.finish {
            Finish::First => format!(
                "{parts}    if (threadIdx.y == 0 && j < D2) {{\n        for (int k = 1; k < {deep}; k++) {{\n            \
                 sum += parts[k][threadIdx.x];\n        }}\n        {store} = sum;\n    }}\n"
            ),
            Finish::Tree => format!(
                "{parts}    for (int half = {}; half > 0; half /= 2) {{\n        if (threadIdx.y < half) {{\n            \
                 parts[threadIdx.y][threadIdx.x] += parts[threadIdx.y + half][threadIdx.x];\n        }}\n        \
                 __syncthreads();\n    }}\n    if (threadIdx.y == 0 && j < D2) {{\n        \
                 {store} = parts[0][threadIdx.x];\n    }}\n",
                deep / 2
            ),
        }
    }
}
