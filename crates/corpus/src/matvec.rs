//! Matrix times vector: by rows or by columns, several rows at a time, in scalars or vectors.

use crate::axis::{axis, space};
use crate::dress::{Edge, Needs, Prefetch, Qualifiers, Threads, Tile, Unit, Unroll, Uses};

axis!(
    /// What the inner loop runs along.
    Along {
        /// Along a row, into sums.
        Row = 4,
        /// Along a column, adding to y.
        Column = 1,
    }
);

axis!(
    /// Rows summed at once.
    Rows(u32) { 1 = 6, 2 = 4, 4 = 5, 8 = 2 }
);

axis!(
    /// Sums of one row.
    Sums(u32) { 1 = 6, 2 = 3, 4 = 3 }
);

axis!(
    /// How elements are named.
    Address {
        /// By index.
        Index = 3,
        /// By a pointer to the row.
        Pointer = 2,
    }
);

axis!(
    /// How the remainder of a vector loop is computed.
    Rest {
        /// A scalar loop.
        Loop = 3,
        /// A masked vector.
        Mask = 1,
    }
);

axis!(
    /// Whether the innermost loop has `#pragma omp simd`.
    Simd {
        No = 4,
        Yes = 1,
    }
);

space!(
    /// A matrix-vector product.
    Matvec {
        /// What the inner loop runs along.
        along: Along,
        /// Its registers.
        unit: Unit,
        /// Rows at once.
        rows: Rows,
        /// Sums of one row.
        sums: Sums,
        /// Tile of columns.
        tile: Tile,
        /// End of tiles.
        edge: Edge,
        /// Unrolling.
        unroll: Unroll,
        /// Names of elements.
        address: Address,
        /// The remainder.
        rest: Rest,
        /// Vectors by pragma.
        simd: Simd,
        threads: Threads,
        prefetch: Prefetch,
        qualifiers: Qualifiers,
    }
);

impl Matvec {
    /// Whether the choices fit together, and none of them is without effect.
    pub fn makes_sense(&self) -> bool {
        let (vector, one_row) = (self.unit.is_vector(), self.rows.0 == 1);
        let pragmas = self.simd == Simd::No || (self.unroll == Unroll::One && self.sums.0 == 1);
        let unit = if vector {
            self.simd == Simd::No
                && self.tile.0 == 0
                && self.unroll.hand().is_none()
                && self.along == Along::Row
        } else {
            self.rest == Rest::Loop
                && (self.sums.0 == 1)
                && (one_row || self.unroll.hand().is_none())
        };
        let mask = self.rest == Rest::Loop || (self.unit == Unit::Avx512 && self.sums.0 == 1);
        let edge = if self.tile.0 > 0 {
            self.edge == Edge::Min
        } else {
            self.edge == Edge::Exact
        };
        let along = self.along == Along::Row
            || (one_row
                && !self.threads.any()
                && self.address == Address::Index
                && self.unroll.hand().is_none());
        let tiled = self.tile.0 == 0
            || (one_row
                && !self.threads.any()
                && self.unroll.hand().is_none()
                && self.along == Along::Row);
        let size = self.rows.0 * self.sums.0 <= 8;
        pragmas
            && unit
            && mask
            && edge
            && along
            && tiled
            && size
            && self.threads != Threads::Collapse
    }

    /// Its techniques.
    pub fn uses(&self) -> Uses {
        Uses {
            blocks: self.tile.0 > 0,
            simd: self.unit.is_vector() || self.simd == Simd::Yes,
            threads: self.threads.any(),
            prefetch: self.prefetch.any(),
        }
    }

    /// The C source, not yet canonical.
    pub fn source(&self) -> String {
        let needs = Needs {
            immintrin: self.unit.is_intrinsic() || self.prefetch.is_intrinsic(),
            omp: self.threads == Threads::Split,
            ..Needs::default()
        };
        let (input, output) = (self.qualifiers.input(), self.qualifiers.output());
        let mut code = needs.lines() + self.unit.declaration();
        code += &format!("void matvec({input}A,{input}x,{output}y,int M,int N){{");
        code += &match (self.along, self.tile.0) {
            (Along::Column, _) => self.columns(),
            (Along::Row, 0) => self.all_rows(),
            (Along::Row, tile) => self.tiled(tile),
        };
        code + "}"
    }

    fn pragma(&self, reduction: &str) -> String {
        match (self.unroll.pragma(), self.simd) {
            (Some(by), _) => format!("\n#pragma GCC unroll {by}\n"),
            (None, Simd::Yes) => format!("\n#pragma omp simd{reduction}\n"),
            (None, Simd::No) => String::new(),
        }
    }

    fn columns(&self) -> String {
        let ahead = self
            .prefetch
            .statement(|distance| format!("A+i*N+j+{distance}"));
        let body = format!("{ahead}y[i]+=A[i*N+j]*x[j];");
        let body = if ahead.is_empty() {
            body
        } else {
            format!("{{{body}}}")
        };
        let pragma = self.pragma("");
        format!(
            "for(int i=0;i<M;i++)y[i]=0;for(int j=0;j<N;j++){{{pragma}for(int i=0;i<M;i++){body}}}"
        )
    }

    fn tiled(&self, tile: u32) -> String {
        let ahead = self
            .prefetch
            .statement(|distance| format!("A+(i+{distance})*N+jj"));
        let (declared, name) = self.row(1);
        let pragma = self.pragma(" reduction(+:s)");
        let a = name(0, "j");
        format!(
            "for(int i=0;i<M;i++)y[i]=0;for(int jj=0;jj<N;jj+={tile}){{int je=jj+{tile}<N?jj+{tile}:N;\
             for(int i=0;i<M;i++){{{ahead}{declared}double s=0;{pragma}for(int j=jj;j<je;j++)s+={a}*x[j];y[i]+=s;}}}}"
        )
    }

    /// The declaration of row pointers, and how an element of a row is named.
    fn row(&self, rows: u32) -> (String, impl Fn(u32, &str) -> String + use<>) {
        let pointer = self.address == Address::Pointer;
        let names: Vec<String> = (0..rows)
            .map(|r| match r {
                0 => "*a0=A+i*N".to_owned(),
                r => format!("*a{r}=A+(i+{r})*N"),
            })
            .collect();
        let kind = self.qualifiers.local().trim_end_matches('*');
        let declared = if pointer {
            format!("{kind} {};", names.join(","))
        } else {
            String::new()
        };
        let name = move |r: u32, j: &str| match (pointer, r) {
            (true, r) => format!("a{r}[{j}]"),
            (false, 0) => format!("A[i*N+{j}]"),
            (false, r) => format!("A[(i+{r})*N+{j}]"),
        };
        (declared, name)
    }

    fn all_rows(&self) -> String {
        let rows = self.rows.0;
        let end = if rows > 1 {
            format!("M/{rows}*{rows}")
        } else {
            "M".to_owned()
        };
        let head = self.threads.head("i", &end, rows);
        let body = if self.unit.is_vector() {
            self.vector_rows()
        } else {
            self.scalar_rows()
        };
        let mut code = format!("{}{body}{}", head.text, "}".repeat(head.braces));
        if rows > 1 {
            code += &format!(
                "for(int i={end};i<M;i++){{double s=0;for(int j=0;j<N;j++)s+=A[i*N+j]*x[j];y[i]=s;}}"
            );
        }
        code
    }

    fn scalar_rows(&self) -> String {
        let rows = self.rows.0;
        let (declared, name) = self.row(rows);
        let ahead = self
            .prefetch
            .statement(|distance| format!("A+(i+{distance})*N"));
        let by = self.unroll.hand().unwrap_or(1);
        let sums: Vec<String> = (0..rows.max(by)).map(|r| format!("s{r}")).collect();
        let zeros: Vec<String> = sums.iter().map(|sum| format!("{sum}=0")).collect();
        let mut code = format!("{declared}{ahead}double {};", zeros.join(","));
        if by > 1 {
            let body: String = (0..by)
                .map(|at| {
                    let j = if at == 0 {
                        "j".to_owned()
                    } else {
                        format!("j+{at}")
                    };
                    format!("s{at}+={}*x[{j}];", name(0, &j))
                })
                .collect();
            let tail = format!("s0+={}*x[j];", name(0, "j"));
            code += &format!(
                "int j=0;for(;j+{by}<=N;j+={by}){{{body}}}for(;j<N;j++){tail}y[i]={};",
                sums.join("+")
            );
            return code;
        }
        let body: String = (0..rows)
            .map(|r| format!("s{r}+={}*x[j];", name(r, "j")))
            .collect();
        let body = if rows > 1 {
            format!("{{{body}}}")
        } else {
            body
        };
        code += &format!(
            "{}for(int j=0;j<N;j++){body}",
            self.pragma(&format!(" reduction(+:{})", sums.join(",")))
        );
        code + &(0..rows)
            .map(|r| format!("y[i{}]=s{r};", plus(r)))
            .collect::<String>()
    }

    fn vector_rows(&self) -> String {
        let (unit, rows, sums) = (self.unit, self.rows.0, self.sums.0);
        let (width, stride) = (unit.width(), unit.width() * sums);
        let each = move || (0..rows).flat_map(move |r| (0..sums).map(move |v| (r, v)));
        let zeros: Vec<String> = each().map(|(r, v)| format!("s{r}{v}={{0}}")).collect();
        let pointer = self.address == Address::Pointer;
        let (declared, name) = self.row(rows);
        let base = |r: u32, j: &str| {
            if pointer {
                [format!("a{r}"), j.to_owned()]
            } else if r == 0 {
                ["A".to_owned(), format!("i*N+{j}")]
            } else {
                ["A".to_owned(), format!("(i+{r})*N+{j}")]
            }
        };
        let ahead = self
            .prefetch
            .statement(|distance| format!("A+i*N+j+{}", distance * stride));
        let mut code = format!("{declared}{} {};", unit.name(), zeros.join(","));
        if self.rest == Rest::Mask {
            code += &format!(
                "{}for(int j=0;j<N;j+=8){{{ahead}__mmask8 m=N-j<8?(1<<(N-j))-1:255;",
                self.pragma("")
            );
            code += "__m512d z=_mm512_maskz_loadu_pd(m,x+j);";
            for r in 0..rows {
                let [base, index] = base(r, "j");
                code += &unit.fma(
                    &format!("s{r}0"),
                    &format!("_mm512_maskz_loadu_pd(m,{base}+{index})"),
                    "z",
                );
            }
            code += "}";
        } else {
            let loads: Vec<String> = (0..sums)
                .map(|v| format!("z{v}={}", unit.load("x", &format!("j{}", plus(v * width)))))
                .collect();
            code += &format!(
                "int j=0;{}for(;j+{stride}<=N;j+={stride}){{{ahead}",
                self.pragma("")
            );
            code += &format!("{} {};", unit.name(), loads.join(","));
            for (r, v) in each() {
                let [base, index] = base(r, &format!("j{}", plus(v * width)));
                code += &unit.fma(
                    &format!("s{r}{v}"),
                    &unit.load(&base, &index),
                    &format!("z{v}"),
                );
            }
            code += "}";
        }
        for r in 0..rows {
            code += &self.reduce(r);
        }
        if self.rest == Rest::Loop {
            let tails: String = (0..rows)
                .map(|r| format!("y[i{}]+={}*x[j];", plus(r), name(r, "j")))
                .collect();
            code += &if rows > 1 {
                format!("for(;j<N;j++){{{tails}}}")
            } else {
                format!("for(;j<N;j++){tails}")
            };
        }
        code
    }

    /// Adds the lanes of a row's sums into y.
    fn reduce(&self, r: u32) -> String {
        let y = format!("y[i{}]", plus(r));
        let sums: Vec<String> = (0..self.sums.0).map(|v| format!("s{r}{v}")).collect();
        match self.unit {
            Unit::Avx512 => {
                let total = sums.iter().skip(1).fold(sums[0].clone(), |sum, next| {
                    format!("_mm512_add_pd({sum},{next})")
                });
                format!("{y}=_mm512_reduce_add_pd({total});")
            }
            Unit::Scalar | Unit::Avx2 | Unit::Ext4 | Unit::Ext8 => {
                let width = self.unit.width();
                // GCC allows indexing any vector.
                let total: Vec<String> = sums.iter().map(|sum| format!("{sum}[l]")).collect();
                format!("{y}=0;for(int l=0;l<{width};l++){y}+={};", total.join("+"))
            }
        }
    }
}

fn plus(by: u32) -> String {
    if by == 0 {
        String::new()
    } else {
        format!("+{by}")
    }
}
