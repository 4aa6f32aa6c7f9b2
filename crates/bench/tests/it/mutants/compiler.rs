//! The compiler without any screen: whether a source compiles at all.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The bench's flags, except for those that only change diagnostics.
const FLAGS: [&str; 8] = [
    "-O3",
    "-march=native",
    "-fopenmp",
    "-fPIC",
    "-std=gnu17",
    "-D_GNU_SOURCE",
    "-w",
    "-fno-semantic-interposition",
];

/// The headers that every candidate starts with.
const PRELUDE: &str = "\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <stdint.h>
#include <stddef.h>
#include <stdbool.h>
#include <omp.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
";

/// Some cheats are bombs for a compiler, and nothing else limits this one.
const LIMITED: &str = "ulimit -v 4000000; ulimit -t 10; ulimit -f 200000; exec gcc \"$@\"";

/// gcc with the bench's flags and prelude.
pub(super) struct Compiler {
    room: tempfile::TempDir,
}

impl Compiler {
    pub(super) fn new() -> Self {
        let compiler = Self {
            room: tempfile::tempdir().unwrap(),
        };
        let header = compiler.room.path().join("prelude.h");
        std::fs::write(&header, PRELUDE).unwrap();
        let precompiled = compiler.run(&["-x".as_ref(), "c-header".as_ref(), &header]);
        assert!(precompiled, "the prelude compiles");
        compiler
    }

    fn run(&self, arguments: &[&Path]) -> bool {
        Command::new("sh")
            .args(["-c", LIMITED, "gcc"])
            .args(FLAGS)
            .args(arguments)
            .current_dir(self.room.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap()
            .success()
    }

    fn compiles(&self, number: usize, source: &[u8]) -> bool {
        let (file, object) = (format!("{number}.c"), format!("{number}.o"));
        let path = self.room.path().join(&file);
        std::fs::write(&path, source).unwrap();
        let arguments = ["-include", "prelude.h", "-pipe", "-c", &file, "-o", &object];
        let compiled = self.run(&arguments.map(Path::new));
        std::fs::remove_file(path).unwrap();
        // There is no output if it failed.
        drop(std::fs::remove_file(self.room.path().join(object)));
        compiled
    }

    /// Which of `sources` compile. It runs one process per core.
    pub(super) fn which_compile(&self, sources: &[&[u8]]) -> Vec<bool> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut compiled = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(source) = sources.get(number) else {
                    return compiled;
                };
                compiled.push((number, self.compiles(number, source)));
            }
        };
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let mut compiled: Vec<(usize, bool)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            threads
                .into_iter()
                .flat_map(|thread| thread.join().unwrap())
                .collect()
        });
        compiled.sort_unstable();
        compiled.into_iter().map(|(_, compiled)| compiled).collect()
    }
}
