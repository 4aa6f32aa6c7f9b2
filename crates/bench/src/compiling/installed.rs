//! What a compiler on this machine consists of: its programs, its libraries, its headers.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The first executable of that name in `PATH`.
pub(crate) fn search_path(name: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let is_executable = |path: &PathBuf| {
        path.metadata()
            .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(is_executable)
}

fn run(program: &Path, arguments: &[&str]) -> Option<(String, String)> {
    let output = Command::new(program)
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    output
        .status
        .success()
        .then(|| (text(output.stdout), text(output.stderr)))
}

pub(crate) fn say(program: &Path, arguments: &[&str]) -> Option<String> {
    run(program, arguments).map(|(out, _)| out)
}

pub(crate) fn say_error(program: &Path, arguments: &[&str]) -> Option<String> {
    run(program, arguments).map(|(_, error)| error)
}

/// A file that the compiler finds by name; `None` if it only repeats the name.
pub(crate) fn file(compiler: &Path, name: &str) -> Option<PathBuf> {
    let answer = say(compiler, &[&format!("-print-file-name={name}")])?;
    let path = PathBuf::from(answer.trim());
    (path.is_absolute() && path.exists()).then_some(path)
}

/// A program that the compiler runs.
pub(crate) fn program(compiler: &Path, name: &str) -> Option<PathBuf> {
    let answer = say(compiler, &[&format!("-print-prog-name={name}")])?;
    let path = PathBuf::from(answer.trim());
    if path.is_absolute() {
        path.exists().then_some(path)
    } else {
        search_path(answer.trim())
    }
}

pub(crate) fn parent(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("/")).to_owned()
}

/// Absolute paths that a linker script names.
pub(crate) fn script_members(path: &Path) -> Vec<PathBuf> {
    let is_script = path.metadata().is_ok_and(|data| data.len() < 4096);
    let text = if is_script {
        std::fs::read_to_string(path).unwrap_or_default()
    } else {
        String::new()
    };
    text.split(|c: char| c.is_whitespace() || c == '(' || c == ')')
        .filter(|word| word.starts_with('/') && !word.starts_with("/*"))
        .map(PathBuf::from)
        .collect()
}

/// The libraries that a program loads, and the loader itself.
pub(crate) fn shared_libraries(program: &Path) -> Vec<PathBuf> {
    let listing = Command::new(program)
        .env("LD_TRACE_LOADED_OBJECTS", "1")
        .stdin(Stdio::null())
        .output();
    let Ok(listing) = listing else {
        return Vec::new();
    };
    String::from_utf8_lossy(&listing.stdout)
        .split_whitespace()
        .filter(|word| word.starts_with('/'))
        .map(PathBuf::from)
        .flat_map(|path| [path.clone(), path.canonicalize().unwrap_or(path)])
        .collect()
}

/// The folders that `#include <...>` searches, in `language`: `c` or `c++`.
pub(crate) fn include_folders(compiler: &Path, language: &str) -> Vec<PathBuf> {
    let asking = ["-E", "-v", "-fopenmp", "-x", language, "/dev/null"];
    let text = say_error(compiler, &asking).unwrap_or_default();
    text.lines()
        .skip_while(|line| !line.starts_with("#include <"))
        .skip(1)
        .take_while(|line| line.starts_with(' '))
        .map(|line| PathBuf::from(line.trim()))
        .collect()
}
