//! One side of a pair: a unit of code, and whether it compiles.

use super::compile::{Compile, Compiled, with_prelude};
use super::outline::Outline;
use super::unit::Outlines;

/// A unit of code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) text: String,
    pub(super) kernels: usize,
    pub(super) helpers: usize,
    /// Kernels with their parameters.
    pub(super) signature: Vec<(String, String)>,
    /// `None` without a compiler.
    pub(super) compiled: Option<bool>,
    pub(super) error: Option<String>,
    pub(super) notes: Vec<String>,
}

impl Side {
    /// A text as a side, not yet compiled.
    pub(super) fn of(text: String) -> Self {
        let outline = Outline::of(&text);
        let mut signature: Vec<(String, String)> = outline
            .kernels()
            .map(|kernel| {
                let name = kernel.names.first().cloned().unwrap_or_default();
                (name, kernel.parameters.clone())
            })
            .collect();
        signature.sort();
        Self {
            kernels: signature.len(),
            helpers: outline.helpers(),
            signature,
            text,
            ..Self::default()
        }
    }

    /// Asks the compiler, if there is one. `Err` is the compiler's own failure.
    pub(super) fn compiled(
        mut self,
        compiler: &mut Option<&mut dyn Compile>,
    ) -> Result<Self, String> {
        if let Some(compiler) = compiler {
            match compiler.compile(&with_prelude(&self.text))? {
                Compiled::Yes => self.compiled = Some(true),
                Compiled::No(why) => (self.compiled, self.error) = (Some(false), Some(why)),
            }
        }
        Ok(self)
    }
}

/// The kernels of a file, sliced from the first root from which they compile; without a compiler
/// from the first root.
pub(super) fn sliced(
    outlines: &Outlines<'_>,
    file: &str,
    compiler: &mut Option<&mut dyn Compile>,
) -> Result<Side, String> {
    let mut first = None;
    for root in outlines.roots(file) {
        let slice = outlines.slice(&root, file);
        let mut side = Side::of(slice.text).compiled(compiler)?;
        let read = outlines.get(file).map(|read| read.notes.clone());
        side.notes.extend(read.unwrap_or_default());
        if slice.root != file {
            side.notes.push(format!("cut out of {}", slice.root));
        }
        if side.compiled != Some(false) {
            return Ok(side);
        }
        first.get_or_insert(side);
    }
    Ok(first.unwrap_or_default())
}

/// The device items of a file alone, as the paper cleans it.
pub(super) fn cleaned(
    outlines: &Outlines<'_>,
    file: &str,
    compiler: &mut Option<&mut dyn Compile>,
) -> Result<Side, String> {
    Side::of(outlines.cleaned(file)).compiled(compiler)
}
