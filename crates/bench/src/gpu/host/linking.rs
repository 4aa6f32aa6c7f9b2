//! How recording programs are linked: whole, at fixed addresses, with the C and C++ libraries from
//! one object that was made of them before.
//!
//! The compiler's driver would have the linker read all of the libraries' archives for each
//! candidate, which took four times as long. The object holds what the recorder itself needs. Names
//! in it are weak, so that a host half may define one of them as it may with archives, which stand
//! behind it for the rest.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol};
use serde::{Deserialize, Serialize};

use crate::compiling::installed::{file, program};

/// The files around a program's own objects, in the order of the command line.
const BEFORE: [&str; 3] = ["crt1.o", "crti.o", "crtbeginT.o"];
const ARCHIVES: [&str; 5] = ["libstdc++.a", "libm.a", "libgcc.a", "libgcc_eh.a", "libc.a"];
const BEHIND: [&str; 2] = ["crtend.o", "crtn.o"];

/// A static linker of C++ programs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Linking {
    linker: PathBuf,
    /// Makes names weak.
    objcopy: PathBuf,
    before: Vec<PathBuf>,
    archives: Vec<PathBuf>,
    behind: Vec<PathBuf>,
}

impl Linking {
    /// What a compiler would link with. The error is the name of what is missing.
    pub(super) fn find(compiler: &Path) -> Result<Self, &'static str> {
        let files = |names: &[&'static str]| {
            let found = |name: &&'static str| file(compiler, name).ok_or(*name);
            names.iter().map(found).collect::<Result<_, _>>()
        };
        Ok(Self {
            linker: program(compiler, "ld").ok_or("ld")?,
            objcopy: program(compiler, "objcopy").ok_or("objcopy")?,
            before: files(&BEFORE)?,
            archives: files(&ARCHIVES)?,
            behind: files(&BEHIND)?,
        })
    }

    /// Everything that linking reads.
    pub(super) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.before.iter().chain(&self.archives).chain(&self.behind)
    }

    /// Makes the object of all that `own` needs from the libraries. The error is what a program
    /// said.
    pub(super) fn prelink(&self, own: &Path, to: &Path) -> Result<(), String> {
        let bytes = std::fs::read(own).map_err(|error| error.to_string())?;
        let needed = undefined(&bytes)
            .into_iter()
            .flat_map(|name| ["-u".into(), name]);
        said(
            Command::new(&self.linker)
                .args(["-r", "-o"])
                .arg(to)
                .args(needed)
                .arg(&self.before[0])
                .arg("--start-group")
                .args(&self.archives)
                .arg("--end-group"),
        )?;
        said(Command::new(&self.objcopy).arg("--weaken").arg(to))
    }

    /// The command that links objects, in folders of their own or absolute, to `program`.
    pub(super) fn command(
        &self,
        objects: &[String],
        prelinked: &Path,
        program: &str,
    ) -> Vec<String> {
        let texts = |paths: &[PathBuf]| -> Vec<String> {
            paths
                .iter()
                .map(|path| path.display().to_string())
                .collect()
        };
        let mut words = texts(std::slice::from_ref(&self.linker));
        words.extend(["-static", "-o", program].map(String::from));
        words.extend(texts(&self.before[1..]));
        words.extend_from_slice(objects);
        words.push(prelinked.display().to_string());
        words.push("--start-group".into());
        words.extend(texts(&self.archives));
        words.push("--end-group".into());
        words.extend(texts(&self.behind));
        words
    }
}

/// The names that an object needs from others.
fn undefined(bytes: &[u8]) -> Vec<String> {
    let Ok(file) = ElfFile64::<Endianness>::parse(bytes) else {
        return Vec::new();
    };
    let symbols = file.symbols().filter(ObjectSymbol::is_undefined);
    symbols
        .filter_map(|symbol| symbol.name().ok().map(str::to_owned))
        .filter(|name| !name.is_empty())
        .collect()
}

fn said(command: &mut Command) -> Result<(), String> {
    let output = command
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}
