//! The files of a generated task.

use hotloop_flow::task::TaskFiles;

use super::expression::{Binary, Dialect};
use super::nest::{Access, Loops, Nest, name};

/// The end of every prompt.
const RULES: &str = "\
You may include the headers of the C standard library, `immintrin.h`, `omp.h` and
`pthread.h`. No other library may be used, no file opened and no process started.
The source is compiled for the machine that runs it: attributes and pragmas that set a
target or an optimisation level are refused.
All work must be done when the function returns.

Answer with one C code block that holds the whole source. Do not write a `main`.
";

/// Values with the sum of the magnitudes behind them, which is what errors are measured against.
const PAIRS: &str = "\
typedef struct { long double v, s; } pair;

static inline pair leaf(double x) { return (pair){x, fabs(x)}; }
static inline pair magnitude(pair x) { return (pair){fabsl(x.v), x.s}; }
static inline pair add(pair x, pair y) { return (pair){x.v + y.v, x.s + y.s}; }
static inline pair subtract(pair x, pair y) { return (pair){x.v - y.v, x.s + y.s}; }
static inline pair multiply(pair x, pair y) { return (pair){x.v * y.v, x.s * y.s}; }
static inline pair larger(pair x, pair y) { return (pair){x.v > y.v ? x.v : y.v, x.s > y.s ? x.s : y.s}; }
static inline pair smaller(pair x, pair y) { return (pair){x.v < y.v ? x.v : y.v, x.s > y.s ? x.s : y.s}; }
";

pub(super) fn files(nest: &Nest, name: &str) -> TaskFiles {
    let entry = name.replace('-', "_");
    TaskFiles {
        toml: toml(nest, name, &entry),
        reference: reference(nest),
        prompt: prompt(nest, &entry),
        seed: seed(nest, &entry),
        baseline: None,
    }
}

/// The shape of a buffer.
fn shape(access: Access) -> Vec<&'static str> {
    match access {
        Access::Straight | Access::Neighbour { .. } => vec!["M", "N"],
        Access::Transposed => vec!["N", "M"],
        Access::Row => vec!["N"],
        Access::Column => vec!["M"],
        Access::Left { transposed: false } => vec!["M", "K"],
        Access::Left { transposed: true } => vec!["K", "M"],
        Access::Right { transposed: false } => vec!["K", "N"],
        Access::Right { transposed: true } => vec!["N", "K"],
    }
}

fn out_shape(nest: &Nest) -> Vec<&'static str> {
    match nest.loops {
        Loops::Sum { over_rows: true } => vec!["M"],
        Loops::Sum { over_rows: false } => vec!["N"],
        _ => vec!["M", "N"],
    }
}

fn signature(nest: &Nest, entry: &str) -> String {
    let mut arguments: Vec<String> = (0..nest.buffers().len())
        .map(|at| format!("double *{}", name(at)))
        .collect();
    arguments.push("double *out".to_owned());
    arguments.extend(nest.timed.iter().map(|(size, _)| format!("int {size}")));
    format!("void {entry}({})", arguments.join(", "))
}

fn toml(nest: &Nest, task: &str, entry: &str) -> String {
    let list = |shape: &[&str]| format!("[\"{}\"]", shape.join("\", \""));
    let mut args = String::new();
    for (at, access) in nest.buffers().into_iter().enumerate() {
        args += &format!(
            "    {{ name = \"{}\", type = \"f64\", role = \"in\", shape = {}, fill = {{ uniform = [-1.0, 1.0] }} }},\n",
            name(at),
            list(&shape(access))
        );
    }
    args += &format!(
        "    {{ name = \"out\", type = \"f64\", role = \"out\", shape = {} }},\n",
        list(&out_shape(nest))
    );
    for (size, _) in &nest.timed {
        args += &format!(
            "    {{ name = \"{size}\", type = \"i32\", role = \"scalar\", value = \"{size}\" }},\n"
        );
    }
    let set = |values: &[i64]| {
        let pairs = nest.timed.iter().zip(values);
        let pairs: Vec<String> = pairs
            .map(|((size, _), value)| format!("{size} = {value}"))
            .collect();
        format!("{{ {} }}", pairs.join(", "))
    };
    let timed: Vec<i64> = nest.timed.iter().map(|(_, value)| *value).collect();
    let hidden: String = hidden(&timed)
        .iter()
        .map(|one| format!("    {},\n", set(one)))
        .collect();
    let most = if timed.len() == 3 { 40 } else { 60 };
    let drawn: Vec<String> = nest
        .timed
        .iter()
        .map(|(size, _)| format!("{size} = [1, {most}]"))
        .collect();
    let (flops, bytes) = cost(nest);
    let length = summed(nest).map_or(String::new(), |size| format!("{size} + "));
    let operations = nest.expression.operations();
    format!(
        "name = \"{task}\"\nsummary = \"generated: {}\"\nlanguage = \"c\"\nentry = \"{entry}\"\ncache = \"warm\"\n\n\
         args = [\n{args}]\n\n[sizes]\ntimed = {}\nhidden = [\n{hidden}]\ndrawn = {{ {} }}\n\n\
         [cost]\nflops = \"{flops}\"\nbytes = \"{bytes}\"\n\n[verify]\nmethod = \"full\"\n\
         bound = \"{length}{}\"\nwhy = \"one rounding for each operation and for each term of a sum, with room\"\n",
        nest.formula(),
        set(&timed),
        drawn.join(", "),
        8 * operations + 32
    )
}

/// Small, large and small again; each size once larger than the timed one.
fn hidden(timed: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![vec![1; timed.len()]];
    all.push((0..timed.len()).map(|at| 2 + at as i64).collect());
    for (at, value) in timed.iter().enumerate() {
        let mut one = vec![21; timed.len()];
        one[at] = value + 27 + 2 * at as i64;
        all.push(one);
    }
    all.push((0..timed.len()).map(|at| 7 - 3 * at as i64).collect());
    all
}

/// The size that a sum runs over, or that a recurrence is long.
fn summed(nest: &Nest) -> Option<&'static str> {
    match nest.loops {
        Loops::Each | Loops::Inside { .. } => None,
        Loops::Sum { over_rows: true } | Loops::Scan { down: false, .. } => Some("N"),
        Loops::Sum { over_rows: false } | Loops::Scan { down: true, .. } => Some("M"),
        Loops::Contract => Some("K"),
    }
}

/// Operations and bytes, as formulas.
fn cost(nest: &Nest) -> (String, String) {
    let around = match nest.loops {
        Loops::Each | Loops::Inside { .. } | Loops::Contract => 0,
        Loops::Sum { .. } => 1,
        Loops::Scan { .. } => 2,
    };
    let operations = nest.expression.operations() + around;
    let space = if nest.loops == Loops::Contract {
        "M*N*K"
    } else {
        "M*N"
    };
    let buffers = nest.buffers();
    let shapes = buffers.into_iter().map(shape).chain([out_shape(nest)]);
    let bytes: Vec<String> = shapes
        .map(|shape| format!("8*{}", shape.join("*")))
        .collect();
    (format!("{operations}*{space}"), bytes.join(" + "))
}

fn prompt(nest: &Nest, entry: &str) -> String {
    let array = |shape: &[&str]| shape.join(" x ");
    let mut inputs = String::new();
    for (at, access) in nest.buffers().into_iter().enumerate() {
        inputs += &format!("- `{}` is {} doubles.\n", name(at), array(&shape(access)));
    }
    let edge = match nest.loops {
        Loops::Scan { down: false, .. } => {
            "- Before the first column, the recurrence starts from 0.\n".to_owned()
        }
        Loops::Scan { down: true, .. } => {
            "- Before the first row, the recurrence starts from 0.\n".to_owned()
        }
        Loops::Inside { reach } => format!(
            "- This holds where {reach} <= i < M - {reach} and {reach} <= j < N - {reach}. Elsewhere out[i][j] = a[i][j], unchanged.\n"
        ),
        Loops::Each | Loops::Sum { .. } | Loops::Contract => String::new(),
    };
    let sizes: Vec<String> = nest
        .timed
        .iter()
        .map(|(size, value)| format!("{size} = {value}"))
        .collect();
    let any: Vec<&str> = nest.timed.iter().map(|(size, _)| *size).collect();
    format!(
        "Write a fast C function that computes\n\n    {}\n\n\
         {inputs}- `out` is {} doubles. All arrays are row-major and contiguous and do not overlap; only `out` may be written.\n\
         - i goes from 0 to M - 1, j from 0 to N - 1{}.\n{edge}\n\
         The function:\n\n```c\n{}\n```\n\n\
         It is timed with {}, and must be right for any {} of at least 1. Compute in double precision throughout.\n\n{RULES}",
        nest.formula(),
        array(&out_shape(nest)),
        if nest.loops == Loops::Contract {
            ", k from 0 to K - 1"
        } else {
            ""
        },
        signature(nest, entry),
        sizes.join(", "),
        any.join(" and ")
    )
}

/// How code is written: plain, or in pairs of value and scale.
struct Code<'a> {
    nest: &'a Nest,
    in_pairs: bool,
}

impl Dialect for Code<'_> {
    fn input(&self, number: usize) -> String {
        let name = name(self.nest.buffer(number));
        let at = match self.nest.accesses[number] {
            Access::Straight => "i * N + j".to_owned(),
            Access::Transposed => "j * M + i".to_owned(),
            Access::Row => "j".to_owned(),
            Access::Column => "i".to_owned(),
            Access::Neighbour { down, right } => {
                let row = if down == 0 {
                    "i * N".to_owned()
                } else {
                    format!("(i {}) * N", signed(down))
                };
                let place = format!("{row} + j {}", signed(right));
                place.trim_end().to_owned()
            }
            Access::Left { transposed: false } => "i * K + k".to_owned(),
            Access::Left { transposed: true } => "k * M + i".to_owned(),
            Access::Right { transposed: false } => "k * N + j".to_owned(),
            Access::Right { transposed: true } => "j * K + k".to_owned(),
        };
        let read = format!("{name}[{at}]");
        if self.in_pairs {
            format!("leaf({read})")
        } else {
            read
        }
    }

    fn number(&self, number: f64) -> String {
        if self.in_pairs {
            format!("leaf({number:?})")
        } else {
            format!("{number:?}")
        }
    }

    fn magnitude(&self, of: &str) -> String {
        if self.in_pairs {
            format!("magnitude({of})")
        } else {
            format!("fabs({of})")
        }
    }

    fn both(&self, how: Binary, left: &str, right: &str) -> String {
        let name = match (how, self.in_pairs) {
            (Binary::Add, false) => return format!("({left} + {right})"),
            (Binary::Subtract, false) => return format!("({left} - {right})"),
            (Binary::Multiply, false) => return format!("{left} * {right}"),
            (Binary::Max, false) => "fmax",
            (Binary::Min, false) => "fmin",
            (Binary::Add, true) => "add",
            (Binary::Subtract, true) => "subtract",
            (Binary::Multiply, true) => "multiply",
            (Binary::Max, true) => "larger",
            (Binary::Min, true) => "smaller",
        };
        format!("{name}({left}, {right})")
    }
}

/// `+ 2`, `- 2`, or nothing for 0.
fn signed(number: i32) -> String {
    match number {
        0 => String::new(),
        1.. => format!("+ {number}"),
        _ => format!("- {}", -number),
    }
}

impl Code<'_> {
    fn kind(&self) -> &'static str {
        if self.in_pairs { "pair" } else { "double" }
    }

    /// A statement that writes `value` to the output.
    fn put(&self, at: &str, value: &str) -> String {
        if self.in_pairs {
            format!("pair result = {value}; out[{at}] = result.v; out_scale[{at}] = result.s;")
        } else {
            format!("out[{at}] = {value};")
        }
    }

    /// A loop with a body of lines.
    fn over(index: char, size: &str, kind: &str, body: &str) -> String {
        let inner: String = body.lines().map(|line| format!("    {line}\n")).collect();
        format!("for ({kind} {index} = 0; {index} < {size}; {index}++) {{\n{inner}}}\n")
    }

    /// The whole nest.
    fn body(&self) -> String {
        let index = if self.in_pairs { "long" } else { "int" };
        let over = |name, size, body: &str| Self::over(name, size, index, body);
        let element = self.nest.expression.write(self);
        let zero = if self.in_pairs { "leaf(0)" } else { "0.0" };
        let kind = self.kind();
        let add = |to: &str, what: &str| self.both(Binary::Add, to, what);
        let accumulated = |inner: String, at: &str| {
            format!("{kind} sum = {zero};\n{inner}{}\n", self.put(at, "sum"))
        };
        let sum = format!("sum = {};\n", add("sum", &element));
        match self.nest.loops {
            Loops::Each => over('i', "M", &over('j', "N", &self.put("i * N + j", &element))),
            Loops::Sum { over_rows: true } => {
                over('i', "M", &accumulated(over('j', "N", &sum), "i"))
            }
            Loops::Sum { over_rows: false } => {
                over('j', "N", &accumulated(over('i', "M", &sum), "j"))
            }
            Loops::Contract => {
                let inner = accumulated(over('k', "K", &sum), "i * N + j");
                over('i', "M", &over('j', "N", &inner))
            }
            Loops::Scan { down, decay } => {
                let carried = self.both(Binary::Multiply, &self.number(decay), "last");
                let step = format!(
                    "last = {};\n{}\n",
                    add(&carried, &element),
                    self.put("i * N + j", "last")
                );
                let (outer, inner) = if down {
                    (('j', "N"), ('i', "M"))
                } else {
                    (('i', "M"), ('j', "N"))
                };
                let lines = format!("{kind} last = {zero};\n{}", over(inner.0, inner.1, &step));
                over(outer.0, outer.1, &lines)
            }
            Loops::Inside { reach } => {
                let copied = if self.in_pairs {
                    // Scale 0 demands an equal copy.
                    "out[i * N + j] = a[i * N + j]; out_scale[i * N + j] = 0;"
                } else {
                    "out[i * N + j] = a[i * N + j];"
                };
                let inside =
                    format!("i >= {reach} && i < M - {reach} && j >= {reach} && j < N - {reach}");
                let lines = format!(
                    "if ({inside}) {{\n    {}\n}} else {{\n    {copied}\n}}\n",
                    self.put("i * N + j", &element)
                );
                over('i', "M", &over('j', "N", &lines))
            }
        }
    }
}

fn indented(body: &str) -> String {
    body.lines().map(|line| format!("    {line}\n")).collect()
}

fn seed(nest: &Nest, entry: &str) -> String {
    let code = Code {
        nest,
        in_pairs: false,
    };
    format!(
        "#include <math.h>\n\n{} {{\n{}}}\n",
        signature(nest, entry),
        indented(&code.body())
    )
}

fn reference(nest: &Nest) -> String {
    let mut arguments: Vec<String> = (0..nest.buffers().len())
        .map(|at| format!("const double *{}", name(at)))
        .collect();
    arguments.extend(["double *out", "double *out_scale"].map(str::to_owned));
    arguments.extend(nest.timed.iter().map(|(size, _)| format!("int {size}")));
    let code = Code {
        nest,
        in_pairs: true,
    };
    format!(
        "// {}\n\n#include <math.h>\n\n{PAIRS}\nvoid reference({}) {{\n{}}}\n",
        nest.formula(),
        arguments.join(", "),
        indented(&code.body())
    )
}
