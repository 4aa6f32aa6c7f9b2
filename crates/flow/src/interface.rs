//! How a candidate is called: as a function with typed arguments, or as a module.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::formula::{self, FormulaError, Sizes};
use crate::task_error::TaskError;

/// How a candidate is called.
#[derive(Debug, Clone, PartialEq)]
pub enum Interface {
    /// The candidate defines a function.
    Function(Function),
    /// The candidate defines a class with callable objects.
    Module {
        /// The name of the class.
        class: String,
    },
}

/// A function that a candidate defines.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Its name.
    pub entry: String,
    /// The arguments in order; a `return` argument comes last.
    pub args: Vec<Arg>,
    /// The named sizes.
    pub sizes: SizeSets,
}

/// One argument of the entry point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Arg {
    /// Its name in prompts and messages.
    pub name: String,
    /// Its element type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// What the candidate may do with it.
    pub role: Role,
    /// For buffers: the dimensions, each a formula. Empty for scalars.
    #[serde(default)]
    pub shape: Vec<String>,
    /// For scalars: the formula of its value. A scalar of a CUDA task may have `fill` instead.
    #[serde(default)]
    pub value: Option<String>,
    /// For `in` and `inout` buffers, and for drawn scalars: how fresh content is drawn.
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
    /// IEEE half precision.
    F16,
    /// The upper half of a `float`.
    Bf16,
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
            Self::F16 | Self::Bf16 => 2,
        }
    }

    /// The largest relative error of one rounding; `None` for integers.
    pub fn unit_roundoff(self) -> Option<f64> {
        match self {
            Self::F64 => Some(f64::EPSILON / 2.0),
            Self::F32 => Some(f64::from(f32::EPSILON) / 2.0),
            Self::F16 => Some(2f64.powi(-11)),
            Self::Bf16 => Some(2f64.powi(-8)),
            Self::I32 | Self::I64 => None,
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::I32 => "i32",
            Self::I64 => "i64",
        })
    }
}

/// What the candidate may do with an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A read-only buffer.
    In,
    /// A buffer to write. It arrives filled with NaN.
    Out,
    /// A buffer to read and write.
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
    /// Row pointers of a sparse matrix. The buffer has rows + 1 entries, the last is `entries`, and
    /// the rows have different lengths.
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

/// The problem sizes of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SizeSets {
    /// The timed problem, which prompts name.
    pub timed: Sizes,
    /// Problems that are only verified, in a second process and in this order.
    #[serde(default)]
    pub hidden: Vec<Sizes>,
    /// The bounds of each size, if more problems are drawn for every candidate. They expose
    /// candidates that are correct only for the listed sizes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub drawn: BTreeMap<String, (i64, i64)>,
}

impl SizeSets {
    /// A problem whose sizes `pick` chooses within their bounds; `None` if nothing is drawn.
    pub fn draw(&self, mut pick: impl FnMut(i64, i64) -> i64) -> Option<Sizes> {
        let sizes: Sizes = self
            .drawn
            .iter()
            .map(|(name, (least, most))| (name.clone(), pick(*least, *most)))
            .collect();
        (!sizes.is_empty()).then_some(sizes)
    }

    /// A problem between those bounds and the largest that is listed: what fits the listed ones
    /// alone fails here. All sizes grow alike, because some make sense only together. The largest
    /// is one problem: a row of 70,001 and a column of 70,001 are small, a square of both is not.
    pub fn draw_larger(&self, mut pick: impl FnMut(i64, i64) -> i64) -> Option<Sizes> {
        let growth = pick(1, 1000);
        let volume = |sizes: &&Sizes| sizes.values().fold(1, |all: i64, n| all.saturating_mul(*n));
        let largest = std::iter::once(&self.timed)
            .chain(&self.hidden)
            .max_by_key(volume)?;
        let sizes: Sizes = self
            .drawn
            .iter()
            .map(|(name, (_, most))| {
                let beyond = largest.get(name).map_or(0, |size| (size - most).max(0));
                let size = most + beyond * growth / 1000;
                (name.clone(), (size - pick(0, size / 8)).max(*most))
            })
            .collect();
        (!sizes.is_empty()).then_some(sizes)
    }
}

impl Interface {
    /// What the candidate defines: a function or a class.
    pub fn name(&self) -> &str {
        match self {
            Self::Function(function) => &function.entry,
            Self::Module { class } => class,
        }
    }

    pub(crate) fn check(&self) -> Result<(), TaskError> {
        let key = match self {
            Self::Function(_) => "entry",
            Self::Module { .. } => "class",
        };
        if !is_identifier(self.name()) {
            let name = self.name();
            return Err(TaskError::Rule(format!(
                "{key} `{name}` is not a C identifier"
            )));
        }
        match self {
            Self::Function(function) => {
                check_args(function)?;
                check_drawn(&function.sizes)
            }
            Self::Module { .. } => Ok(()),
        }
    }
}

impl Function {
    /// The argument that stands for the return value.
    pub fn returned(&self) -> Option<&Arg> {
        self.args.iter().find(|arg| arg.role == Role::Return)
    }

    /// The arguments that are passed.
    pub fn parameters(&self) -> impl Iterator<Item = &Arg> {
        self.args.iter().filter(|arg| arg.role != Role::Return)
    }

    /// Evaluates every formula of the arguments for `sizes`.
    pub(crate) fn check_formulas(&self, sizes: &Sizes) -> Result<(), TaskError> {
        let at = |arg: &Arg, key: &str| {
            let key = format!("args.{}.{key}", arg.name);
            move |source| TaskError::Formula { key, source }
        };
        for arg in &self.args {
            arg.elements(sizes).map_err(at(arg, "shape"))?;
            if let Some(value) = &arg.value {
                formula::evaluate(value, sizes).map_err(at(arg, "value"))?;
            }
            match &arg.fill {
                Some(
                    Fill::RowPointers { entries: count } | Fill::Columns { columns: count, .. },
                ) => {
                    let _ = formula::count(count, sizes).map_err(at(arg, "fill"))?;
                }
                Some(Fill::Uniform(..)) | None => {}
            }
        }
        Ok(())
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

    /// Whether it is a buffer rather than a scalar.
    pub fn is_buffer(&self) -> bool {
        self.role != Role::Scalar
    }
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn check_args(function: &Function) -> Result<(), TaskError> {
    let rule = |arg: &Arg, why: &str| Err(TaskError::Rule(format!("args: `{}` {why}", arg.name)));
    let mut seen = BTreeMap::new();
    for (index, arg) in function.args.iter().enumerate() {
        if !is_identifier(&arg.name) || seen.insert(arg.name.clone(), arg).is_some() {
            return rule(arg, "must be a C identifier that no other argument has");
        }
        match arg.role {
            Role::Scalar
                if (arg.value.is_none() && arg.fill.is_none()) || !arg.shape.is_empty() =>
            {
                return rule(arg, "is a scalar: it needs `value` and no `shape`");
            }
            Role::In | Role::Inout if arg.fill.is_none() => {
                return rule(arg, "is read: it needs `fill`");
            }
            Role::In | Role::Out | Role::Inout if arg.shape.is_empty() => {
                return rule(arg, "is a buffer: it needs `shape`");
            }
            Role::Return if index + 1 != function.args.len() || !arg.shape.is_empty() => {
                return rule(arg, "is the return value: it comes last and has no `shape`");
            }
            Role::Scalar | Role::In | Role::Inout | Role::Out | Role::Return => {}
        }
        if let Some(Fill::Uniform(low, high)) = arg.fill {
            // Integers are drawn from low upwards, so there must be at least one.
            let least = if matches!(arg.kind, Kind::I32 | Kind::I64) {
                1.0
            } else {
                f64::MIN_POSITIVE
            };
            if !(high - low >= least && (high - low).is_finite()) {
                let fill = format!("has the fill uniform = [{low}, {high}], which is empty");
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
                    "names `rows` that are not an earlier `row-pointers` argument",
                );
            }
        }
    }
    if !function.args.iter().any(Arg::is_output) {
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
                "{name} = [{least}, {most}] is empty; write low and then high"
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
