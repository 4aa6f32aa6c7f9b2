//! What to make fast, and what correct means: a task is data.
//!
//! A task folder holds `task.toml`, `reference.c`, `prompt.md` and `seed.c`, and
//! `baseline.c` where a library offers the same operation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::formula::{self, FormulaError, Sizes};
use crate::measured::Work;

/// The files of a task folder, unread.
#[derive(Debug, Clone, Default)]
pub struct TaskFiles {
    /// `task.toml`
    pub toml: String,
    /// `reference.c`: the trusted, slow version that says what is correct.
    pub reference: String,
    /// `prompt.md`: the statement shown to a model.
    pub prompt: String,
    /// `seed.c`: the naive candidate that a search starts from.
    pub seed: String,
    /// `baseline.c`: the same operation by a library, if there is one.
    pub baseline: Option<String>,
}

/// A kernel task: entry point, arguments, sizes, cost, tolerance, and its sources.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Task {
    /// What `task.toml` says.
    #[serde(flatten)]
    pub spec: TaskSpec,
    /// The trusted C source of `reference` (and `check`, `point`).
    pub reference: String,
    /// The statement shown to a model.
    pub prompt: String,
    /// The naive candidate.
    pub seed: String,
    /// The same operation by a library.
    pub baseline: Option<String>,
    /// Identifies the task's whole content.
    pub hash: String,
}

/// The content of `task.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TaskSpec {
    /// The task's name: lower-case letters, digits and dashes.
    pub name: String,
    /// One line for people.
    pub summary: String,
    /// The language of candidates; `c` so far.
    pub language: Language,
    /// The function that a candidate defines.
    pub entry: String,
    /// The state of the caches when a timed run begins.
    #[serde(default)]
    pub cache: CacheState,
    /// The entry point's arguments in order; a `return` argument comes last.
    pub args: Vec<Arg>,
    /// The named sizes.
    pub sizes: SizeSets,
    /// Work and traffic, for GFLOPS and the roof.
    pub cost: Cost,
    /// What correct means.
    pub verify: Verify,
    /// Which library `baseline.c` needs.
    #[serde(default)]
    pub baseline: Option<Library>,
}

/// The language of candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Language {
    /// C, compiled by gcc or clang.
    C,
}

/// A library that a baseline may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Library {
    /// OpenBLAS, through its C interface.
    Openblas,
}

/// The state of the caches when a timed run begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheState {
    /// As an earlier run on the same cores would leave them.
    #[default]
    Warm,
    /// Inputs are flushed from the caches first.
    Cold,
}

/// One argument of the entry point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Arg {
    /// Its name, as prompts and messages use it.
    pub name: String,
    /// Its element type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// What the candidate may do with it.
    pub role: Role,
    /// For buffers: the dimensions, each a formula. Empty for scalars.
    #[serde(default)]
    pub shape: Vec<String>,
    /// For scalars: the formula of its value.
    #[serde(default)]
    pub value: Option<String>,
    /// For `in` and `inout` buffers: how fresh content is drawn.
    #[serde(default)]
    pub fill: Option<Fill>,
}

/// Element types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `double`
    F64,
    /// `float`
    F32,
    /// `int`
    I32,
    /// `long long`
    I64,
}

impl Kind {
    /// Bytes of one element.
    #[inline]
    pub fn bytes(self) -> usize {
        match self {
            Self::F64 | Self::I64 => 8,
            Self::F32 | Self::I32 => 4,
        }
    }

    /// The type's name in C.
    pub fn c_name(self) -> &'static str {
        match self {
            Self::F64 => "double",
            Self::F32 => "float",
            Self::I32 => "int",
            Self::I64 => "long long",
        }
    }
}

/// What the candidate may do with an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A read-only buffer.
    In,
    /// A buffer to be written; it arrives poisoned.
    Out,
    /// A buffer to be read and written.
    Inout,
    /// A number passed by value.
    Scalar,
    /// The entry point's return value.
    Return,
}

/// How fresh content of an input is drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Fill {
    /// Uniform in `[low, high)`; integers for integer types.
    Uniform(f64, f64),
    /// Row pointers of a sparse matrix: this buffer has rows + 1 entries, the last
    /// is `entries`, and rows hold unequal shares.
    RowPointers {
        /// Formula: the number of entries of the whole matrix.
        entries: String,
    },
    /// Column indices of a sparse matrix, ascending and distinct within each row.
    Columns {
        /// The `row-pointers` argument that they belong to (an earlier argument).
        rows: String,
        /// Formula: the number of columns.
        columns: String,
    },
}

/// The sizes that a candidate meets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SizeSets {
    /// The timed problem; prompts name it.
    pub timed: Sizes,
    /// Problems that are verified, untimed, in a second process and in this order.
    #[serde(default)]
    pub hidden: Vec<Sizes>,
    /// The least and the largest of each size, where more problems are drawn anew for every candidate: what is right only
    /// for those that are listed shows itself.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub drawn: BTreeMap<String, (i64, i64)>,
}

impl SizeSets {
    /// A problem whose sizes `pick` chooses, each between its least and its largest; none where nothing is drawn.
    pub fn draw(&self, mut pick: impl FnMut(i64, i64) -> i64) -> Option<Sizes> {
        let sizes: Sizes = self
            .drawn
            .iter()
            .map(|(name, (least, most))| (name.clone(), pick(*least, *most)))
            .collect();
        (!sizes.is_empty()).then_some(sizes)
    }
}

/// Work and traffic of one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cost {
    /// Floating-point operations, by convention of the field. Absent or 0 where the task counts none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flops: Option<String>,
    /// Bytes that must move: each input read once, each output written once.
    pub bytes: String,
}

/// What correct means for this task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Verify {
    /// How every run is checked.
    pub method: Method,
    /// The bound, as a multiple of `2^-53` times the reference's scale: an element
    /// is right when `|got - want| <= bound * 2^-53 * scale`. A formula; 0 means equal.
    pub bound: String,
    /// Why that bound: one line.
    pub why: String,
}

/// How every run is checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Method {
    /// Every element against `reference`.
    Full,
    /// `check` of `reference.c`: a random projection that sees every element,
    /// with a random vector of the given length (a formula).
    Projection(String),
}

/// A task that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
    /// `task.toml` is not what it should be.
    #[error("task.toml: {0}")]
    Toml(String),
    /// A formula of `task.toml` is wrong.
    #[error("task.toml: {key}: {source}")]
    Formula {
        /// The key that holds the formula.
        key: String,
        /// What is wrong.
        source: FormulaError,
    },
    /// A rule that holds between keys is broken.
    #[error("task.toml: {0}")]
    Rule(String),
}

impl Task {
    /// Reads and checks a task from its files.
    pub fn parse(files: TaskFiles) -> Result<Self, TaskError> {
        let spec: TaskSpec = toml::from_str(&files.toml)
            .map_err(|e| TaskError::Toml(e.to_string().trim().to_owned()))?;
        spec.check(files.baseline.is_some())?;
        let mut hasher = blake3::Hasher::new();
        for part in [
            &files.toml,
            &files.reference,
            &files.prompt,
            &files.seed,
            files.baseline.as_ref().unwrap_or(&String::new()),
        ] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        Ok(Self {
            spec,
            reference: files.reference,
            prompt: files.prompt,
            seed: files.seed,
            baseline: files.baseline,
            hash: hasher.finalize().to_hex()[..16].to_owned(),
        })
    }

    /// The prototype that a candidate must define, e.g. `void f(double *A, int N)`.
    pub fn signature(&self) -> String {
        self.spec.prototype(&self.spec.entry)
    }

    /// What one call does, as far as the task counts it. A formula of 0 counts nothing.
    pub fn work(&self, sizes: &Sizes) -> Work {
        let counted = |formula: &String| {
            let count = formula::evaluate(formula, sizes).expect("checked by Task::parse");
            (count > 0.0).then_some(count)
        };
        Work {
            flops: self.spec.cost.flops.as_ref().and_then(counted),
            bytes: counted(&self.spec.cost.bytes),
        }
    }

    /// Whether it counts the operations of a call that is timed.
    pub fn counts_operations(&self) -> bool {
        self.work(&self.spec.sizes.timed).flops.is_some()
    }

    /// The relative bound on `|got - want| / scale`.
    pub fn bound(&self, sizes: &Sizes) -> f64 {
        formula::evaluate(&self.spec.verify.bound, sizes).expect("checked by Task::parse")
            * (f64::EPSILON / 2.0)
    }
}

impl TaskSpec {
    /// Checks every rule that a `task.toml` must keep; `baseline` says whether there is a baseline.c. What comes
    /// from another machine passes here too before anything is done with it.
    pub fn check(&self, baseline: bool) -> Result<(), TaskError> {
        check_names(self)?;
        check_args(self)?;
        check_drawn(&self.sizes)?;
        // Of what is drawn the ends, and one that is odd where an end is even.
        let ends: [fn(i64, i64) -> i64; 3] = [
            |least, _| least,
            |least, most| most.min(least.saturating_add(1)),
            |_, most| most,
        ];
        let drawn: Vec<Sizes> = ends
            .into_iter()
            .filter_map(|end| self.sizes.draw(end))
            .collect();
        for sizes in std::iter::once(&self.sizes.timed)
            .chain(&self.sizes.hidden)
            .chain(&drawn)
        {
            check_formulas(self, sizes)?;
        }
        if matches!(self.verify.method, Method::Projection(_))
            && self.args.iter().any(|arg| arg.role == Role::Inout)
        {
            return Err(TaskError::Rule(
                "verify: a projection cannot see what an inout argument held before".into(),
            ));
        }
        if self.baseline.is_some() != baseline {
            return Err(TaskError::Rule(
                "`baseline` in task.toml and the file baseline.c need each other".into(),
            ));
        }
        Ok(())
    }

    /// The C prototype of a function named `name` with this task's arguments.
    pub fn prototype(&self, name: &str) -> String {
        let returns = self
            .args
            .iter()
            .find(|arg| arg.role == Role::Return)
            .map_or("void", |arg| arg.kind.c_name());
        let args: Vec<String> = self
            .args
            .iter()
            .filter(|arg| arg.role != Role::Return)
            .map(|arg| match arg.role {
                Role::Scalar => format!("{} {}", arg.kind.c_name(), arg.name),
                Role::In | Role::Out | Role::Inout | Role::Return => {
                    format!("{} *{}", arg.kind.c_name(), arg.name)
                }
            })
            .collect();
        format!("{returns} {name}({})", args.join(", "))
    }
}

impl Arg {
    /// The number of elements for `sizes`; 1 for scalars and return values.
    pub fn elements(&self, sizes: &Sizes) -> Result<usize, FormulaError> {
        self.shape.iter().try_fold(1usize, |product, dim| {
            Ok(product * formula::count(dim, sizes)?)
        })
    }

    /// Whether the candidate writes it.
    pub fn is_output(&self) -> bool {
        matches!(self.role, Role::Out | Role::Inout | Role::Return)
    }

    /// Whether it is memory rather than a number.
    pub fn is_buffer(&self) -> bool {
        self.role != Role::Scalar
    }
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn check_names(spec: &TaskSpec) -> Result<(), TaskError> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if spec.name.is_empty() || spec.name.len() > 40 || !spec.name.chars().all(plain) {
        return Err(TaskError::Rule(format!(
            "name `{}` must be 1 to 40 lower-case letters, digits and dashes",
            spec.name
        )));
    }
    if !is_identifier(&spec.entry) {
        return Err(TaskError::Rule(format!(
            "entry `{}` is not a C identifier",
            spec.entry
        )));
    }
    Ok(())
}

fn check_args(spec: &TaskSpec) -> Result<(), TaskError> {
    let rule = |arg: &Arg, why: &str| Err(TaskError::Rule(format!("args: `{}` {why}", arg.name)));
    let mut seen = BTreeMap::new();
    for (index, arg) in spec.args.iter().enumerate() {
        if !is_identifier(&arg.name) || seen.insert(arg.name.clone(), arg).is_some() {
            return rule(arg, "must be a C identifier that no other argument has");
        }
        match arg.role {
            Role::Scalar if arg.value.is_none() || !arg.shape.is_empty() => {
                return rule(arg, "is a scalar: it needs `value` and no `shape`");
            }
            Role::In | Role::Inout if arg.fill.is_none() => {
                return rule(arg, "is read: it needs `fill`");
            }
            Role::In | Role::Out | Role::Inout if arg.shape.is_empty() => {
                return rule(arg, "is a buffer: it needs `shape`");
            }
            Role::Return if index + 1 != spec.args.len() || !arg.shape.is_empty() => {
                return rule(arg, "is the return value: it comes last and has no `shape`");
            }
            Role::Scalar | Role::In | Role::Inout | Role::Out | Role::Return => {}
        }
        if let Some(Fill::Uniform(low, high)) = arg.fill {
            // Whole numbers are drawn from low on, one at least.
            let least = if matches!(arg.kind, Kind::I32 | Kind::I64) {
                1.0
            } else {
                f64::MIN_POSITIVE
            };
            if !(high - low >= least && (high - low).is_finite()) {
                let fill = format!("has the fill uniform = [{low}, {high}], which holds nothing");
                return rule(arg, &format!("{fill}; write low and then high"));
            }
        }
        if let Some(Fill::Columns { rows, .. }) = &arg.fill {
            let is_rows = seen
                .get(rows)
                .is_some_and(|rows| matches!(rows.fill, Some(Fill::RowPointers { .. })));
            if !is_rows {
                return rule(
                    arg,
                    "names `rows` that are no earlier `row-pointers` argument",
                );
            }
        }
    }
    if !spec.args.iter().any(Arg::is_output) {
        return Err(TaskError::Rule(
            "args: nothing is written; one needs the role out, inout or return".into(),
        ));
    }
    Ok(())
}

fn check_drawn(sizes: &SizeSets) -> Result<(), TaskError> {
    let rule = |what: String| Err(TaskError::Rule(format!("sizes.drawn: {what}")));
    if !sizes.drawn.is_empty() && !sizes.drawn.keys().eq(sizes.timed.keys()) {
        return rule("draws each size of `timed`, or none".into());
    }
    for (name, (least, most)) in &sizes.drawn {
        if least > most {
            return rule(format!(
                "{name} = [{least}, {most}] holds nothing; write low and then high"
            ));
        }
        if *least < 1 {
            return rule(format!(
                "{name} = [{least}, {most}] begins below 1, and no problem is empty"
            ));
        }
    }
    Ok(())
}

fn check_formulas(spec: &TaskSpec, sizes: &Sizes) -> Result<(), TaskError> {
    let at = |key: String| move |source| TaskError::Formula { key, source };
    for arg in &spec.args {
        arg.elements(sizes)
            .map_err(at(format!("args.{}.shape", arg.name)))?;
        if let Some(value) = &arg.value {
            formula::evaluate(value, sizes).map_err(at(format!("args.{}.value", arg.name)))?;
        }
        match &arg.fill {
            Some(Fill::RowPointers { entries }) => {
                let _ = formula::count(entries, sizes)
                    .map_err(at(format!("args.{}.fill", arg.name)))?;
            }
            Some(Fill::Columns { columns, .. }) => {
                let _ = formula::count(columns, sizes)
                    .map_err(at(format!("args.{}.fill", arg.name)))?;
            }
            Some(Fill::Uniform(..)) | None => {}
        }
    }
    let costs = [
        ("cost.flops", spec.cost.flops.as_ref()),
        ("cost.bytes", Some(&spec.cost.bytes)),
    ];
    for (key, formula) in costs {
        let Some(formula) = formula else { continue };
        let count = formula::evaluate(formula, sizes).map_err(at(key.into()))?;
        if count < 0.0 {
            return Err(TaskError::Rule(format!("{key}: {count} is below 0")));
        }
    }
    formula::evaluate(&spec.verify.bound, sizes).map_err(at("verify.bound".into()))?;
    if let Method::Projection(length) = &spec.verify.method {
        formula::count(length, sizes).map_err(at("verify.method.projection".into()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_a_fill_are_low_and_then_high() {
        let parse = |kind: &str, limits: &str| {
            let toml = include_str!("../tests/data/matmul.toml");
            let first = r#"type = "f64", role = "in", shape = ["M", "K"], fill = { uniform = [-1.0, 1.0] }"#;
            let other = first.replace("f64", kind).replace("[-1.0, 1.0]", limits);
            let toml = toml.replace(first, &other);
            Task::parse(TaskFiles {
                toml,
                ..TaskFiles::default()
            })
            .map(|_| ())
            .map_err(|error| error.to_string())
        };
        assert_eq!(parse("f64", "[-2.0, 1.0]"), Ok(()));
        let reversed = "task.toml: args: `A` has the fill uniform = [1, -1], which holds nothing; write low and then high";
        assert_eq!(parse("f64", "[1.0, -1.0]"), Err(reversed.to_owned()));
        for limits in ["[1.0, 1.0]", "[nan, 1.0]", "[0.0, inf]"] {
            assert!(parse("f64", limits).is_err(), "{limits}");
        }
        assert_eq!(parse("i32", "[0.0, 1.0]"), Ok(()));
        assert!(
            parse("i32", "[0.0, 0.5]").is_err(),
            "high is not included, and 0 is all there is below"
        );
    }

    #[test]
    fn drawn_sizes_are_all_of_them_and_hold_something() {
        let parse = |drawn: &str, shape: &str| {
            let toml = include_str!("../tests/data/matmul.toml");
            let toml = toml.replace("sizes = {", &format!("sizes = {{ drawn = {drawn},"));
            let toml = toml.replacen(r#"["M", "K"]"#, shape, 1);
            Task::parse(TaskFiles {
                toml,
                ..TaskFiles::default()
            })
            .map_err(|error| error.to_string())
        };
        let (plain, all) = (r#"["M", "K"]"#, "{ M = [1, 9], N = [2, 2], K = [3, 40] }");
        let task = parse(all, plain).unwrap();
        let largest = task.spec.sizes.draw(|_, most| most).unwrap();
        assert_eq!(
            largest.into_values().collect::<Vec<_>>(),
            [40, 9, 2],
            "K, M and N"
        );
        assert_eq!(
            parse("{}", plain)
                .unwrap()
                .spec
                .sizes
                .draw(|least, _| least),
            None
        );
        let rule = |what: &str| Err(format!("task.toml: sizes.drawn: {what}"));
        let told = |drawn: &str| parse(drawn, plain).map(|_| ());
        assert_eq!(
            told("{ M = [1, 9] }"),
            rule("draws each size of `timed`, or none")
        );
        let reversed = "M = [9, 1] holds nothing; write low and then high";
        assert_eq!(
            told("{ M = [9, 1], N = [2, 2], K = [3, 40] }"),
            rule(reversed)
        );
        let empty = "M = [0, 1] begins below 1, and no problem is empty";
        assert_eq!(told("{ M = [0, 1], N = [2, 2], K = [3, 40] }"), rule(empty));
        assert!(
            parse("{ M = [2, 8], N = [2, 2], K = [3, 40] }", r#"["M/2", "K"]"#).is_err(),
            "three rows have no half"
        );
    }
}
