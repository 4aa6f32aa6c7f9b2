//! A journal that fails to write.

use hotloop_run::journal::Sink;

/// A journal that takes a number of bytes, then fails in the middle of a line and on every later
/// write.
pub(crate) struct Failing {
    pub(crate) sink: Box<dyn Sink>,
    pub(crate) left: usize,
    pub(crate) kind: std::io::ErrorKind,
}

impl Sink for Failing {
    fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let take = self.left.min(bytes.len());
        self.sink.append(&bytes[..take])?;
        self.left -= take;
        if take < bytes.len() {
            Err(self.kind.into())
        } else {
            Ok(())
        }
    }

    fn sync(&mut self) -> std::io::Result<()> {
        self.sink.sync()
    }
}
