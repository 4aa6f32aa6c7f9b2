//! Softmax of rows: its passes, its maximum and its division by the sum.

use crate::axis::{axis, space};
use crate::dress::{Needs, Prefetch, Qualifiers, Threads, Unit, Unroll, Uses};

axis!(
    /// How the maximum is found that is subtracted first. This is optional, because inputs are
    /// between -10 and 10.
    Maximum {
        /// By a test.
        Test = 3,
        /// By `fmax`.
        Call = 2,
        /// By a conditional expression.
        Choose = 2,
        /// Not at all.
        None = 2,
    }
);

axis!(
    /// How results are made from exponentials.
    Finish {
        /// Divided by the sum.
        Divide = 2,
        /// Multiplied by its reciprocal.
        Multiply = 2,
    }
);

axis!(
    /// How elements are named.
    Address {
        /// By index.
        Index = 2,
        /// By pointers to rows.
        Rows = 2,
    }
);

axis!(
    /// Where an exponential is kept before it is added.
    Keep {
        Output = 2,
        Local = 2,
    }
);

axis!(
    /// Whether loops have `#pragma omp simd`.
    Simd {
        No = 4,
        Yes = 1,
    }
);

space!(Softmax {
    maximum: Maximum,
    /// The last pass's arithmetic.
    finish: Finish,
    /// Registers of the last pass.
    unit: Unit,
    /// Names of elements.
    address: Address,
    /// Where an exponential is kept.
    keep: Keep,
    /// Unrolling of the last pass.
    unroll: Unroll,
    /// Vectors by pragma.
    simd: Simd,
    threads: Threads,
    /// Prefetch of a row ahead.
    prefetch: Prefetch,
    qualifiers: Qualifiers,
});

impl Softmax {
    /// Whether the choices fit together, and none of them is without effect.
    pub fn makes_sense(&self) -> bool {
        let vector = self.unit.is_vector();
        let pragmas = self.simd == Simd::No || (self.unroll == Unroll::One && !vector);
        pragmas && (!vector || self.unroll.hand().is_none()) && self.threads != Threads::Collapse
    }

    /// Its techniques.
    pub fn uses(&self) -> Uses {
        Uses {
            blocks: false,
            simd: self.unit.is_vector() || self.simd == Simd::Yes,
            threads: self.threads.any(),
            prefetch: self.prefetch.any(),
        }
    }

    fn a(&self, j: &str) -> String {
        if self.address == Address::Rows {
            format!("a[{j}]")
        } else {
            format!("in[i*N+{j}]")
        }
    }

    fn b(&self, j: &str) -> String {
        if self.address == Address::Rows {
            format!("b[{j}]")
        } else {
            format!("out[i*N+{j}]")
        }
    }

    /// The C source, not yet canonical.
    pub fn source(&self) -> String {
        let needs = Needs {
            immintrin: self.unit.is_intrinsic() || self.prefetch.is_intrinsic(),
            math: true,
            omp: self.threads == Threads::Split,
            ..Needs::default()
        };
        let (input, output) = (self.qualifiers.input(), self.qualifiers.output());
        let mut code = needs.lines() + self.unit.declaration();
        code += &format!("void softmax({input}in,{output}out,int M,int N){{");
        let head = self.threads.head("i", "M", 1);
        code += &head.text;
        code += &self
            .prefetch
            .statement(|distance| format!("in+(i+{distance})*N"));
        if self.address == Address::Rows {
            code += &format!("{}a=in+i*N;double*b=out+i*N;", self.qualifiers.local());
        }
        let simd = |clause: &str| {
            if self.simd == Simd::Yes {
                format!("\n#pragma omp simd{clause}\n")
            } else {
                String::new()
            }
        };
        if self.maximum != Maximum::None {
            let a = self.a("j");
            let test = match self.maximum {
                Maximum::Test => format!("if({a}>m)m={a};"),
                Maximum::Call => format!("m=fmax(m,{a});"),
                Maximum::Choose | Maximum::None => format!("m={a}>m?{a}:m;"),
            };
            let first = if self.address == Address::Rows {
                "a[0]"
            } else {
                "in[i*N]"
            };
            code += &format!(
                "double m={first};{}for(int j=1;j<N;j++){test}",
                simd(" reduction(max:m)")
            );
        }
        let argument = if self.maximum == Maximum::None {
            self.a("j")
        } else {
            format!("{}-m", self.a("j"))
        };
        let b = self.b("j");
        code += "double s=0;";
        code += &match self.keep {
            Keep::Output => format!("for(int j=0;j<N;j++){{{b}=exp({argument});s+={b};}}"),
            Keep::Local => format!("for(int j=0;j<N;j++){{double e=exp({argument});s+=e;{b}=e;}}"),
        };
        if self.finish == Finish::Multiply {
            code += "s=1/s;";
        }
        code += &self.last_pass(&simd(""));
        code += &"}".repeat(head.braces);
        code + "}"
    }

    fn last_pass(&self, simd: &str) -> String {
        let sign = if self.finish == Finish::Divide {
            "/"
        } else {
            "*"
        };
        let one = format!("{}{sign}=s;", self.b("j"));
        let pragma = self
            .unroll
            .pragma()
            .map_or(simd.to_owned(), |by| format!("\n#pragma GCC unroll {by}\n"));
        if self.unit.is_vector() {
            let (unit, width) = (self.unit, self.unit.width());
            let (base, index) = if self.address == Address::Rows {
                ("b", "j")
            } else {
                ("out", "i*N+j")
            };
            let word = if self.finish == Finish::Divide {
                "div"
            } else {
                "mul"
            };
            let old = unit.load(base, index);
            let value = match unit {
                Unit::Avx2 => format!("_mm256_{word}_pd({old},{})", unit.splat("s")),
                Unit::Avx512 => format!("_mm512_{word}_pd({old},{})", unit.splat("s")),
                Unit::Scalar | Unit::Ext4 | Unit::Ext8 => format!("{old}{sign}s"),
            };
            let store = unit.store(base, index, &value);
            return format!(
                "int j=0;{pragma}for(;j+{width}<=N;j+={width}){store}for(;j<N;j++){one}"
            );
        }
        if let Some(by) = self.unroll.hand() {
            let each = |ahead: u32| {
                if ahead == 0 {
                    "j".to_owned()
                } else {
                    format!("j+{ahead}")
                }
            };
            let body: String = (0..by)
                .map(|ahead| format!("{}{sign}=s;", self.b(&each(ahead))))
                .collect();
            return format!("int j=0;for(;j+{by}<=N;j+={by}){{{body}}}for(;j<N;j++){one}");
        }
        format!("{pragma}for(int j=0;j<N;j++){one}")
    }
}
