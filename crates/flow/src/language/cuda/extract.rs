//! From a completion, or a file, to a `.cu` that defines the host function of the task.

use super::prototype::prototype;
use crate::extracted::{Extracted, Malformed};
use crate::interface::Function;
use crate::language::c::extract::{self, Wanted};
use crate::language::c::lex::Dialect;
use crate::language::c::normalise_in;

/// Finds the candidate in a completion.
pub fn extract(completion: &str, function: &Function) -> Result<Extracted, Malformed> {
    let wanted = wanted(function);
    extract::extract(completion, &wanted).map_err(|malformed| told(completion, malformed, &wanted))
}

/// Makes a candidate from the content of a file.
pub fn read(bytes: &[u8], function: &Function) -> Result<Extracted, Malformed> {
    let wanted = wanted(function);
    extract::read(bytes, &wanted)
        .map_err(|malformed| told(&String::from_utf8_lossy(bytes), malformed, &wanted))
}

/// The source without comments and white space.
pub fn normalise(source: &str) -> String {
    normalise_in(source, Dialect::Cuda)
}

fn wanted(function: &Function) -> Wanted<'_> {
    Wanted {
        function,
        dialect: Dialect::Cuda,
        prototype: prototype(function),
    }
}

/// What only an extension of `PyTorch` has.
const TORCH: [&str; 8] = [
    "torch/extension.h",
    "torch/torch.h",
    "torch/types.h",
    "ATen/ATen.h",
    "torch::Tensor",
    "at::Tensor",
    "PYBIND11_MODULE",
    "load_inline(",
];

/// Says it of an extension of `PyTorch`, which is another form of answer and no slip.
fn told(text: &str, malformed: Malformed, wanted: &Wanted<'_>) -> Malformed {
    let Some(found) = TORCH.into_iter().find(|mark| text.contains(mark)) else {
        return malformed;
    };
    let found = found.trim_end_matches('(');
    Malformed {
        why: format!(
            "the answer is a PyTorch extension (`{found}`), but one .cu file without PyTorch is \
             asked for, which defines `{}`",
            wanted.prototype
        ),
    }
}

#[cfg(test)]
mod tests;
