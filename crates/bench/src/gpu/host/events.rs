//! What a recorder wrote, read as data: any bytes, no panic.

/// One thing that host code asked the runtime for. Addresses are the recorder's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event<'a> {
    Refused(String),
    Allocated {
        address: u64,
        bytes: u64,
    },
    Freed(u64),
    Variable {
        address: u64,
        host: u64,
    },
    Launched(Launched<'a>),
    Set {
        to: u64,
        bytes: u64,
        pattern: &'a [u8],
    },
    Copied {
        to: u64,
        from: u64,
        bytes: u64,
    },
    Written {
        to: u64,
        data: &'a [u8],
    },
    /// Dynamic shared memory that a kernel may have.
    Shared {
        kernel: u64,
        bytes: u64,
    },
    /// A call that the GPU would have refused.
    Failed {
        kernel: u64,
        why: String,
    },
    Ended,
    /// What a torch extension's function returned: values.
    Returned(&'a [u8]),
    /// The exception that a torch extension's function ended with.
    Raised(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Launched<'a> {
    pub(super) kernel: u64,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) cluster: [u32; 3],
    pub(super) cooperative: bool,
    pub(super) shared: u64,
    pub(super) arguments: Vec<&'a [u8]>,
}

/// The next event, or nothing where the bytes are none.
pub(super) fn next<'a>(bytes: &mut &'a [u8]) -> Option<Event<'a>> {
    let mut reader = Reader(bytes);
    let kind = reader.u32()?;
    let length = usize::try_from(reader.u64()?).ok()?;
    let mut body = Reader(reader.take(length)?);
    let event = match kind {
        1 => Event::Refused(words(body.0)),
        2 => Event::Allocated {
            address: body.u64()?,
            bytes: body.u64()?,
        },
        3 => Event::Freed(body.u64()?),
        4 => Event::Variable {
            address: body.u64()?,
            host: body.u64()?,
        },
        5 => Event::Launched(launched(body)?),
        6 => {
            let (to, bytes, length) = (body.u64()?, body.u64()?, body.u64()?);
            let pattern = body.take(usize::try_from(length).ok()?)?;
            Event::Set { to, bytes, pattern }
        }
        7 => Event::Copied {
            to: body.u64()?,
            from: body.u64()?,
            bytes: body.u64()?,
        },
        8 => Event::Written {
            to: body.u64()?,
            data: body.0,
        },
        9 => Event::Shared {
            kernel: body.u64()?,
            bytes: body.u64()?,
        },
        10 => Event::Failed {
            kernel: body.u64()?,
            why: words(body.0),
        },
        11 => Event::Ended,
        12 => Event::Returned(body.0),
        13 => Event::Raised(words(body.0)),
        _ => return None,
    };
    *bytes = reader.0;
    Some(event)
}

/// Arguments of a launch.
const ARGUMENTS: usize = 4096;

fn launched(mut body: Reader<'_>) -> Option<Launched<'_>> {
    let kernel = body.u64()?;
    let mut sizes = [[0; 3]; 3];
    for number in sizes.as_flattened_mut() {
        *number = body.u32()?;
    }
    let [grid, block, cluster] = sizes;
    let cooperative = body.u32()? != 0;
    let shared = body.u64()?;
    let (count, _padding) = (body.u32()?, body.u32()?);
    let mut arguments = Vec::new();
    for _ in 0..count {
        let length = body.u32()? as usize;
        // Nothing is passed in no bytes, and millions of them would fit.
        if length == 0 || arguments.len() == ARGUMENTS {
            return None;
        }
        arguments.push(body.take(length)?);
    }
    Some(Launched {
        kernel,
        grid,
        block,
        cluster,
        cooperative,
        shared,
        arguments,
    })
}

/// Words of a candidate, as they may stand in a verdict.
fn words(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars().filter(|c| !c.is_control()).take(400).collect()
}

pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*number))
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = kind.to_le_bytes().to_vec();
        bytes.extend((body.len() as u64).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    #[test]
    fn events_follow_each_other() {
        let mut bytes = event(3, &7u64.to_le_bytes());
        bytes.extend(event(11, &[]));
        let mut rest = bytes.as_slice();
        assert_eq!(next(&mut rest), Some(Event::Freed(7)));
        assert_eq!(next(&mut rest), Some(Event::Ended));
        assert_eq!(next(&mut rest), None);
    }

    #[test]
    fn no_bytes_are_believed() {
        let mut long = 5u32.to_le_bytes().to_vec();
        long.extend(u64::MAX.to_le_bytes());
        assert_eq!(next(&mut long.as_slice()), None);
        assert_eq!(next(&mut event(99, &[]).as_slice()), None);
        assert_eq!(next(&mut event(5, &[0xff; 80]).as_slice()), None);
        assert_eq!(next(&mut event(6, &[0xff; 24]).as_slice()), None);
        let said = event(1, b"a\nb\x1b[31m\xff");
        let said = next(&mut said.as_slice());
        assert_eq!(said, Some(Event::Refused("ab[31m\u{fffd}".into())));
    }
}
