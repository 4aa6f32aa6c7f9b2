//! Transposition: loops, tiles, small blocks in locals, and shuffled vectors.

use crate::axis::{axis, space};
use crate::dress::{Edge, Needs, Prefetch, Qualifiers, Threads, Tile, Unroll, Uses, step_of};

axis!(
    /// The order of the loops.
    Order {
        /// Along rows of the input.
        Reads = 3,
        /// Along rows of the output.
        Writes = 2,
    }
);

axis!(
    /// What is moved at once.
    Block {
        Element = 12,
        /// 2 x 2 through locals.
        Two = 2,
        /// 4 x 4 through a local array.
        Four = 3,
        /// 8 x 8 through a local array.
        Eight = 2,
        /// 4 x 4 in AVX2 registers.
        Avx2 = 3,
        /// 8 rows gathered into one AVX-512 register.
        Gather = 2,
        /// One AVX-512 register scattered to 8 rows.
        Scatter = 2,
    }
);

impl Block {
    /// Rows and columns of the input that a block covers.
    fn shape(self) -> [u32; 2] {
        match self {
            Self::Element => [1, 1],
            Self::Two => [2, 2],
            Self::Four | Self::Avx2 => [4, 4],
            Self::Eight => [8, 8],
            Self::Gather => [8, 1],
            Self::Scatter => [1, 8],
        }
    }

    fn is_vector(self) -> bool {
        matches!(self, Self::Avx2 | Self::Gather | Self::Scatter)
    }
}

axis!(
    /// How elements are named.
    Address {
        /// By index.
        Index = 3,
        /// By a pointer to the row.
        Rows = 2,
    }
);

space!(
    /// A transposition.
    Transpose {
        /// Order of the loops.
        order: Order,
        /// What is moved at once.
        block: Block,
        /// Tile of rows.
        ti: Tile,
        /// Tile of columns.
        tj: Tile,
        /// Ends of tiles.
        edge: Edge,
        /// Unrolling of the innermost loop.
        unroll: Unroll,
        /// Names of elements.
        address: Address,
        threads: Threads,
        /// Prefetch of the input.
        prefetch: Prefetch,
        qualifiers: Qualifiers,
    }
);

const VARS: [&str; 2] = ["i", "j"];
const SIZES: [&str; 2] = ["M", "N"];

impl Transpose {
    fn tiles(&self) -> [u32; 2] {
        [self.ti.0, self.tj.0]
    }

    fn order(&self) -> [usize; 2] {
        if self.order == Order::Reads {
            [0, 1]
        } else {
            [1, 0]
        }
    }

    /// Whether the choices fit together, and none of them is without effect.
    pub fn makes_sense(&self) -> bool {
        let tiled = self.ti.0 > 0 || self.tj.0 > 0;
        let by_hand = self.unroll.hand().is_some();
        let edge = match self.edge {
            Edge::Exact => !tiled,
            Edge::Min => tiled && self.block == Block::Element,
            Edge::And => tiled && !by_hand,
        };
        let block = self.block == Block::Element
            || (self.unroll == Unroll::One && self.address == Address::Index);
        let outer_tiled = self.tiles()[self.order()[0]] > 0;
        let collapse = match self.threads {
            Threads::Collapse => {
                let both = self.ti.0 > 0 && self.tj.0 > 0;
                let plain = self.unroll == Unroll::One
                    && self.address == Address::Index
                    && !self.prefetch.any();
                both || (!tiled && plain)
            }
            _ => outer_tiled || !tiled,
        };
        edge && block && collapse
    }

    /// Its techniques.
    pub fn uses(&self) -> Uses {
        Uses {
            blocks: self.ti.0 > 0 || self.tj.0 > 0,
            simd: self.block.is_vector(),
            threads: self.threads.any(),
            prefetch: self.prefetch.any(),
        }
    }

    /// The C source, not yet canonical.
    pub fn source(&self) -> String {
        let needs = Needs {
            immintrin: self.block.is_vector() || self.prefetch.is_intrinsic(),
            omp: self.threads == Threads::Split,
            ..Needs::default()
        };
        let (input, output) = (self.qualifiers.input(), self.qualifiers.output());
        let mut code =
            needs.lines() + &format!("void transpose({input}in,{output}out,int M,int N){{");
        let mut braces = 0;
        let mut threads = self.threads;
        let tiled: Vec<usize> = self
            .order()
            .into_iter()
            .filter(|d| self.tiles()[*d] > 0)
            .collect();
        for dimension in &tiled {
            let var = VARS[*dimension];
            let head = threads.head(
                &format!("{var}{var}"),
                SIZES[*dimension],
                self.tiles()[*dimension],
            );
            code += &head.text;
            braces += head.braces;
            threads = Threads::None;
        }
        if self.edge == Edge::Min {
            for dimension in tiled {
                let (var, size, tile) =
                    (VARS[dimension], SIZES[dimension], self.tiles()[dimension]);
                code += &format!("int {var}e={var}{var}+{tile}<{size}?{var}{var}+{tile}:{size};");
            }
        }
        let [outer, inner] = self.order();
        let (head, closing) = self.head(outer, threads);
        code += &head;
        braces += closing;
        code += &self.prefetch.statement(|distance| match self.order {
            Order::Reads => format!("in+(i+{distance})*N"),
            Order::Writes => format!("out+(j+{distance})*M"),
        });
        if self.block == Block::Element {
            code += &self.elements(inner);
        } else {
            code += &format!("{}{}}}", self.head(inner, Threads::None).0, self.moves());
        }
        code += &"}".repeat(braces);
        if self.block != Block::Element {
            code += &self.rest();
        }
        code + "}"
    }

    /// The head of a loop over elements or blocks, and the braces it opens.
    fn head(&self, dimension: usize, threads: Threads) -> (String, usize) {
        let (var, size, tile) = (VARS[dimension], SIZES[dimension], self.tiles()[dimension]);
        let step = self.block.shape()[dimension];
        if tile == 0 {
            let end = if step > 1 {
                format!("{size}/{step}*{step}")
            } else {
                size.to_owned()
            };
            let head = threads.head(var, &end, step);
            return (head.text, head.braces);
        }
        (
            format!(
                "for(int {var}={var}{var};{};{}){{",
                self.inside(dimension),
                step_of(var, step)
            ),
            1,
        )
    }

    fn inside(&self, dimension: usize) -> String {
        let (var, size, tile) = (VARS[dimension], SIZES[dimension], self.tiles()[dimension]);
        let step = self.block.shape()[dimension];
        match (tile, self.edge) {
            (0, _) => format!("{var}<{size}"),
            (_, Edge::Min) => format!("{var}<{var}e"),
            (_, Edge::And | Edge::Exact) if step > 1 => {
                format!("{var}<{var}{var}+{tile}&&{var}+{step}<={size}")
            }
            (_, Edge::And | Edge::Exact) => format!("{var}<{var}{var}+{tile}&&{var}<{size}"),
        }
    }

    /// The innermost loop over single elements.
    fn elements(&self, inner: usize) -> String {
        let var = VARS[inner];
        let from = if self.tiles()[inner] > 0 {
            format!("{var}{var}")
        } else {
            "0".to_owned()
        };
        let rows = self.address == Address::Rows;
        let statement = |ahead: u32| {
            let at = if ahead == 0 {
                var.to_owned()
            } else {
                format!("{var}+{ahead}")
            };
            let factor = if ahead == 0 {
                var.to_owned()
            } else {
                format!("({var}+{ahead})")
            };
            match (inner, rows) {
                (1, true) => format!("out[{factor}*M+i]=a[{at}];"),
                (1, false) => format!("out[{factor}*M+i]=in[i*N+{at}];"),
                (_, true) => format!("b[{at}]=in[{factor}*N+j];"),
                (_, false) => format!("out[j*M+{at}]=in[{factor}*N+j];"),
            }
        };
        let mut code = match (inner, rows) {
            (_, false) => String::new(),
            (1, true) => format!("{}a=in+i*N;", self.qualifiers.local()),
            (_, true) => "double*b=out+j*M;".to_owned(),
        };
        let condition = self.inside(inner);
        if let Some(by) = self.unroll.hand() {
            let body: String = (0..by).map(statement).collect();
            let end = condition
                .strip_prefix(&format!("{var}<"))
                .unwrap_or(&condition);
            let next = step_of(var, by);
            code += &format!(
                "int {var}={from};for(;{var}+{by}<={end};{next}){{{body}}}for(;{condition};{var}++){}",
                statement(0)
            );
            return code;
        }
        if let Some(by) = self.unroll.pragma() {
            code += &format!("\n#pragma GCC unroll {by}\n");
        }
        code + &format!("for(int {var}={from};{condition};{var}++){}", statement(0))
    }

    /// Moves one block at (i, j).
    fn moves(&self) -> String {
        match self.block {
            Block::Element => String::new(),
            Block::Two => "double a=in[i*N+j],b=in[i*N+j+1],c=in[(i+1)*N+j],d=in[(i+1)*N+j+1];\
                out[j*M+i]=a;out[j*M+i+1]=c;out[(j+1)*M+i]=b;out[(j+1)*M+i+1]=d;"
                .to_owned(),
            Block::Four | Block::Eight => {
                let edge = self.block.shape()[0];
                format!(
                    "double t[{edge}][{edge}];\
                     for(int r=0;r<{edge};r++)for(int c=0;c<{edge};c++)t[c][r]=in[(i+r)*N+j+c];\
                     for(int c=0;c<{edge};c++)for(int r=0;r<{edge};r++)out[(j+c)*M+i+r]=t[c][r];"
                )
            }
            Block::Avx2 => {
                let row = |r: u32| {
                    if r == 0 {
                        "i".to_owned()
                    } else {
                        format!("(i+{r})")
                    }
                };
                let column = |c: u32| {
                    if c == 0 {
                        "j".to_owned()
                    } else {
                        format!("(j+{c})")
                    }
                };
                let loads: Vec<String> = (0..4)
                    .map(|r| format!("a{r}=_mm256_loadu_pd(in+{}*N+j)", row(r)))
                    .collect();
                let halves = "b0=_mm256_unpacklo_pd(a0,a1),b1=_mm256_unpackhi_pd(a0,a1),\
                    b2=_mm256_unpacklo_pd(a2,a3),b3=_mm256_unpackhi_pd(a2,a3)";
                let stores: String = [
                    (0, "b0,b2,32"),
                    (1, "b1,b3,32"),
                    (2, "b0,b2,49"),
                    (3, "b1,b3,49"),
                ]
                .iter()
                .map(|(c, mix)| {
                    format!(
                        "_mm256_storeu_pd(out+{}*M+i,_mm256_permute2f128_pd({mix}));",
                        column(*c)
                    )
                })
                .collect();
                format!("__m256d {},{halves};{stores}", loads.join(","))
            }
            Block::Gather => "__m256i x=_mm256_set_epi32(7*N,6*N,5*N,4*N,3*N,2*N,N,0);\
                _mm512_storeu_pd(out+j*M+i,_mm512_i32gather_pd(x,in+i*N+j,8));"
                .to_owned(),
            Block::Scatter => "__m256i x=_mm256_set_epi32(7*M,6*M,5*M,4*M,3*M,2*M,M,0);\
                _mm512_i32scatter_pd(out+j*M+i,x,_mm512_loadu_pd(in+i*N+j),8);"
                .to_owned(),
        }
    }

    /// Loops over all elements outside whole blocks.
    fn rest(&self) -> String {
        let from = match self.block.shape() {
            [1, columns] => format!("N/{columns}*{columns}"),
            [rows, 1] => format!("i<M/{rows}*{rows}?N:0"),
            [rows, columns] => format!("i<M/{rows}*{rows}?N/{columns}*{columns}:0"),
        };
        format!("for(int i=0;i<M;i++)for(int j={from};j<N;j++)out[j*M+i]=in[i*N+j];")
    }
}
