//! Names for several runs: the directory's name, with more of its path where names collide.

use std::path::{Component, Path, PathBuf};

/// A name for each of `directories`. The names differ, and so do file names that begin with them.
pub fn apart(directories: &[PathBuf]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (at, directory) in directories.iter().enumerate() {
        let others = || {
            directories
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
                .map(|(_, other)| other)
        };
        let told = (1..=parts(directory).len()).find(|length| {
            others().all(|other| file(&end(other, *length)) != file(&end(directory, *length)))
        });
        let name = end(directory, told.unwrap_or(1));
        // The same run is listed twice.
        let mut numbered = (2..).map(|number| format!("{name} ({number})"));
        let is_new = |name: &String| names.iter().all(|other| file(other) != file(name));
        names.push(
            std::iter::once(name.clone())
                .chain(&mut numbered)
                .find(is_new)
                .expect("numbers do not end"),
        );
    }
    names
}

/// The name in a form that fits in a file name.
pub(super) fn file(name: &str) -> String {
    name.replace('/', "-")
}

fn parts(path: &Path) -> Vec<String> {
    let named = |component| match component {
        Component::Normal(part) => Some(Path::new(part).display().to_string()),
        Component::ParentDir => Some("..".to_owned()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    };
    path.components().filter_map(named).collect()
}

/// The last `length` parts of a path.
fn end(path: &Path, length: usize) -> String {
    let parts = parts(path);
    if parts.is_empty() {
        ".".to_owned()
    } else {
        parts[parts.len().saturating_sub(length)..].join("/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hold_as_much_of_a_path_as_needed() {
        let names = |paths: &[&str]| apart(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(names(&["runs/a/"]), ["a"]);
        assert_eq!(names(&["."]), ["."]);
        assert_eq!(names(&["runs/a", "runs/b"]), ["a", "b"]);
        assert_eq!(names(&["one/a", "two/a", "two/b"]), ["one/a", "two/a", "b"]);
        assert_eq!(names(&["/x/one/a", "/y/one/a"]), ["x/one/a", "y/one/a"]);
        assert_eq!(names(&["a", "../a"]), ["a", "../a"]);
        assert_eq!(names(&["one/a", "one/a"]), ["a", "a (2)"]);
        let alike = names(&["one-a", "one/a", "two/a"]);
        assert!(file(&alike[0]) != file(&alike[1]), "{alike:?}");
    }
}
