//! Tasks that compute each element by itself: relu and saxpy.

use super::parts::{Alias, Load, pragma};
use crate::axis::{axis, space};

axis!(
    /// The task.
    Sort {
        Relu = 1,
        Saxpy = 1,
    }
);

axis!(
    /// Floats in a load and a store.
    Width(u32) { 1 = 5, 2 = 2, 4 = 5 }
);

axis!(
    /// How threads are spread over the elements.
    Grid {
        /// A thread for each load.
        Cover = 6,
        /// A fixed number of blocks, and threads that take several loads.
        Stride = 5,
    }
);

axis!(
    /// Blocks of a fixed grid.
    Blocks(u32) { 264 = 2, 528 = 3, 1056 = 4, 2112 = 4, 4096 = 3 }
);

axis!(
    /// Threads of a block.
    Threads(u32) { 256 = 6, 128 = 4, 512 = 4, 1024 = 2, 64 = 1 }
);

axis!(
    /// How often the loop over loads is unrolled.
    Unroll(u32) { 1 = 5, 2 = 2, 4 = 4, 8 = 1 }
);

axis!(
    /// How the operation is written.
    Form {
        /// With a function: `fmaxf`, `fmaf`.
        Function = 4,
        /// With operators.
        Operators = 5,
    }
);

space!(
    /// The choices of a candidate.
    Elementwise {
        /// The task.
        sort: Sort,
        /// Floats in a load.
        width: Width,
        /// How threads are spread.
        grid: Grid,
        /// Blocks of a fixed grid.
        blocks: Blocks,
        /// Threads of a block.
        threads: Threads,
        /// How often the loop is unrolled.
        unroll: Unroll,
        /// How the operation is written.
        form: Form,
        /// How inputs are read.
        load: Load,
        /// What pointers promise.
        alias: Alias,
    }
);

impl Elementwise {
    pub(super) fn task(&self) -> &'static str {
        match self.sort {
            Sort::Relu => "cuda/relu",
            Sort::Saxpy => "cuda/saxpy",
        }
    }

    pub(super) fn makes_sense(&self) -> bool {
        match self.grid {
            Grid::Cover => self.unroll.0 == 1 && self.blocks.0 == 264,
            Grid::Stride => true,
        }
    }

    pub(super) fn source(&self) -> String {
        let (index, name) = match self.sort {
            Sort::Relu => ("long long", "relu"),
            Sort::Saxpy => ("int", "saxpy"),
        };
        let (kernel_parameters, parameters, arguments) = match self.sort {
            Sort::Relu => (
                format!(
                    "{}, {}, {index} n",
                    self.alias.input("x"),
                    self.alias.output("y")
                ),
                "const float* x, float* y, long long n",
                "x, y, n",
            ),
            Sort::Saxpy => (
                format!(
                    "float a, {}, {}, {}, {index} n",
                    self.alias.input("x"),
                    self.alias.input("y"),
                    self.alias.output("z")
                ),
                "float a, const float* x, const float* y, float* z, int n",
                "a, x, y, z, n",
            ),
        };
        let body = match self.width.0 {
            1 => self.scalar(index),
            width => self.vectors(index, width),
        };
        let width = self.width.0;
        let loads = match width {
            1 => "n".to_owned(),
            width => format!("(n + {}) / {width}", width - 1),
        };
        let threads = self.threads.0;
        let grid = match self.grid {
            Grid::Cover => format!(
                "    {index} loads = {loads};\n    {index} blocks = (loads + {}) / {threads};\n",
                threads - 1
            ),
            Grid::Stride => format!("    int blocks = {};\n", self.blocks.0),
        };
        format!(
            "__global__ void {name}_fast({kernel_parameters}) {{\n{body}}}\n\n\
             extern \"C\" void solve({parameters}) {{\n{grid}    {name}_fast<<<blocks, {threads}>>>({arguments});\n}}\n"
        )
    }

    /// The result for element `at`.
    fn element(&self, at: &str) -> String {
        let read = |name: &str| self.load.of(&format!("{name}[{at}]"));
        self.operation(&read("x"), &read("y"))
    }

    fn operation(&self, x: &str, y: &str) -> String {
        match (self.sort, self.form) {
            (Sort::Relu, Form::Function) => format!("fmaxf({x}, 0.0f)"),
            (Sort::Relu, Form::Operators) => format!("{x} > 0.0f ? {x} : 0.0f"),
            (Sort::Saxpy, Form::Function) => format!("fmaf(a, {x}, {y})"),
            (Sort::Saxpy, Form::Operators) => format!("a * {x} + {y}"),
        }
    }

    fn output(&self) -> &'static str {
        match self.sort {
            Sort::Relu => "y",
            Sort::Saxpy => "z",
        }
    }

    fn first(index: &str) -> String {
        let cast = if index == "int" { "" } else { "(long long)" };
        format!("    {index} i = {cast}blockIdx.x * blockDim.x + threadIdx.x;\n")
    }

    fn scalar(&self, index: &str) -> String {
        let line = format!("{}[i] = {};\n", self.output(), self.element("i"));
        let first = Self::first(index);
        match self.grid {
            Grid::Cover => format!("{first}    if (i < n) {{\n        {line}    }}\n"),
            Grid::Stride => {
                let cast = if index == "int" { "" } else { "(long long)" };
                let unroll = pragma(self.unroll.0, "    ");
                format!(
                    "{first}    {index} stride = {cast}gridDim.x * blockDim.x;\n{unroll}    \
                     for (; i < n; i += stride) {{\n        {line}    }}\n"
                )
            }
        }
    }

    /// Vectors, and the last elements one by one by whoever comes to them.
    fn vectors(&self, index: &str, width: u32) -> String {
        let kind = format!("float{width}");
        let read = |name: &str| {
            let place = format!("reinterpret_cast<const {kind}*>({name})[i]");
            format!("{kind} {name}v = {};", self.load.of(&place))
        };
        let inputs: &[&str] = match self.sort {
            Sort::Relu => &["x"],
            Sort::Saxpy => &["x", "y"],
        };
        let out = self.output();
        let mut lines: Vec<String> = inputs.iter().map(|name| read(name)).collect();
        lines.push(format!("{kind} r;"));
        for part in ["x", "y", "z", "w"].iter().take(width as usize) {
            let value = self.operation(&format!("xv.{part}"), &format!("yv.{part}"));
            lines.push(format!("r.{part} = {value};"));
        }
        lines.push(format!("reinterpret_cast<{kind}*>({out})[i] = r;"));
        let at = |indent: &str| -> String {
            lines
                .iter()
                .map(|line| format!("{indent}{line}\n"))
                .collect()
        };
        let first = Self::first(index);
        let tail = format!("{out}[j] = {};", self.element("j"));
        let whole = format!("    {index} whole = n / {width};\n");
        match self.grid {
            Grid::Cover => format!(
                "{first}{whole}    if (i < whole) {{\n{}    }} else if (i == whole) {{\n        \
                 for ({index} j = whole * {width}; j < n; j++) {{\n            {tail}\n        }}\n    }}\n",
                at("        ")
            ),
            Grid::Stride => {
                let cast = if index == "int" { "" } else { "(long long)" };
                let unroll = pragma(self.unroll.0, "    ");
                format!(
                    "{first}    {index} stride = {cast}gridDim.x * blockDim.x;\n{whole}    \
                     {index} j = whole * {width} + i;\n    if (j < n) {{\n        {tail}\n    }}\n{unroll}    \
                     for (; i < whole; i += stride) {{\n{}    }}\n",
                    at("        ")
                )
            }
        }
    }
}
