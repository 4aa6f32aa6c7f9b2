//! Matrix products as scalar loop nests: order, tiles, accumulators, unrolling.

use super::{Buffer, Sizes, Sort};
use crate::axis::{axis, space};
use crate::dress::{Edge, Needs, Prefetch, Qualifiers, Threads, Tile, Unroll, Uses, step_of};

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

const VARS: [&str; 3] = ["i", "j", "k"];

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

    /// The C source, not yet canonical.
    pub fn source(&self) -> String {
        let sizes = self.sizes.names();
        let [m, n, k] = sizes;
        let needs = Needs {
            immintrin: self.prefetch.is_intrinsic(),
            omp: self.threads == Threads::Split,
            stdlib: self.packed == Buffer::Heap,
            string: self.zero == Zero::Memset,
            ..Needs::default()
        };
        let mut code = needs.lines() + &self.sort.signature(self.qualifiers);
        code += &self.packed.declaration(65536, &format!("{n}*{k}"));
        if self.packed != Buffer::None {
            code += &format!("for(int k=0;k<{k};k++)for(int j=0;j<{n};j++)P[j*{k}+k]=B[k*{n}+j];");
        }
        code += &match self.zero {
            Zero::Memset => format!("memset(C,0,{m}*{n}*sizeof(double));"),
            Zero::Loop => format!("for(int i=0;i<{m}*{n};i++)C[i]=0;"),
            Zero::Row | Zero::None => String::new(),
        };
        let loops = self.loops();
        let mut braces = 0;
        let mut known = [false; 3];
        for (at, (dimension, of_tiles)) in loops.iter().copied().enumerate() {
            if at + 1 == loops.len() {
                code += &self.innermost(known);
                break;
            }
            let threads = if at == 0 { self.threads } else { Threads::None };
            let (text, closing) = self.head(dimension, of_tiles, threads);
            code += &text;
            braces += closing;
            if of_tiles && !loops[at + 1].1 && self.edge == Edge::Min {
                code += &self.ends();
            }
            if !of_tiles {
                known[dimension] = true;
                code += &self.row(dimension);
            }
        }
        code += &"}".repeat(braces);
        code += self.packed.release();
        code + "}"
    }

    /// The head of a loop, and how many braces it opens.
    fn head(&self, dimension: usize, of_tiles: bool, threads: Threads) -> (String, usize) {
        let (var, size, tile) = (
            VARS[dimension],
            self.sizes.names()[dimension],
            self.tiles()[dimension],
        );
        if of_tiles {
            let head = threads.head(&format!("{var}{var}"), size, tile);
            return (head.text, head.braces);
        }
        if tile == 0 {
            let head = threads.head(var, size, 1);
            return (head.text, head.braces);
        }
        (
            format!(
                "for(int {var}={var}{var};{};{var}++){{",
                self.inside(dimension)
            ),
            1,
        )
    }

    /// The condition of a loop over elements.
    fn inside(&self, dimension: usize) -> String {
        let (var, size, tile) = (
            VARS[dimension],
            self.sizes.names()[dimension],
            self.tiles()[dimension],
        );
        match (tile, self.edge) {
            (0, _) => format!("{var}<{size}"),
            (_, Edge::Exact) => format!("{var}<{var}{var}+{tile}"),
            (_, Edge::And) => format!("{var}<{var}{var}+{tile}&&{var}<{size}"),
            (_, Edge::Min) => format!("{var}<{var}e"),
        }
    }

    /// Declares the ends of all tiles.
    fn ends(&self) -> String {
        let tiled = (0..3).filter(|d| self.tiles()[*d] > 0);
        tiled
            .map(|d| {
                let (var, size, tile) = (VARS[d], self.sizes.names()[d], self.tiles()[d]);
                format!("int {var}e={var}{var}+{tile}<{size}?{var}{var}+{tile}:{size};")
            })
            .collect()
    }

    /// The declarations at the start of the loop over `dimension`.
    fn row(&self, dimension: usize) -> String {
        let [_, n, k] = self.sizes.names();
        let local = self.qualifiers.local();
        let mut code = String::new();
        if self.address == Address::Rows && dimension == 0 {
            code += &format!("{local}a=A+i*{k};double*c=C+i*{n};");
        }
        if self.address == Address::Rows && dimension == 2 {
            code += &format!("{local}b=B+k*{n};");
        }
        if self.zero == Zero::Row && dimension == 0 {
            code += &format!("for(int j=0;j<{n};j++){}=0;", self.c(["i", "j"]));
        }
        code
    }

    fn a(&self, i: &str, k: &str) -> String {
        if self.address == Address::Rows {
            format!("a[{k}]")
        } else {
            format!("A[{}*{}+{k}]", bracketed(i), self.sizes.names()[2])
        }
    }

    fn b(&self, k: &str, j: &str) -> String {
        let [_, size_n, size_k] = self.sizes.names();
        if self.packed != Buffer::None {
            format!("P[{j}*{size_k}+{k}]")
        } else if self.address == Address::Rows && !self.sums_k() {
            format!("b[{j}]")
        } else {
            format!("B[{}*{size_n}+{j}]", bracketed(k))
        }
    }

    fn c(&self, [i, j]: [&str; 2]) -> String {
        if self.address == Address::Rows {
            format!("c[{j}]")
        } else {
            format!("C[{}*{}+{j}]", bracketed(i), self.sizes.names()[1])
        }
    }

    /// The statement of the innermost loop, `ahead` steps further. `sum` is the accumulator.
    fn statement(&self, ahead: u32, sum: &str) -> String {
        let mut names = VARS.map(str::to_owned);
        if ahead > 0 {
            names[self.inner()] = format!("{}+{ahead}", VARS[self.inner()]);
        }
        let [i, j, k] = names.each_ref().map(String::as_str);
        let (a, b) = match (self.hoist, self.inner()) {
            (Hoist::No, _) => (self.a(i, k), self.b(k, j)),
            (Hoist::Yes, 1) => ("x".to_owned(), self.b(k, j)),
            (Hoist::Yes, _) => (self.a(i, k), "x".to_owned()),
        };
        if self.sum == Sum::InPlace {
            format!("{}+={a}*{b};", self.c([i, j]))
        } else {
            format!("{sum}+={a}*{b};")
        }
    }

    fn innermost(&self, known: [bool; 3]) -> String {
        let inner = self.inner();
        let (var, [_, n, k]) = (VARS[inner], self.sizes.names());
        debug_assert!(!known[inner]);
        let from = if self.tiles()[inner] > 0 {
            format!("{var}{var}")
        } else {
            "0".to_owned()
        };
        let accumulators = if self.sum == Sum::Many {
            self.unroll.hand().unwrap_or(1)
        } else {
            1
        };
        let name = |at: u32| {
            if accumulators > 1 {
                format!("s{at}")
            } else {
                "s".to_owned()
            }
        };
        let mut code = String::new();
        if self.hoist == Hoist::Yes {
            let value = if inner == 1 {
                self.a("i", "k")
            } else {
                self.b("k", "j")
            };
            code += &format!("double x={value};");
        }
        if self.prefetch.any() && !self.sums_k() {
            let column = if inner == 0 { "+j" } else { "" };
            code += &self
                .prefetch
                .statement(|distance| format!("B+(k+{distance})*{n}{column}"));
        }
        if self.sum != Sum::InPlace {
            let zeros: Vec<String> = (0..accumulators)
                .map(|at| format!("{}=0", name(at)))
                .collect();
            code += &format!("double {};", zeros.join(","));
        }
        if self.address == Address::Walk {
            let (row, start) = if self.tk.0 > 0 {
                ("+kk", format!("kk*{n}+"))
            } else {
                ("", String::new())
            };
            let local = self.qualifiers.local();
            code += &format!("{local}a=A+i*{k}{row};{local}b=B+{start}j;");
        }
        code += &self.unrolled(&from, name);
        if self.sum != Sum::InPlace {
            let total: Vec<String> = (0..accumulators).map(name).collect();
            let sign = if self.tk.0 > 0 { "+=" } else { "=" };
            code += &format!("{}{sign}{};", self.c(["i", "j"]), total.join("+"));
        }
        code
    }

    /// The innermost loop.
    fn unrolled(&self, from: &str, name: impl Fn(u32) -> String) -> String {
        let (var, n) = (VARS[self.inner()], self.sizes.names()[1]);
        let condition = self.inside(self.inner());
        let mut one = self.statement(0, &name(0));
        if self.address == Address::Walk {
            let target = if self.sum == Sum::InPlace {
                self.c(["i", "j"])
            } else {
                "s".to_owned()
            };
            one = format!("{{{target}+=*a**b;a++;b+={n};}}");
        }
        if self.prefetch.any() && self.sums_k() {
            let ahead = self
                .prefetch
                .statement(|distance| format!("B+(k+{distance})*{n}+j"));
            one = format!(
                "{{{ahead}{}}}",
                one.trim_start_matches('{').trim_end_matches('}')
            );
        }
        let Some(by) = self.unroll.hand() else {
            let pragma = match (self.unroll.pragma(), self.simd) {
                (Some(by), _) => format!("\n#pragma GCC unroll {by}\n"),
                (None, Simd::Yes) if self.sums_k() => {
                    "\n#pragma omp simd reduction(+:s)\n".to_owned()
                }
                (None, Simd::Yes) => "\n#pragma omp simd\n".to_owned(),
                (None, Simd::No) => String::new(),
            };
            return format!("{pragma}for(int {var}={from};{condition};{var}++){one}");
        };
        let many = self.sum == Sum::Many;
        let body: String = (0..by)
            .map(|at| self.statement(at, &name(if many { at } else { 0 })))
            .collect();
        let next = step_of(var, by);
        if self.edge == Edge::Exact {
            return format!("for(int {var}={from};{condition};{next}){{{body}}}");
        }
        let end = condition
            .strip_prefix(&format!("{var}<"))
            .unwrap_or(&condition);
        format!(
            "int {var}={from};for(;{var}+{by}<={end};{next}){{{body}}}for(;{condition};{var}++){one}"
        )
    }
}

/// `i+1` in brackets, `i` unchanged.
fn bracketed(index: &str) -> String {
    if index.contains('+') {
        format!("({index})")
    } else {
        index.to_owned()
    }
}
