//! What a function of a torch extension said at its end: any bytes, no panic.

use super::events::Reader;
use crate::gpu::plan::Place;

/// How a call of an extension's function ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// Neither: it ended without a word.
    Nothing,
    Returned(Value),
    /// With an exception.
    Raised(String),
}

/// A value that a function returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    None,
    Tensor(Tensor),
    Int(i64),
    /// The bits of a double.
    Float(u64),
    Bool(bool),
    List(Vec<Self>),
}

/// A tensor over a buffer of the call's plan. Nothing is known of whether it fits there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tensor {
    pub(crate) place: Place,
    /// Torch's number of the element type.
    pub(crate) dtype: u64,
    pub(crate) shape: Vec<u64>,
    pub(crate) strides: Vec<u64>,
}

/// Dimensions of a tensor, and values in a list.
const DIMENSIONS: u64 = 16;
const LISTED: u64 = 256;
/// Lists within lists.
const DEPTH: usize = 4;

/// Reads a value; `place` knows what an address of the recorder points to.
pub(super) fn read(
    bytes: &[u8],
    place: &mut dyn FnMut(u64) -> Result<Option<Place>, String>,
) -> Result<Value, String> {
    value(&mut Reader(bytes), place, 0)
}

fn value(
    reader: &mut Reader<'_>,
    place: &mut dyn FnMut(u64) -> Result<Option<Place>, String>,
    depth: usize,
) -> Result<Value, String> {
    let none = || "what a function returned is no value".to_owned();
    let kind = reader.u64().ok_or_else(none)?;
    Ok(match kind {
        0 => Value::None,
        1 => {
            let address = reader.u64().ok_or_else(none)?;
            let dtype = reader.u64().ok_or_else(none)?;
            let count = reader.u64().filter(|count| *count <= DIMENSIONS);
            let count = count.ok_or_else(none)?;
            let mut numbers = || -> Result<Vec<u64>, String> {
                (0..count).map(|_| reader.u64().ok_or_else(none)).collect()
            };
            let (shape, strides) = (numbers()?, numbers()?);
            let place = place(address)?.ok_or_else(|| {
                "a function returns a tensor over memory that is not the GPU's".to_owned()
            })?;
            Value::Tensor(Tensor {
                place,
                dtype,
                shape,
                strides,
            })
        }
        2 => Value::Int(reader.u64().ok_or_else(none)?.cast_signed()),
        3 => Value::Float(reader.u64().ok_or_else(none)?),
        4 => Value::Bool(reader.u64().ok_or_else(none)? != 0),
        5 if depth < DEPTH => {
            let count = reader.u64().filter(|count| *count <= LISTED);
            let count = count.ok_or_else(none)?;
            let list = (0..count).map(|_| value(reader, place, depth + 1));
            Value::List(list.collect::<Result<_, _>>()?)
        }
        _ => return Err(none()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_words(words: &[u64]) -> Result<Value, String> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        read(&bytes, &mut |address| {
            Ok((address == 7).then_some(Place {
                buffer: 0,
                offset: 0,
            }))
        })
    }

    #[test]
    fn values_are_read_and_no_bytes_are_believed() {
        let list = read_words(&[5, 2, 2, u64::MAX, 4, 1]);
        assert_eq!(
            list,
            Ok(Value::List(vec![Value::Int(-1), Value::Bool(true)]))
        );
        let tensor = read_words(&[1, 7, 6, 1, 3, 1]);
        assert!(matches!(tensor, Ok(Value::Tensor(one)) if one.shape == [3]));
        assert!(read_words(&[1, 8, 6, 1, 3, 1]).is_err(), "no such memory");
        assert!(read_words(&[1, 7, 6, u64::MAX]).is_err());
        assert!(read_words(&[5, u64::MAX]).is_err());
        assert!(read_words(&[5, 1, 5, 1, 5, 1, 5, 1, 5, 0]).is_err());
        assert!(read_words(&[]).is_err());
        assert!(read_words(&[99]).is_err());
    }
}
