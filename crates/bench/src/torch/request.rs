//! A call of an extension's function, as the recording program reads it.

use std::collections::BTreeMap;

use super::element::Wire;
use super::message::{Call, Value};
use crate::gpu::call::{self, Passed};

/// Buffers of one call, and values in one list.
const BUFFERS: usize = 60;
const LISTED: usize = 4096;
/// Bytes of one request: it travels as an argument of a program, in hexadecimal digits.
const REQUEST: usize = 60_000;

/// A call ready for the jail, and the memory that its buffers are, in their order.
pub(super) struct Request {
    pub(super) call: call::Call,
    pub(super) storages: Vec<usize>,
}

/// Encodes a call. `bytes` checks a tensor and knows the bytes of its memory.
pub(super) fn encode(
    call: &Call,
    bytes: &dyn Fn(&Wire) -> Result<u64, String>,
) -> Result<Request, String> {
    let mut encoder = Encoder {
        bytes,
        buffers: Vec::new(),
        words: Vec::new(),
    };
    encoder.text(&call.function);
    encoder.word(call.arguments.len() as u64);
    for value in &call.arguments {
        encoder.value(value)?;
    }
    encoder.word(call.named.len() as u64);
    for (name, value) in &call.named {
        encoder.text(name);
        encoder.value(value)?;
    }
    if encoder.words.len() > REQUEST {
        return Err(format!("the arguments of `{}` are too long", call.function));
    }
    let mut arguments: Vec<Passed> = encoder
        .buffers
        .iter()
        .map(|(_, bytes)| Passed::Buffer(*bytes))
        .collect();
    arguments.push(Passed::Scalar(encoder.words));
    Ok(Request {
        storages: encoder
            .buffers
            .iter()
            .map(|(storage, _)| *storage)
            .collect(),
        call: call::Call {
            sizes: BTreeMap::new(),
            arguments,
        },
    })
}

struct Encoder<'a> {
    bytes: &'a dyn Fn(&Wire) -> Result<u64, String>,
    /// The number of each memory, and its bytes.
    buffers: Vec<(usize, u64)>,
    words: Vec<u8>,
}

impl Encoder<'_> {
    fn word(&mut self, word: u64) {
        self.words.extend(word.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        self.words.extend(text.as_bytes());
        self.words.resize(self.words.len().next_multiple_of(8), 0);
    }

    fn value(&mut self, value: &Value) -> Result<(), String> {
        match value {
            Value::None(_) => self.word(0),
            Value::Tensor(wire) => {
                let buffer = self.buffer(wire)?;
                for word in [1, buffer as u64, wire.offset, wire.dtype] {
                    self.word(word);
                }
                self.word(wire.shape.len() as u64);
                for word in wire.shape.iter().chain(&wire.strides) {
                    self.word(*word);
                }
            }
            Value::Int(number) => {
                self.word(2);
                self.word(number.cast_unsigned());
            }
            Value::Float(bits) => {
                self.word(3);
                self.word(*bits);
            }
            Value::Bool(is) => {
                self.word(4);
                self.word(u64::from(*is));
            }
            Value::List(list) => {
                if list.len() > LISTED {
                    return Err("a list that is too long".into());
                }
                self.word(5);
                self.word(list.len() as u64);
                for one in list {
                    self.value(one)?;
                }
            }
            Value::Text(text) => {
                self.word(6);
                self.text(text);
            }
        }
        Ok(())
    }

    fn buffer(&mut self, wire: &Wire) -> Result<usize, String> {
        let bytes = (self.bytes)(wire)?;
        let known = self
            .buffers
            .iter()
            .position(|(one, _)| *one == wire.storage);
        if let Some(known) = known {
            return Ok(known);
        }
        if self.buffers.len() == BUFFERS {
            return Err(format!("more than {BUFFERS} tensors in one call"));
        }
        self.buffers.push((wire.storage, bytes));
        Ok(self.buffers.len() - 1)
    }
}
