//! The five-point stencil: its boundary, tiles and vectors.

use crate::axis::{axis, space};
use crate::dress::{Edge, Needs, Prefetch, Qualifiers, Threads, Tile, Unit, Unroll, Uses, step_of};

axis!(
    /// How the boundary is handled.
    Boundary {
        /// By a test at every cell.
        Test = 3,
        /// By copying everything first.
        Copy = 2,
        /// By separate loops.
        Loops = 3,
    }
);

axis!(
    /// The order of the loops.
    Order {
        /// Along rows.
        Rows = 4,
        /// Along columns.
        Columns = 1,
    }
);

axis!(
    /// How the sum is scaled.
    Scale {
        /// By division.
        Divide = 2,
        /// By multiplication.
        Multiply = 2,
    }
);

axis!(
    /// How cells are named.
    Address {
        /// By index.
        Index = 2,
        /// By pointers to three rows.
        Rows = 2,
        /// By the cell's own number.
        Number = 1,
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
    /// A sweep over a grid.
    Stencil {
        boundary: Boundary,
        /// Its registers.
        unit: Unit,
        /// Order of the loops.
        order: Order,
        /// Tile of rows.
        ti: Tile,
        /// Tile of columns.
        tj: Tile,
        /// Ends of tiles.
        edge: Edge,
        /// Unrolling of the innermost loop.
        unroll: Unroll,
        /// How the sum is scaled.
        scale: Scale,
        /// Names of cells.
        address: Address,
        /// Vectors by pragma.
        simd: Simd,
        threads: Threads,
        /// Prefetch of a row below.
        prefetch: Prefetch,
        qualifiers: Qualifiers,
    }
);

const VARS: [&str; 2] = ["i", "j"];
const SIZES: [&str; 2] = ["H", "W"];

impl Stencil {
    fn tiles(&self) -> [u32; 2] {
        [self.ti.0, self.tj.0]
    }

    fn order(&self) -> [usize; 2] {
        if self.order == Order::Rows {
            [0, 1]
        } else {
            [1, 0]
        }
    }

    /// Whether the choices fit together, and none of them is without effect.
    pub fn makes_sense(&self) -> bool {
        let tiled = self.ti.0 > 0 || self.tj.0 > 0;
        let by_hand = self.unroll.hand().is_some();
        let rows = self.order == Order::Rows;
        let edge = match self.edge {
            Edge::Exact => !tiled,
            Edge::Min => tiled,
            Edge::And => tiled && !by_hand && self.simd == Simd::No && !self.unit.is_vector(),
        };
        let test = self.boundary != Boundary::Test
            || (self.unroll == Unroll::One && self.simd == Simd::No && !self.unit.is_vector());
        let unit = !self.unit.is_vector()
            || (rows && !by_hand && self.simd == Simd::No && self.address != Address::Number);
        let pragmas = self.simd == Simd::No || (self.unroll == Unroll::One && rows);
        let address = self.address != Address::Rows || rows;
        let unrolled =
            !by_hand || (self.unroll != Unroll::Hand8 && self.address != Address::Number && rows);
        let threads = match self.threads {
            Threads::None => true,
            Threads::Collapse => self.ti.0 > 0 && self.tj.0 > 0,
            Threads::Split => {
                tiled && self.tiles()[self.order()[0]] > 0
                    || (!tiled && self.boundary == Boundary::Test)
            }
            _ => !tiled || self.tiles()[self.order()[0]] > 0,
        };
        edge && test
            && unit
            && pragmas
            && address
            && unrolled
            && threads
            && (rows || !self.prefetch.any())
    }

    /// Its techniques.
    pub fn uses(&self) -> Uses {
        Uses {
            blocks: self.ti.0 > 0 || self.tj.0 > 0,
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
            string: self.boundary == Boundary::Copy,
            ..Needs::default()
        };
        let (input, output) = (self.qualifiers.input(), self.qualifiers.output());
        let mut code = needs.lines() + self.unit.declaration();
        code += &format!("void stencil2d({input}in,{output}out,int H,int W){{");
        code += match self.boundary {
            Boundary::Test => "",
            Boundary::Copy => "memcpy(out,in,H*W*sizeof(double));",
            Boundary::Loops => {
                "for(int j=0;j<W;j++){out[j]=in[j];out[(H-1)*W+j]=in[(H-1)*W+j];}\
                 for(int i=0;i<H;i++){out[i*W]=in[i*W];out[i*W+W-1]=in[i*W+W-1];}"
            }
        };
        let mut braces = 0;
        let mut threads = self.threads;
        let tiled: Vec<usize> = self
            .order()
            .into_iter()
            .filter(|d| self.tiles()[*d] > 0)
            .collect();
        for dimension in &tiled {
            let var = VARS[*dimension];
            // Tiles start at 0 or 1, like the cells inside.
            let mut head = threads.head(
                &format!("{var}{var}"),
                SIZES[*dimension],
                self.tiles()[*dimension],
            );
            if self.boundary != Boundary::Test && threads != Threads::Split {
                head.text = head
                    .text
                    .replace(&format!("{var}{var}=0;"), &format!("{var}{var}=1;"));
            } else if threads == Threads::Split && self.boundary != Boundary::Test {
                let tile = self.tiles()[*dimension];
                head.text = head
                    .text
                    .replace(&format!("={tile}*t;"), &format!("={tile}*t+1;"));
            }
            code += &head.text;
            braces += head.braces;
            threads = Threads::None;
        }
        if self.edge == Edge::Min {
            for dimension in tiled {
                let (var, tile, end) = (
                    VARS[dimension],
                    self.tiles()[dimension],
                    self.end(dimension),
                );
                code += &format!("int {var}e={var}{var}+{tile}<{end}?{var}{var}+{tile}:{end};");
            }
        }
        let [outer, inner] = self.order();
        let (head, closing) = self.head(outer, threads);
        code += &head;
        braces += closing;
        code += &self
            .prefetch
            .statement(|distance| format!("in+(i+{})*W", distance + 1));
        if self.address == Address::Rows {
            let kind = self.qualifiers.local();
            let kind = kind.trim_end_matches('*');
            code += &format!("{kind}*a=in+i*W,*b=a-W,*c=a+W;double*d=out+i*W;");
        }
        code += &self.innermost(inner);
        code += &"}".repeat(braces);
        code + "}"
    }

    /// The end of the loops over cells.
    fn end(&self, dimension: usize) -> String {
        let size = SIZES[dimension];
        if self.boundary == Boundary::Test {
            size.to_owned()
        } else {
            format!("{size}-1")
        }
    }

    fn from(&self, dimension: usize) -> String {
        let var = VARS[dimension];
        match (self.tiles()[dimension], self.boundary) {
            (0, Boundary::Test) => "0".to_owned(),
            (0, Boundary::Copy | Boundary::Loops) => "1".to_owned(),
            _ => format!("{var}{var}"),
        }
    }

    fn inside(&self, dimension: usize) -> String {
        let (var, tile, end) = (
            VARS[dimension],
            self.tiles()[dimension],
            self.end(dimension),
        );
        match (tile, self.edge) {
            (0, _) => format!("{var}<{end}"),
            (_, Edge::Min) => format!("{var}<{var}e"),
            (_, Edge::And | Edge::Exact) => format!("{var}<{var}{var}+{tile}&&{var}<{end}"),
        }
    }

    fn head(&self, dimension: usize, threads: Threads) -> (String, usize) {
        let (var, from) = (VARS[dimension], self.from(dimension));
        if self.tiles()[dimension] == 0 {
            let mut head = threads.head(var, &self.end(dimension), 1);
            head.text = head
                .text
                .replace(&format!("int {var}=0;"), &format!("int {var}={from};"));
            return (head.text, head.braces);
        }
        (
            format!("for(int {var}={from};{};{var}++){{", self.inside(dimension)),
            1,
        )
    }

    /// The names of a cell and its neighbours (own, left, right, above, below) and of the result.
    fn names(&self, ahead: u32) -> [String; 6] {
        let j = if ahead == 0 {
            "j".to_owned()
        } else {
            format!("j+{ahead}")
        };
        let left = if ahead == 0 {
            "j-1".to_owned()
        } else if ahead == 1 {
            "j".to_owned()
        } else {
            format!("j+{}", ahead - 1)
        };
        let right = format!("j+{}", ahead + 1);
        match self.address {
            Address::Index => [
                format!("in[i*W+{j}]"),
                format!("in[i*W+{left}]"),
                format!("in[i*W+{right}]"),
                format!("in[(i-1)*W+{j}]"),
                format!("in[(i+1)*W+{j}]"),
                format!("out[i*W+{j}]"),
            ],
            Address::Rows => [
                format!("a[{j}]"),
                format!("a[{left}]"),
                format!("a[{right}]"),
                format!("b[{j}]"),
                format!("c[{j}]"),
                format!("d[{j}]"),
            ],
            Address::Number => [
                "in[x]", "in[x-1]", "in[x+1]", "in[x-W]", "in[x+W]", "out[x]",
            ]
            .map(str::to_owned),
        }
    }

    fn scale(&self) -> &'static str {
        if self.scale == Scale::Divide {
            "/5"
        } else {
            "*0.2"
        }
    }

    fn statement(&self, ahead: u32) -> String {
        let [own, left, right, above, below, result] = self.names(ahead);
        format!(
            "{result}=({own}+{left}+{right}+{above}+{below}){};",
            self.scale()
        )
    }

    fn innermost(&self, inner: usize) -> String {
        let (var, from, condition) = (VARS[inner], self.from(inner), self.inside(inner));
        let mut one = self.statement(0);
        if self.boundary == Boundary::Test {
            let [own, .., result] = self.names(0);
            one = format!("if(i==0||j==0||i==H-1||j==W-1){result}={own};else {one}");
        }
        if self.address == Address::Number {
            one = format!("{{int x=i*W+j;{one}}}");
        }
        let end = condition
            .strip_prefix(&format!("{var}<"))
            .unwrap_or(&condition);
        if self.unit.is_vector() {
            let width = self.unit.width();
            let pragma = self
                .unroll
                .pragma()
                .map_or(String::new(), |by| format!("\n#pragma GCC unroll {by}\n"));
            let body = self.vector();
            return format!(
                "int {var}={from};{pragma}for(;{var}+{width}<={end};{var}+={width}){{{body}}}for(;{condition};{var}++){one}"
            );
        }
        if let Some(by) = self.unroll.hand() {
            let body: String = (0..by).map(|ahead| self.statement(ahead)).collect();
            let next = step_of(var, by);
            return format!(
                "int {var}={from};for(;{var}+{by}<={end};{next}){{{body}}}for(;{condition};{var}++){one}"
            );
        }
        let pragma = match (self.unroll.pragma(), self.simd) {
            (Some(by), _) => format!("\n#pragma GCC unroll {by}\n"),
            (None, Simd::Yes) => "\n#pragma omp simd\n".to_owned(),
            (None, Simd::No) => String::new(),
        };
        format!("{pragma}for(int {var}={from};{condition};{var}++){one}")
    }

    /// One register of results.
    fn vector(&self) -> String {
        let unit = self.unit;
        let split = |name: &String| {
            let (base, index) = name
                .trim_end_matches(']')
                .split_once('[')
                .unwrap_or((name, "0"));
            (base.to_owned(), index.to_owned())
        };
        let names = self.names(0);
        let [own, left, right, above, below, result] = names.each_ref().map(split);
        let load = |(base, index): &(String, String)| unit.load(base, index);
        let mut code = format!("{} s={};", unit.name(), load(&own));
        let operation = |name: &str, value: &str| match unit {
            Unit::Avx2 => format!("s=_mm256_{name}_pd(s,{value});"),
            Unit::Avx512 => format!("s=_mm512_{name}_pd(s,{value});"),
            Unit::Scalar | Unit::Ext4 | Unit::Ext8 => {
                format!(
                    "s{}={value};",
                    if name == "add" {
                        "+"
                    } else if name == "mul" {
                        "*"
                    } else {
                        "/"
                    }
                )
            }
        };
        for neighbour in [left, right, above, below] {
            code += &operation("add", &load(&neighbour));
        }
        code += &match self.scale {
            Scale::Divide => operation("div", &unit.splat("5")),
            Scale::Multiply => operation("mul", &unit.splat("0.2")),
        };
        code + &unit.store(&result.0, &result.1, "s")
    }
}
