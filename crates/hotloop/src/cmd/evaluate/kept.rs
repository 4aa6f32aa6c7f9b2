//! Reads a folder that [`super::keep`] wrote. It may come from elsewhere, so the names in it are
//! not trusted: none leads out of it.

use std::path::Path;

use hotloop_flow::{Task, task};
use serde::de::DeserializeOwned;

use crate::cmd::judge::load;
use crate::failure::Failure;

const HINT: &str =
    "name a run's directory, or a folder that `hotloop evaluate --keep` wrote and nobody changed";

/// The lines of the folder's `answers.jsonl`.
pub(crate) fn read<T: DeserializeOwned>(folder: &Path) -> Result<Vec<T>, Failure> {
    let index = folder.join("answers.jsonl");
    let text = fs_err::read_to_string(&index)
        .map_err(|error| Failure::user(error.to_string()).hint(HINT))?;
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            let place = format!("{}, line {}: {error}", index.display(), number + 1);
            Failure::user(place).hint(HINT)
        })
    };
    text.lines().enumerate().map(parse).collect()
}

/// The task of that name. A path is no name.
pub(crate) fn task(folder: &Path, name: &str) -> Result<Task, Failure> {
    if task::is_name(name) {
        return load(name);
    }
    let index = folder.join("answers.jsonl");
    let what = format!("{}: `{name}` is no task's name", index.display());
    Err(Failure::user(what).hint(HINT))
}

/// The text of one of the folder's files.
pub(crate) fn source(folder: &Path, name: &str) -> Result<String, Failure> {
    let unreadable = |error: std::io::Error| Failure::user(error.to_string()).hint(HINT);
    let whole = fs_err::canonicalize(folder).map_err(unreadable)?;
    // A link within the folder may lead anywhere, too.
    let file = fs_err::canonicalize(folder.join(name)).map_err(unreadable)?;
    if !file.starts_with(&whole) || !file.is_file() {
        let index = folder.join("answers.jsonl");
        let what = format!("{}: `{name}` is no file in that folder", index.display());
        return Err(Failure::user(what).hint(HINT));
    }
    fs_err::read_to_string(file).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_to_no_file_outside() {
        let place = tempfile::tempdir().expect("a folder");
        let kept = place.path().join("kept");
        std::fs::create_dir_all(kept.join("p")).expect("a folder");
        let secret = place.path().join("secret");
        std::fs::write(&secret, "token").expect("written");
        std::fs::write(kept.join("p/a.c"), "int x;").expect("written");
        std::os::unix::fs::symlink(&secret, kept.join("link.c")).expect("linked");
        assert_eq!(source(&kept, "p/a.c").expect("it is inside"), "int x;");
        let absolute = secret.display().to_string();
        for name in ["../secret", "p/../../secret", "link.c", "p", "", &absolute] {
            let refused = source(&kept, name).expect_err(name);
            assert!(
                refused.what().contains("is no file in that folder"),
                "{name}"
            );
        }
        assert!(source(&kept, "p/none.c").is_err());
        assert!(task(&kept, "matmul").is_ok());
        for name in ["../matmul", "/tmp", "./matmul"] {
            let refused = task(&kept, name).expect_err(name);
            assert!(refused.what().contains("is no task's name"), "{name}");
        }
    }
}
