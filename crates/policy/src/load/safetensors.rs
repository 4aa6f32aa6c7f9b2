//! Safetensors files, one or many, read tensor by tensor.

use std::collections::HashMap;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use half::{bf16, f16};
use safetensors::Dtype;
use safetensors::tensor::Metadata;

use crate::load_error::{LoadError, Problem};

/// A longer header means that the file is damaged.
const MAX_HEADER: u64 = 100_000_000;

/// Weight files of other libraries.
const OTHERS: [&str; 3] = [
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
    "consolidated.00.pth",
];

/// The safetensors files of a directory.
pub(crate) struct TensorFiles {
    directory: PathBuf,
    files: Vec<TensorFile>,
    /// Which file holds a tensor.
    holder: HashMap<String, usize>,
}

struct TensorFile {
    path: PathBuf,
    file: fs_err::File,
    metadata: Metadata,
    data_start: u64,
}

impl TensorFiles {
    /// Opens the files of a model: `model.safetensors`, or the shards in its index.
    pub(crate) fn open(directory: &Path) -> Result<Self, LoadError> {
        let (index, whole) = (
            directory.join("model.safetensors.index.json"),
            directory.join("model.safetensors"),
        );
        let mut names = vec!["model.safetensors".to_owned()];
        if index.exists() {
            names = shards(&index)?;
        } else if let Some(other) = OTHERS
            .iter()
            .find(|name| !whole.exists() && directory.join(name).exists())
        {
            return Err(Problem::OtherWeights((*other).to_owned()).at(&whole));
        }
        let paths: Vec<PathBuf> = names.into_iter().map(|name| directory.join(name)).collect();
        Self::open_files(directory, &paths)
    }

    /// Opens these files.
    pub(crate) fn open_files(directory: &Path, paths: &[PathBuf]) -> Result<Self, LoadError> {
        let files = paths
            .iter()
            .map(|path| TensorFile::open(path))
            .collect::<Result<Vec<_>, _>>()?;
        let names = files.iter().enumerate();
        let holder = names.flat_map(|(nth, file)| {
            file.metadata
                .tensors()
                .into_keys()
                .map(move |name| (name, nth))
        });
        Ok(Self {
            directory: directory.to_owned(),
            holder: holder.collect(),
            files,
        })
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// An entry in the metadata of one of the files.
    pub(crate) fn note(&self, key: &str) -> Option<&str> {
        self.files
            .iter()
            .find_map(|file| file.metadata.metadata().as_ref()?.get(key))
            .map(String::as_str)
    }

    /// The names of all tensors.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.holder.keys().map(String::as_str)
    }

    /// How each tensor is stored, and how many values it has.
    pub(crate) fn stored(&self) -> impl Iterator<Item = (String, u64)> {
        let tensors = self
            .files
            .iter()
            .flat_map(|file| file.metadata.tensors().into_values());
        tensors.map(|info| {
            (
                format!("{:?}", info.dtype),
                info.shape.iter().product::<usize>() as u64,
            )
        })
    }

    /// Whether a tensor's values have 16 bits or fewer.
    pub(crate) fn is_narrow(&self, name: &str) -> bool {
        let info = self
            .holder
            .get(name)
            .and_then(|&nth| self.files[nth].metadata.info(name));
        info.is_some_and(|info| matches!(info.dtype, Dtype::F16 | Dtype::BF16))
    }

    /// One tensor as f32.
    pub(crate) fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, LoadError> {
        let Some(&nth) = self.holder.get(name) else {
            return Err(Problem::MissingTensor(name.to_owned()).at(&self.directory));
        };
        let file = &self.files[nth];
        file.tensor(name, shape)
            .map_err(|problem| problem.at(&file.path))
    }
}

fn shards(index: &Path) -> Result<Vec<String>, LoadError> {
    #[derive(serde::Deserialize)]
    struct Index {
        weight_map: HashMap<String, String>,
    }
    let text = fs_err::read_to_string(index).map_err(|error| Problem::from(error).at(index))?;
    let parsed: Index =
        serde_json::from_str(&text).map_err(|error| Problem::from(error).at(index))?;
    let mut names: Vec<String> = parsed.weight_map.into_values().collect();
    names.sort();
    names.dedup();
    Ok(names)
}

impl TensorFile {
    fn open(path: &Path) -> Result<Self, LoadError> {
        Self::read_header(path).map_err(|problem| problem.at(path))
    }

    fn read_header(path: &Path) -> Result<Self, Problem> {
        let file = fs_err::File::open(path)?;
        let size = file.metadata()?.len();
        let damaged = |why: String| Problem::Damaged(why);
        let mut length = [0; 8];
        file.file()
            .read_exact_at(&mut length, 0)
            .map_err(|_| damaged("shorter than its first 8 bytes".into()))?;
        let length = u64::from_le_bytes(length);
        if length > MAX_HEADER || length + 8 > size {
            return Err(damaged(format!(
                "a header of {length} bytes in a file of {size}"
            )));
        }
        let mut header = vec![0; length as usize];
        file.file().read_exact_at(&mut header, 8)?;
        // The crate checks the consistency of the header's offsets. The code here checks the file's
        // end.
        let metadata: Metadata = serde_json::from_slice(&header)
            .map_err(|error| damaged(format!("its header: {error}")))?;
        let data_start = length + 8;
        let wanted = data_start + metadata.data_len() as u64;
        if size < wanted {
            return Err(damaged(format!(
                "{size} bytes, but its header promises {wanted}"
            )));
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            metadata,
            data_start,
        })
    }

    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, Problem> {
        let info = self
            .metadata
            .info(name)
            .ok_or_else(|| Problem::MissingTensor(name.to_owned()))?;
        if info.shape != shape {
            let (found, wanted) = (info.shape.clone(), shape.to_vec());
            return Err(Problem::WrongShape {
                name: name.to_owned(),
                found,
                wanted,
            });
        }
        let (start, end) = info.data_offsets;
        let mut bytes = vec![0; end - start];
        self.file
            .file()
            .read_exact_at(&mut bytes, self.data_start + start as u64)?;
        match info.dtype {
            Dtype::F32 => Ok(each(&bytes, f32::from_le_bytes)),
            Dtype::F16 => Ok(each(&bytes, |pair| f16::from_le_bytes(pair).to_f32())),
            Dtype::BF16 => Ok(each(&bytes, |pair| bf16::from_le_bytes(pair).to_f32())),
            other => Err(Problem::UnknownKind {
                name: name.to_owned(),
                kind: format!("{other:?}"),
            }),
        }
    }
}

fn each<const N: usize>(bytes: &[u8], read: impl Fn([u8; N]) -> f32) -> Vec<f32> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|chunk| read(*chunk))
        .collect()
}
