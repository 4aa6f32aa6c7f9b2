//! The GGUF container: a header of keys, a list of tensors, and their bytes.

use std::collections::HashMap;
use std::io::{BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::gguf_blocks::Block;
use crate::load_error::Problem;

/// A larger count means that the file is damaged.
const MAX_COUNT: u64 = 1 << 32;

/// A value of the header.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Integer(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    Array(Vec<Self>),
}

/// The position of a tensor in the file.
pub(super) struct Entry {
    /// Rows first, as everywhere in this crate. The file has the reverse order.
    pub(super) shape: Vec<usize>,
    kind: u32,
    offset: u64,
}

impl Entry {
    /// Whether its values have 16 bits or fewer.
    pub(super) fn is_narrow(&self) -> bool {
        Block::from_id(self.kind).is_some_and(|block| block != Block::F32)
    }

    /// The number of values; `None` if it overflows.
    fn count(&self) -> Option<usize> {
        self.shape
            .iter()
            .try_fold(1usize, |count, length| count.checked_mul(*length))
    }

    /// The storage format and the number of its values.
    pub(super) fn stored(&self) -> (String, u64) {
        let kind = Block::from_id(self.kind).map_or_else(
            || format!("GGML type {}", self.kind),
            |b| b.name().to_owned(),
        );
        (kind, self.count().unwrap_or(usize::MAX) as u64)
    }
}

/// An open GGUF file.
pub(super) struct GgufFile {
    pub(super) path: PathBuf,
    pub(super) keys: HashMap<String, Value>,
    pub(super) tensors: HashMap<String, Entry>,
    file: fs_err::File,
    data_start: u64,
}

/// Reads the header, counting bytes.
struct Header<R> {
    from: R,
    read: u64,
}

impl<R: Read> Header<R> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Problem> {
        let mut bytes = [0; N];
        self.from
            .read_exact(&mut bytes)
            .map_err(|_| Problem::Damaged("the header ends early".into()))?;
        self.read += N as u64;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32, Problem> {
        Ok(u32::from_le_bytes(self.bytes()?))
    }

    fn u64(&mut self) -> Result<u64, Problem> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }

    fn count(&mut self) -> Result<usize, Problem> {
        let count = self.u64()?;
        if count > MAX_COUNT {
            return Err(Problem::Damaged(format!(
                "a count of {count} in the header"
            )));
        }
        Ok(count as usize)
    }

    fn text(&mut self) -> Result<String, Problem> {
        let length = self.count()?;
        let mut bytes = Vec::new();
        self.from
            .by_ref()
            .take(length as u64)
            .read_to_end(&mut bytes)?;
        self.read += bytes.len() as u64;
        if bytes.len() < length {
            return Err(Problem::Damaged("the header ends early".into()));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn value(&mut self, kind: u32) -> Result<Value, Problem> {
        Ok(match kind {
            0 => Value::Integer(i64::from(u8::from_le_bytes(self.bytes()?))),
            1 => Value::Integer(i64::from(i8::from_le_bytes(self.bytes()?))),
            2 => Value::Integer(i64::from(u16::from_le_bytes(self.bytes()?))),
            3 => Value::Integer(i64::from(i16::from_le_bytes(self.bytes()?))),
            4 => Value::Integer(i64::from(self.u32()?)),
            5 => Value::Integer(i64::from(i32::from_le_bytes(self.bytes()?))),
            6 => Value::Float(f64::from(f32::from_le_bytes(self.bytes()?))),
            7 => Value::Bool(self.bytes::<1>()?[0] != 0),
            8 => Value::Text(self.text()?),
            9 => {
                let (kind, count) = (self.u32()?, self.count()?);
                // Nested lists are allowed but unused. They are refused, because unlimited nesting
                // would overflow the stack.
                if kind == 9 {
                    return Err(Problem::Damaged("a list of lists in the header".into()));
                }
                Value::Array(
                    (0..count)
                        .map(|_| self.value(kind))
                        .collect::<Result<_, _>>()?,
                )
            }
            10 => Value::Integer(self.u64()? as i64),
            11 => Value::Integer(i64::from_le_bytes(self.bytes()?)),
            12 => Value::Float(f64::from_le_bytes(self.bytes()?)),
            other => {
                return Err(Problem::Damaged(format!(
                    "a header value of unknown type {other}"
                )));
            }
        })
    }

    fn entry(&mut self) -> Result<(String, Entry), Problem> {
        let name = self.text()?;
        let dims = self.u32()?;
        if dims > 4 {
            return Err(Problem::Damaged(format!(
                "tensor `{name}` has {dims} dimensions"
            )));
        }
        let mut shape = (0..dims)
            .map(|_| self.count())
            .collect::<Result<Vec<_>, _>>()?;
        shape.reverse();
        let (kind, offset) = (self.u32()?, self.u64()?);
        Ok((
            name,
            Entry {
                shape,
                kind,
                offset,
            },
        ))
    }
}

impl GgufFile {
    pub(super) fn open(path: &Path) -> Result<Self, Problem> {
        let file = fs_err::File::open(path)?;
        let mut header = Header {
            from: BufReader::new(fs_err::File::open(path)?),
            read: 0,
        };
        let magic: [u8; 4] = header.bytes()?;
        if &magic != b"GGUF" {
            return Err(Problem::Damaged(
                "neither a directory nor a GGUF file (it does not begin with the letters GGUF)"
                    .into(),
            ));
        }
        let version = header.u32()?;
        if !(2..=3).contains(&version) {
            return Err(Problem::BadKey {
                key: "version".into(),
                found: version.to_string(),
                wanted: "GGUF versions 2 and 3 are known".into(),
            });
        }
        let (tensor_count, key_count) = (header.count()?, header.count()?);
        let mut keys = HashMap::new();
        for _ in 0..key_count {
            let name = header.text()?;
            let kind = header.u32()?;
            keys.insert(name, header.value(kind)?);
        }
        let tensors = (0..tensor_count)
            .map(|_| header.entry())
            .collect::<Result<HashMap<_, _>, _>>()?;
        let alignment = match keys.get("general.alignment") {
            Some(Value::Integer(alignment)) if *alignment > 0 => *alignment as u64,
            _ => 32,
        };
        let unaligned = || Problem::Damaged(format!("an alignment of {alignment}"));
        let data_start = header
            .read
            .checked_next_multiple_of(alignment)
            .ok_or_else(unaligned)?;
        Ok(Self {
            path: path.to_owned(),
            keys,
            tensors,
            file,
            data_start,
        })
    }

    /// A tensor's values in the file's own order.
    pub(super) fn tensor(&self, name: &str) -> Result<Vec<f32>, Problem> {
        let entry = self
            .tensors
            .get(name)
            .ok_or_else(|| Problem::MissingTensor(name.to_owned()))?;
        let unknown = || Problem::UnknownKind {
            name: name.to_owned(),
            kind: format!("GGML type {}", entry.kind),
        };
        let block = Block::from_id(entry.kind).ok_or_else(unknown)?;
        let past = || Problem::Damaged(format!("tensor `{name}` reaches past the end"));
        let count = entry.count().ok_or_else(past)?;
        if !count.is_multiple_of(block.values()) {
            return Err(Problem::Damaged(format!(
                "tensor `{name}` does not fill its blocks"
            )));
        }
        let size = (count / block.values())
            .checked_mul(block.bytes())
            .ok_or_else(past)?;
        let start = self.data_start.checked_add(entry.offset).ok_or_else(past)?;
        // Checked before the allocation, because a damaged length may exceed the machine's memory.
        let end = start.checked_add(size as u64).ok_or_else(past)?;
        if end > self.file.metadata()?.len() {
            return Err(past());
        }
        let mut bytes = vec![0; size];
        self.file
            .file()
            .read_exact_at(&mut bytes, start)
            .map_err(|_| past())?;
        Ok(block.dequantise(&bytes))
    }

    pub(super) fn key(&self, name: &str) -> Result<&Value, Problem> {
        self.keys
            .get(name)
            .ok_or_else(|| Problem::MissingKey(name.to_owned()))
    }

    pub(super) fn integer(&self, name: &str) -> Result<usize, Problem> {
        match self.key(name)? {
            Value::Integer(value) if *value >= 0 => Ok(*value as usize),
            other => Err(bad(name, other, "a count was expected")),
        }
    }

    pub(super) fn float(&self, name: &str) -> Result<f64, Problem> {
        match self.key(name)? {
            Value::Float(value) => Ok(*value),
            other => Err(bad(name, other, "a number was expected")),
        }
    }

    pub(super) fn text(&self, name: &str) -> Result<&str, Problem> {
        match self.key(name)? {
            Value::Text(value) => Ok(value),
            other => Err(bad(name, other, "a text was expected")),
        }
    }

    pub(super) fn texts(&self, name: &str) -> Result<Vec<&str>, Problem> {
        let Value::Array(values) = self.key(name)? else {
            return Err(bad(name, self.key(name)?, "a list of texts was expected"));
        };
        let mut texts = Vec::with_capacity(values.len());
        for value in values {
            let Value::Text(text) = value else {
                return Err(bad(name, value, "a list of texts was expected"));
            };
            texts.push(text.as_str());
        }
        Ok(texts)
    }
}

fn bad(key: &str, found: &Value, wanted: &str) -> Problem {
    let found = format!("{found:?}").chars().take(80).collect();
    Problem::BadKey {
        key: key.into(),
        found,
        wanted: wanted.into(),
    }
}
