//! What was compiled before, by content: a module and its techniques, or a rejection.

use std::sync::Arc;

use hotloop_flow::language::cuda::PtxScan;
use hotloop_flow::{BenchError, Verdict};
use serde::{Deserialize, Serialize};

use crate::cache::{CANDIDATE, Cache};
use crate::gpu::compile::headers::HEADERS;
use crate::gpu::image::Image;
use crate::scratch::{Scratch, no_space};

/// Changes when texts are compiled or checked differently.
const VERSION: &str = "6";
/// Bytes of the largest module that is kept.
const KEPT_BYTES: usize = 1 << 20;

/// A module, and the techniques that its PTX shows. A candidate that comes again may be in another
/// stage.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Compiled {
    pub(super) image: Image,
    pub(super) scan: PtxScan,
}

/// The part of the cache that belongs to one compiler.
pub(super) struct Kept {
    cache: Cache,
    scratch: Arc<Scratch>,
    reuse: bool,
    /// Everything that a module depends on besides its text and names.
    base: blake3::Hasher,
}

impl Kept {
    pub(super) fn new(
        cache: Cache,
        scratch: Arc<Scratch>,
        reuse: bool,
        identity: &[String],
    ) -> Self {
        let mut base = blake3::Hasher::new();
        add(&mut base, VERSION);
        for (name, text) in HEADERS {
            add(&mut base, name);
            add(&mut base, text);
        }
        for part in identity {
            add(&mut base, part);
        }
        Self {
            cache,
            scratch,
            reuse,
            base,
        }
    }

    fn name(&self, device: &str, names: &[String]) -> String {
        let mut hasher = self.base.clone();
        add(&mut hasher, device);
        for name in names {
            add(&mut hasher, name);
        }
        format!("{CANDIDATE}{}.cubin", &hasher.finalize().to_hex()[..32])
    }

    /// What was made of a text before.
    pub(super) fn get(&self, device: &str, names: &[String]) -> Option<Result<Compiled, Verdict>> {
        let path = self
            .reuse
            .then(|| self.cache.get(&self.name(device, names)))??;
        let bytes = std::fs::read(path).ok()?;
        let at = bytes.iter().position(|byte| *byte == b'\n')?;
        let mut made: Result<Compiled, Verdict> = serde_json::from_slice(&bytes[..at]).ok()?;
        if let Ok(compiled) = &mut made {
            compiled.image.cubin = bytes[at + 1..].to_vec();
        }
        Some(made)
    }

    /// Keeps what was made, unless it is large or a busy machine may be to blame for it.
    pub(super) fn put(
        &self,
        device: &str,
        names: &[String],
        made: &Result<Compiled, Verdict>,
    ) -> Result<(), BenchError> {
        let cubin: &[u8] = made.as_ref().map_or(&[], |compiled| &compiled.image.cubin);
        let is_doubtful = matches!(made, Err(Verdict::TimedOut { .. }));
        if !self.reuse || is_doubtful || cubin.len() > KEPT_BYTES {
            return Ok(());
        }
        let head: Result<Head<'_>, &Verdict> = made.as_ref().map(|Compiled { image, scan }| Head {
            image: Image {
                cubin: Vec::new(),
                ..image.clone()
            },
            scan,
        });
        let mut bytes =
            serde_json::to_vec(&head).map_err(|error| BenchError::machine(error.to_string()))?;
        bytes.push(b'\n');
        bytes.extend_from_slice(cubin);
        let folder = self.scratch.folder(None)?;
        let file = folder.path().join("kept");
        fs_err::write(&file, bytes).map_err(|error| no_space(&error))?;
        self.cache.put(&self.name(device, names), &file).map(drop)
    }
}

/// [`Compiled`] without the module itself, which lies behind it as it is.
#[derive(Serialize)]
struct Head<'a> {
    image: Image,
    scan: &'a PtxScan,
}

fn add(hasher: &mut blake3::Hasher, part: &str) {
    hasher.update(&(part.len() as u64).to_le_bytes());
    hasher.update(part.as_bytes());
}
