//! The recording runtime: its headers, precompiled, and the program around host halves.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hotloop_flow::BenchError;

use super::toolchain::HostToolchain;
use crate::cache::{Cache, own_end};
use crate::compiling::diagnostics::shorten;
use crate::sys;

/// Names and texts of the headers; the first one includes the others.
const HEADERS: [(&str, &str); 8] = [
    ("cuda_host.h", include_str!("header/cuda_host.h")),
    ("types.h", include_str!("header/types.h")),
    ("record.h", include_str!("header/record.h")),
    ("half.h", include_str!("header/half.h")),
    ("calls.h", include_str!("header/calls.h")),
    ("launches.h", include_str!("header/launches.h")),
    ("device_words.h", include_str!("header/device_words.h")),
    ("iostream", include_str!("header/iostream")),
];
const RECORDER: &str = include_str!("recorder.cpp");

/// What every host half is compiled with. Nobody runs it for long, so nothing is optimised.
pub(super) const FLAGS: [&str; 8] = [
    "-std=c++17",
    "-O0",
    "-w",
    "-fno-pie",
    "-ffunction-sections",
    "-fdata-sections",
    "-fdiagnostics-color=never",
    "-fmax-errors=8",
];

/// The recording runtime on this machine.
pub(super) struct Runtime {
    /// Where its files lie.
    pub(super) folder: PathBuf,
    /// What tells it from others.
    pub(super) key: String,
}

impl Runtime {
    /// Made now if this machine has none yet.
    pub(super) fn prepare(toolchain: &HostToolchain, cache: &Cache) -> Result<Self, BenchError> {
        let mut hasher = blake3::Hasher::new();
        for part in HEADERS.iter().map(|(_, text)| *text).chain([
            RECORDER,
            &toolchain.identity,
            &FLAGS.join(" "),
        ]) {
            hasher.update(part.as_bytes());
        }
        let key = hasher.finalize().to_hex()[..16].to_owned();
        let runtime = Self {
            folder: cache.path(&format!("cuda-host-{key}")),
            key,
        };
        if !runtime.recorder().exists() {
            runtime.build(toolchain)?;
        }
        Ok(runtime)
    }

    /// The folder that host halves include from.
    pub(super) fn headers(&self) -> PathBuf {
        self.folder.join("header")
    }

    pub(super) fn first_header(&self) -> PathBuf {
        self.headers().join(HEADERS[0].0)
    }

    /// The compiled program without its host half; it is made last.
    pub(super) fn recorder(&self) -> PathBuf {
        self.folder.join("recorder.o")
    }

    /// Each file is written beside its place and moved there, so that two benches can do it at once.
    fn build(&self, toolchain: &HostToolchain) -> Result<(), BenchError> {
        let failed = |error: std::io::Error| {
            BenchError::machine(format!("the recording runtime: {error}"))
                .hint(sys::remedy(&error, "free some space"))
        };
        fs_err::create_dir_all(self.headers()).map_err(failed)?;
        let partial = self.folder.join(format!(".part.{}", own_end()));
        let place = |text: &str, at: &Path| {
            fs_err::write(&partial, text).and_then(|()| fs_err::rename(&partial, at))
        };
        for (name, text) in HEADERS {
            place(text, &self.headers().join(name)).map_err(failed)?;
        }
        let source = self.folder.join("recorder.cpp");
        place(RECORDER, &source).map_err(failed)?;
        let first = self.first_header();
        let precompiled = first.with_extension("h.gch");
        for (kind, input, output) in [
            ("c++-header", &first, &precompiled),
            ("c++", &source, &self.recorder()),
        ] {
            let made = Command::new(&toolchain.path)
                .args(FLAGS)
                .args(["-c", "-x", kind])
                .arg(input)
                .arg("-o")
                .arg(&partial)
                .env("LC_ALL", "C")
                .stdin(Stdio::null())
                .output()
                .map_err(failed)?;
            if !made.status.success() {
                drop(std::fs::remove_file(&partial));
                let said = String::from_utf8_lossy(&made.stderr).into_owned();
                return Err(BenchError::machine(format!(
                    "the recording runtime does not compile:\n{}",
                    shorten(&said)
                ))
                .hint("install the C++ library (apt-get install -y g++), or free some space"));
            }
            fs_err::rename(&partial, output).map_err(failed)?;
        }
        Ok(())
    }
}
