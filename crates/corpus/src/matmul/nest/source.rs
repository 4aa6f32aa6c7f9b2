//! A loop nest writes itself as C.

use super::{Address, Hoist, Nest, Simd, Sum, Zero};
use crate::dress::{Edge, Needs, Threads, step_of};
use crate::matmul::Buffer;

const VARS: [&str; 3] = ["i", "j", "k"];

impl Nest {
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
