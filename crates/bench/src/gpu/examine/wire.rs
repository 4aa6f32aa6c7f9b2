//! Messages between the processes: a JSON object, and bytes that JSON would blow up.

use std::io::{Error, ErrorKind, Read, Result, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The most bytes of a part. What is larger was never sent.
const MOST: u64 = 1 << 30;

/// Sends a message with its attachments.
pub(super) fn send(
    to: &mut impl Write,
    message: &impl Serialize,
    attached: &[&[u8]],
) -> Result<()> {
    let text = serde_json::to_vec(message)?;
    let mut bytes = Vec::with_capacity(text.len() + 64);
    bytes.extend((attached.len() as u64).to_le_bytes());
    for part in std::iter::once(text.as_slice()).chain(attached.iter().copied()) {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part);
    }
    to.write_all(&bytes)?;
    to.flush()
}

/// The next message. The end of the stream is an error of the kind `UnexpectedEof`.
pub(super) fn receive<T: DeserializeOwned>(from: &mut impl Read) -> Result<(T, Vec<Vec<u8>>)> {
    let attached = number(from)?;
    let text = part(from)?;
    let attached = (0..attached.min(MOST))
        .map(|_| part(from))
        .collect::<Result<_>>()?;
    Ok((serde_json::from_slice(&text)?, attached))
}

fn number(from: &mut impl Read) -> Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn part(from: &mut impl Read) -> Result<Vec<u8>> {
    let length = number(from)?;
    if length > MOST {
        return Err(Error::new(ErrorKind::InvalidData, "a message is too long"));
    }
    let mut bytes = vec![0; length as usize];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_arrives_with_its_attachments() {
        let mut bytes = Vec::new();
        send(&mut bytes, &("first", 1), &[b"code", b""]).unwrap();
        send(&mut bytes, &("second", 2), &[]).unwrap();
        let mut from = bytes.as_slice();
        let (message, attached): ((String, u32), _) = receive(&mut from).unwrap();
        assert_eq!((message.0.as_str(), message.1), ("first", 1));
        assert_eq!(attached, [b"code".to_vec(), Vec::new()]);
        let (message, attached): ((String, u32), Vec<_>) = receive(&mut from).unwrap();
        assert_eq!((message.1, attached.len()), (2, 0));
        let end = receive::<(String, u32)>(&mut from).unwrap_err();
        assert_eq!(end.kind(), ErrorKind::UnexpectedEof);
    }
}
