//! Tensors into one safetensors file.

use std::collections::HashMap;
use std::path::Path;

use safetensors::tensor::{Dtype, TensorView, serialize_to_file};

/// Writes named f32 arrays and a few notes, marked as PyTorch's kind of file so that transformers takes it.
pub(super) fn write<'a>(
    path: &Path,
    tensors: impl IntoIterator<Item = (String, &'a [usize], &'a [f32])>,
    notes: &[(&str, &str)],
) -> std::io::Result<()> {
    let mut views = Vec::new();
    for (name, shape, data) in tensors {
        let view = TensorView::new(Dtype::F32, shape.to_vec(), bytemuck::cast_slice(data));
        views.push((name, view.map_err(std::io::Error::other)?));
    }
    let format = ("format", "pt");
    let metadata: HashMap<String, String> =
        notes.iter().chain([&format]).map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    serialize_to_file(views, Some(metadata), path).map_err(std::io::Error::other)
}
