//! Writes tensors into one safetensors file.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use half::bf16;
use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, TensorView, serialize_to_file};

/// How numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// As they are.
    F32,
    /// Rounded to 8 bits of mantissa, which halves the size.
    Bf16,
}

impl Storage {
    /// PyTorch's name for it.
    pub(super) fn torch(self) -> &'static str {
        match self {
            Self::F32 => "float32",
            Self::Bf16 => "bfloat16",
        }
    }

    fn bytes(self, data: &[f32]) -> Cow<'_, [u8]> {
        match self {
            Self::F32 => Cow::Borrowed(bytemuck::cast_slice(data)),
            Self::Bf16 => Cow::Owned(
                data.iter()
                    .flat_map(|value| bf16::from_f32(*value).to_le_bytes())
                    .collect(),
            ),
        }
    }
}

/// Writes named arrays and metadata, marked as a PyTorch file so that transformers accepts it.
pub(super) fn write<'a>(
    path: &Path,
    tensors: impl IntoIterator<Item = (String, &'a [usize], &'a [f32])>,
    notes: &[(&str, &str)],
    storage: Storage,
) -> std::io::Result<()> {
    let kind = match storage {
        Storage::F32 => Dtype::F32,
        Storage::Bf16 => Dtype::BF16,
    };
    let arrays: Vec<_> = tensors
        .into_iter()
        .map(|(name, shape, data)| (name, shape.to_vec(), storage.bytes(data)))
        .collect();
    let mut views = Vec::with_capacity(arrays.len());
    for (name, shape, bytes) in &arrays {
        let view = TensorView::new(kind, shape.clone(), bytes);
        views.push((name, view.map_err(std::io::Error::other)?));
    }
    let format = ("format", "pt");
    let metadata: HashMap<String, String> = notes
        .iter()
        .chain([&format])
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    // The crate writes a file that only its owner may read. This applies the user's umask, so that
    // others may read it like any other file.
    let rights = fs_err::File::create(path)?.metadata()?.permissions();
    serialize_to_file(views, Some(metadata), path).map_err(|error| match error {
        SafeTensorError::IoError(error) => error,
        other => std::io::Error::other(other),
    })?;
    fs_err::set_permissions(path, rights)
}
