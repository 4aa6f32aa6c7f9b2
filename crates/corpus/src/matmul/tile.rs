//! Matrix products as micro-tiles: MR rows by NR columns of C in registers.

use super::{Buffer, Sizes, Sort};
use crate::axis::{axis, space};
use crate::dress::{Needs, Prefetch, Qualifiers, Threads, Unit, Uses};

axis!(
    /// Rows of the micro-tile.
    Rows(u32) { 1 = 24, 2 = 28, 3 = 4, 4 = 16, 5 = 1, 6 = 2, 8 = 3, 10 = 1, 12 = 1 }
);

axis!(
    /// Registers across the micro-tile.
    Across(u32) { 1 = 40, 2 = 20, 3 = 2, 4 = 6, 6 = 1, 8 = 1 }
);

axis!(
    /// How the registers are named.
    Style {
        /// Each with its own name.
        Named = 3,
        /// As an array, with loops.
        Array = 3,
        /// As an array, with loops that a pragma unrolls.
        Unrolled = 1,
    }
);

axis!(
    /// Which loop over micro-tiles is the outer one.
    Outer {
        Rows = 2,
        Columns = 1,
    }
);

axis!(
    /// A block's edge around the micro-tiles; 0 for none.
    Block(u32) { 0 = 40, 32 = 2, 64 = 4, 128 = 3 }
);

axis!(
    /// How the remainder outside the micro-tiles is computed.
    Cover {
        /// There is no remainder.
        Exact = 6,
        /// The last tile overlaps the one before.
        Overlap = 1,
        /// Plain loops compute the remainder.
        Rest = 2,
    }
);

axis!(
    /// When B is loaded.
    Load {
        /// Before the rows.
        Ahead = 2,
        /// Where it is used.
        Used = 1,
    }
);

axis!(
    /// How elements of A are named.
    Address {
        /// By index.
        Index = 3,
        /// By a pointer to the tile's first row.
        Pointer = 1,
    }
);

axis!(
    /// Unrolling of the loop over k by pragma; 1 for none.
    UnrollK(u32) { 1 = 12, 2 = 1, 4 = 2, 8 = 1 }
);

space!(
    /// A micro-tile and the loops around it.
    MicroTile {
        /// Which task.
        sort: Sort,
        /// Its registers.
        unit: Unit,
        rows: Rows,
        /// Registers across.
        across: Across,
        /// How registers are named.
        style: Style,
        /// Order of the tiles' loops.
        outer: Outer,
        /// Block of rows.
        bi: Block,
        /// Block of columns.
        bj: Block,
        /// Block of k.
        bk: Block,
        /// The remainder.
        cover: Cover,
        /// When B is loaded.
        load: Load,
        /// How A is named.
        address: Address,
        /// Panels of B in a buffer.
        packed: Buffer,
        /// Unrolling of k.
        unroll: UnrollK,
        threads: Threads,
        prefetch: Prefetch,
        sizes: Sizes,
        qualifiers: Qualifiers,
    }
);

impl MicroTile {
    fn columns(&self) -> u32 {
        self.across.0 * self.unit.width()
    }

    /// Whether the choices fit together, and none of them is without effect.
    pub fn makes_sense(&self) -> bool {
        let (rows, columns, fixed) = (self.rows.0, self.columns(), self.sort == Sort::Fixed);
        let divides = 256 % rows == 0 && 256 % columns == 0;
        let blocks = [self.bi.0, self.bj.0, self.bk.0];
        let blocked = blocks.iter().any(|block| *block > 0);
        let registers = rows * self.across.0;
        let shape = registers > 1 && registers <= if self.style == Style::Named { 12 } else { 32 };
        let style = self.style != Style::Named
            || (self.bk.0 == 0 && self.load == Load::Ahead && self.across.0 <= 4);
        let fits = (self.bi.0 == 0 || self.bi.0.is_multiple_of(rows))
            && (self.bj.0 == 0 || self.bj.0.is_multiple_of(columns));
        let cover = match self.cover {
            Cover::Exact => fixed && divides,
            Cover::Overlap => {
                fixed
                    && !divides
                    && !blocked
                    && self.threads != Threads::Collapse
                    && self.split_divides()
            }
            Cover::Rest => true,
        };
        let packed = match self.packed {
            Buffer::None => true,
            _ if self.outer == Outer::Rows || blocked => false,
            Buffer::Static => fixed && !self.threads.any(),
            Buffer::Stack => fixed,
            Buffer::Heap => true,
        };
        let threads = match self.threads {
            Threads::None => true,
            Threads::Collapse => self.packed == Buffer::None && (self.bi.0 > 0) == (self.bj.0 > 0),
            _ => self.bk.0 == 0 || self.bi.0 > 0 || self.bj.0 > 0,
        } && !(self.threads == Threads::Collapse && self.bk.0 > 0 && self.bi.0 == 0);
        shape
            && style
            && fits
            && cover
            && packed
            && threads
            && (self.sizes == Sizes::Named || fixed)
    }

    /// Whether the tiles along the dimension that threads share do not overlap. Two threads must
    /// not write the same elements.
    fn split_divides(&self) -> bool {
        let split = if self.outer == Outer::Rows {
            self.rows.0
        } else {
            self.columns()
        };
        !self.threads.any() || 256 % split == 0
    }

    /// Its techniques.
    pub fn uses(&self) -> Uses {
        Uses {
            blocks: [self.bi.0, self.bj.0, self.bk.0]
                .iter()
                .any(|block| *block > 0)
                || self.packed != Buffer::None,
            simd: self.unit.is_vector(),
            threads: self.threads.any(),
            prefetch: self.prefetch.any(),
        }
    }

    /// The C source, not yet canonical.
    pub fn source(&self) -> String {
        let needs = Needs {
            immintrin: self.unit.is_intrinsic() || self.prefetch.is_intrinsic(),
            omp: self.threads == Threads::Split,
            stdlib: self.packed == Buffer::Heap,
            ..Needs::default()
        };
        let mut code =
            needs.lines() + self.unit.declaration() + &self.sort.signature(self.qualifiers);
        if self.packed == Buffer::Static {
            code += &self.packed.declaration(256 * self.columns(), "");
        }
        let mut braces = 0;
        let mut threads = self.threads;
        for (var, size, block) in [
            ("ii", 0, self.bi.0),
            ("jj", 1, self.bj.0),
            ("kk", 2, self.bk.0),
        ] {
            if block > 0 {
                let head = threads.head(var, self.sizes.names()[size], block);
                code += &head.text;
                braces += head.braces;
                threads = Threads::None;
            }
        }
        if self.bk.0 > 0 && self.cover != Cover::Exact {
            let (k, block) = (self.sizes.names()[2], self.bk.0);
            code += &format!("int ke=kk+{block}<{k}?kk+{block}:{k};");
        }
        let dimensions = if self.outer == Outer::Rows {
            [0, 1]
        } else {
            [1, 0]
        };
        for (at, dimension) in dimensions.into_iter().enumerate() {
            let (text, closing) =
                self.head(dimension, if at == 0 { threads } else { Threads::None });
            code += &text;
            braces += closing;
            if at == 0 && self.packed != Buffer::None {
                code += &self.pack();
            }
        }
        code += &self.tile();
        // A heap buffer is freed before the loop over columns ends.
        code += "}";
        code += self.packed.release();
        code += &"}".repeat(braces - 1);
        if self.cover == Cover::Rest {
            code += &self.rest();
        }
        code + "}"
    }

    /// The same with the tile's sums, factors and index declared
    /// `register`, which compilers respect at -O0. `None` if they are an array, or in a parallel
    /// region, because outlining drops the keyword.
    pub fn in_registers(&self) -> Option<String> {
        if self.style != Style::Named || self.threads.any() {
            return None;
        }
        let (unit, local) = (self.unit.name(), self.qualifiers.local());
        let declared = [
            format!("{unit} s00="),
            format!("{unit} y0="),
            format!("{} x;", self.unit.splat_name()),
            format!("{local}a=A"),
            "int k=".to_owned(),
        ];
        let source = self.source();
        Some(declared.iter().fold(source, |source, word| {
            source.replace(word, &format!("register {word}"))
        }))
    }

    /// The head of a loop over micro-tiles, and the braces it opens.
    fn head(&self, dimension: usize, threads: Threads) -> (String, usize) {
        let (var, size) = (["i", "j"][dimension], self.sizes.names()[dimension]);
        let (step, block) = (
            [self.rows.0, self.columns()][dimension],
            [self.bi.0, self.bj.0][dimension],
        );
        let next = crate::dress::step_of(var, step);
        if block > 0 {
            let rest = if self.cover == Cover::Rest {
                format!("&&{var}+{step}<={size}")
            } else {
                String::new()
            };
            return (
                format!("for(int {var}={var}{var};{var}<{var}{var}+{block}{rest};{next}){{"),
                1,
            );
        }
        let overlaps = self.cover == Cover::Overlap && 256 % step != 0;
        if overlaps {
            let first = format!("{var}{var}");
            let head = threads.head(&first, size, step);
            return (
                format!(
                    "{}int {var}={first}<{size}-{step}?{first}:{size}-{step};",
                    head.text
                ),
                head.braces,
            );
        }
        let end = match self.cover {
            Cover::Rest if step > 1 => format!("{size}/{step}*{step}"),
            Cover::Rest | Cover::Exact | Cover::Overlap => size.to_owned(),
        };
        let head = threads.head(var, &end, step);
        (head.text, head.braces)
    }

    /// Copies a panel of B into the buffer.
    fn pack(&self) -> String {
        let ([_, n, k], columns) = (self.sizes.names(), self.columns());
        let declared = if self.packed == Buffer::Static {
            String::new()
        } else {
            self.packed
                .declaration(256 * columns, &format!("{columns}*{k}"))
        };
        format!(
            "{declared}for(int k=0;k<{k};k++)for(int v=0;v<{columns};v++)P[k*{columns}+v]=B[k*{n}+j+v];"
        )
    }

    /// The micro-tile itself.
    fn tile(&self) -> String {
        let [_, n, k] = self.sizes.names();
        let (rows, across) = (self.rows.0, self.across.0);
        let named = self.style == Style::Named;
        let mut code = String::new();
        if self.address == Address::Pointer {
            code += &format!("{}a=A+i*{k};", self.qualifiers.local());
        }
        if named {
            let sums: Vec<String> = self.each().map(|(r, v)| format!("s{r}{v}={{0}}")).collect();
            code += &format!("{} {};", self.unit.name(), sums.join(","))
                .replace("={0}", if self.unit.is_vector() { "={0}" } else { "=0" });
        } else {
            code += &format!("{} s[{rows}][{across}]={{0}};", self.unit.name());
        }
        if self.bk.0 > 0 {
            let old = self
                .unit
                .load("C", &format!("(i+r)*{n}+j+{}", self.scaled("v")));
            code += &format!(
                "if(kk)for(int r=0;r<{rows};r++)for(int v=0;v<{across};v++)s[r][v]={old};"
            );
        }
        if self.unroll.0 > 1 {
            code += &format!("\n#pragma GCC unroll {}\n", self.unroll.0);
        }
        let (from, end) = match (self.bk.0, self.cover) {
            (0, _) => ("0", k.to_owned()),
            (block, Cover::Exact) => ("kk", format!("kk+{block}")),
            (_, Cover::Overlap | Cover::Rest) => ("kk", "ke".to_owned()),
        };
        code += &format!("for(int k={from};k<{end};k++){{");
        code += &self
            .prefetch
            .statement(|distance| self.panel(&format!("(k+{distance})")).join("+"));
        code += &if named {
            self.named_products()
        } else {
            self.looped_products()
        };
        code += "}";
        if named {
            for (r, v) in self.each() {
                code += &self.unit.store(
                    "C",
                    &format!("{}*{n}+j{}", row(r), shifted(v * self.unit.width())),
                    &format!("s{r}{v}"),
                );
            }
        } else {
            let store =
                self.unit
                    .store("C", &format!("(i+r)*{n}+j+{}", self.scaled("v")), "s[r][v]");
            code += &format!("for(int r=0;r<{rows};r++)for(int v=0;v<{across};v++){store}");
        }
        code
    }

    fn each(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let across = self.across.0;
        (0..self.rows.0).flat_map(move |r| (0..across).map(move |v| (r, v)))
    }

    fn scaled(&self, index: &str) -> String {
        if self.unit.width() == 1 {
            index.to_owned()
        } else {
            format!("{}*{index}", self.unit.width())
        }
    }

    /// Where row `k` of the panel begins: base and index.
    fn panel(&self, k: &str) -> [String; 2] {
        if self.packed == Buffer::None {
            ["B".to_owned(), format!("{k}*{}+j", self.sizes.names()[1])]
        } else {
            ["P".to_owned(), format!("{k}*{}", self.columns())]
        }
    }

    fn a(&self, r: &str) -> String {
        let k = self.sizes.names()[2];
        match (self.address, r) {
            (Address::Index, "0") => format!("A[i*{k}+k]"),
            (Address::Index, _) => format!("A[(i+{r})*{k}+k]"),
            (Address::Pointer, "0") => "a[k]".to_owned(),
            (Address::Pointer, _) => format!("a[{r}*{k}+k]"),
        }
    }

    fn named_products(&self) -> String {
        let [base, index] = self.panel("k");
        let loads: Vec<String> = (0..self.across.0)
            .map(|v| {
                format!(
                    "y{v}={}",
                    self.unit
                        .load(&base, &format!("{index}{}", shifted(v * self.unit.width())))
                )
            })
            .collect();
        let mut code = format!(
            "{} {};{} x;",
            self.unit.name(),
            loads.join(","),
            self.unit.splat_name()
        );
        for r in 0..self.rows.0 {
            code += &format!("x={};", self.unit.splat(&self.a(&r.to_string())));
            for v in 0..self.across.0 {
                code += &self.unit.fma(&format!("s{r}{v}"), "x", &format!("y{v}"));
            }
        }
        code
    }

    fn looped_products(&self) -> String {
        let (rows, across, unit) = (self.rows.0, self.across.0, self.unit);
        let [base, index] = self.panel("k");
        let load = unit.load(&base, &format!("{index}+{}", self.scaled("v")));
        let pragma = |by: u32| {
            if self.style == Style::Unrolled {
                format!("\n#pragma GCC unroll {by}\n")
            } else {
                String::new()
            }
        };
        let mut code = String::new();
        let factor = if self.load == Load::Ahead {
            code += &format!(
                "{} y[{across}];for(int v=0;v<{across};v++)y[v]={load};",
                unit.name()
            );
            "y[v]"
        } else {
            &load
        };
        let (of_rows, of_registers) = (pragma(rows), pragma(across));
        code += &format!(
            "{of_rows}for(int r=0;r<{rows};r++){{{} x={};",
            unit.splat_name(),
            unit.splat(&self.a("r"))
        );
        code += &format!(
            "{of_registers}for(int v=0;v<{across};v++){}}}",
            unit.fma("s[r][v]", "x", factor)
        );
        code
    }

    /// Plain loops over all elements outside whole micro-tiles.
    fn rest(&self) -> String {
        let [m, n, k] = self.sizes.names();
        let (rows, columns) = (self.rows.0, self.columns());
        let from = match (rows, columns) {
            (1, _) => format!("{n}/{columns}*{columns}"),
            (_, 1) => format!("i<{m}/{rows}*{rows}?{n}:0"),
            _ => format!("i<{m}/{rows}*{rows}?{n}/{columns}*{columns}:0"),
        };
        format!(
            "for(int i=0;i<{m};i++)for(int j={from};j<{n};j++){{double s=0;\
             for(int k=0;k<{k};k++)s+=A[i*{k}+k]*B[k*{n}+j];C[i*{n}+j]=s;}}"
        )
    }
}

fn row(r: u32) -> String {
    if r == 0 {
        "i".to_owned()
    } else {
        format!("(i+{r})")
    }
}

fn shifted(by: u32) -> String {
    if by == 0 {
        String::new()
    } else {
        format!("+{by}")
    }
}
