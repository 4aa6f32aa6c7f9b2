//! Reads the problems of a checkout.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::source::Part;

/// The levels that there are. Level 1 has single operations, level 2 short sequences, level 3
/// networks and level 4 whole models.
const LEVELS: std::ops::RangeInclusive<u8> = 1..=4;
/// A problem is a few kilobytes. What is longer is something else.
const LONGEST: u64 = 1 << 20;

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub level: u8,
    /// Its number within the level.
    pub number: u32,
    /// The words of its file's name, e.g. `Square matrix multiplication`.
    pub title: String,
    /// The whole file.
    pub source: String,
}

impl Problem {
    /// Its name as a task, e.g. `kernelbench/1/23`.
    pub fn name(&self) -> String {
        format!("kernelbench/{}/{}", self.level, self.number)
    }

    /// Identifies its content.
    pub fn hash(&self) -> String {
        blake3::hash(self.source.as_bytes()).to_hex()[..16].to_owned()
    }
}

/// The problems of a checkout.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Problems {
    /// In the order of level and number.
    pub all: Vec<Problem>,
    /// Files that look like problems and cannot be used, with the reason.
    pub unusable: Vec<(PathBuf, String)>,
}

impl Problems {
    /// The problems of one level.
    pub fn level(&self, level: u8) -> impl Iterator<Item = &Problem> {
        self.all
            .iter()
            .filter(move |problem| problem.level == level)
    }

    /// A problem by its name as a task.
    pub fn find(&self, name: &str) -> Option<&Problem> {
        self.all.iter().find(|problem| problem.name() == name)
    }

    /// Identifies the version of the checkout by the content of all problems.
    pub fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for problem in &self.all {
            hasher.update(problem.name().as_bytes());
            hasher.update(problem.hash().as_bytes());
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }
}

/// A folder that holds no problems.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    #[error("{0}: {1}")]
    Unreadable(PathBuf, io::Error),
    #[error(
        "{0}: there are no problems; a checkout of KernelBench has folders level1 to level4, \
         in it or in its folder KernelBench, with files such as 1_Square_matrix_multiplication_.py"
    )]
    NoProblems(PathBuf),
    #[error("{0} and {1} have the same number")]
    SameNumber(PathBuf, PathBuf),
}

/// Reads all problems below `folder`: the checkout itself, or the folder with the levels.
pub fn read(folder: &Path) -> Result<Problems, TreeError> {
    let unreadable = |error| TreeError::Unreadable(folder.to_owned(), error);
    std::fs::read_dir(folder).map_err(unreadable)?;
    let inner = folder.join("KernelBench");
    let root = if inner.join("level1").is_dir() {
        inner
    } else {
        folder.to_owned()
    };
    let mut problems = Problems::default();
    for level in LEVELS {
        let folder = root.join(format!("level{level}"));
        if folder.is_dir() {
            read_level(level, &folder, &mut problems)?;
        }
    }
    if problems.all.is_empty() && problems.unusable.is_empty() {
        return Err(TreeError::NoProblems(folder.to_owned()));
    }
    Ok(problems)
}

fn read_level(level: u8, folder: &Path, problems: &mut Problems) -> Result<(), TreeError> {
    let unreadable = |error| TreeError::Unreadable(folder.to_owned(), error);
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some((number, title)) = parts(&name) {
            names.insert((number, title, entry.path()));
        }
    }
    let mut last: Option<(u32, PathBuf)> = None;
    for (number, title, path) in names {
        if let Some((_, before)) = last.take().filter(|(before, _)| *before == number) {
            return Err(TreeError::SameNumber(before, path));
        }
        match problem(&path) {
            Ok(source) => problems.all.push(Problem {
                level,
                number,
                title,
                source,
            }),
            Err(why) => problems.unusable.push((path.clone(), why)),
        }
        last = Some((number, path));
    }
    Ok(())
}

/// The number and the title in a problem's file name, e.g. `23_Softmax.py`.
fn parts(name: &str) -> Option<(u32, String)> {
    let (number, title) = name.strip_suffix(".py")?.split_once('_')?;
    let digits = number.bytes().all(|byte| byte.is_ascii_digit());
    let number = number.parse().ok().filter(|_| digits)?;
    let words: Vec<&str> = title.split('_').filter(|word| !word.is_empty()).collect();
    Some((number, words.join(" ")))
}

/// The source of a problem, or why it is none.
fn problem(path: &Path) -> Result<String, String> {
    let data = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !data.is_file() || data.len() > LONGEST {
        return Err(format!("it is no file of at most {LONGEST} bytes"));
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let source = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let missing: Vec<String> = Part::missing(&source)
        .iter()
        .map(ToString::to_string)
        .collect();
    if missing.is_empty() {
        Ok(source)
    } else {
        Err(format!("it lacks {}", missing.join(" and ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "class Model:\n    pass\ndef get_inputs():\n    return []\n\
        def get_init_inputs():\n    return []\n";

    fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn problems_come_in_the_order_of_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "level1/10_Ten_.py",
            "level1/9_Nine_of__them.py",
            "level3/1_A.py",
            "level1/notes.py",
            "level1/7_seven.txt",
        ] {
            write(&folder.path().join("KernelBench"), name, SOURCE);
        }
        let problems = read(folder.path()).unwrap();
        let found: Vec<(String, &str)> = problems
            .all
            .iter()
            .map(|problem| (problem.name(), problem.title.as_str()))
            .collect();
        let expect = [
            ("kernelbench/1/9", "Nine of them"),
            ("kernelbench/1/10", "Ten"),
            ("kernelbench/3/1", "A"),
        ];
        assert_eq!(found, expect.map(|(name, title)| (name.to_owned(), title)));
        assert_eq!(problems.level(1).count(), 2);
        assert_eq!(problems.find("kernelbench/3/1").unwrap().title, "A");
        let inner = read(&folder.path().join("KernelBench")).unwrap();
        assert_eq!(inner.hash(), problems.hash());
    }

    #[test]
    fn a_file_that_is_no_problem_is_named_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "level1/1_a.py", "class Model:\n    pass\n");
        write(folder.path(), "level1/2_b.py", [0xff, 0xfe]);
        std::fs::create_dir(folder.path().join("level1/3_c.py")).unwrap();
        let problems = read(folder.path()).unwrap();
        let reasons: Vec<&str> = problems
            .unusable
            .iter()
            .map(|(_, why)| why.as_str())
            .collect();
        assert_eq!(
            reasons[0],
            "it lacks def get_inputs and def get_init_inputs"
        );
        assert_eq!(reasons[1], "it is not UTF-8");
        assert!(reasons[2].starts_with("it is no file"));
        assert!(problems.all.is_empty());
    }

    #[test]
    fn another_folder_is_refused_with_what_a_checkout_has() {
        let folder = tempfile::tempdir().unwrap();
        let refused = read(folder.path()).unwrap_err().to_string();
        assert!(refused.contains("level1 to level4"), "{refused}");
        let absent = folder.path().join("nowhere");
        assert!(matches!(read(&absent), Err(TreeError::Unreadable(..))));
    }

    #[test]
    fn two_problems_of_one_number_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "level2/4_a.py", SOURCE);
        write(folder.path(), "level2/04_b.py", SOURCE);
        assert!(matches!(
            read(folder.path()),
            Err(TreeError::SameNumber(..))
        ));
    }

    /// With `HOTLOOP_KERNELBENCH` naming a checkout.
    #[test]
    fn the_real_checkout_is_read() {
        let Some(folder) = std::env::var_os("HOTLOOP_KERNELBENCH") else {
            return;
        };
        let problems = read(Path::new(&folder)).unwrap();
        assert_eq!(problems.unusable, []);
        assert_eq!(problems.level(1).count(), 100);
    }
}
