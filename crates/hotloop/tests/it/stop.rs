//! Ctrl-C ends at once, prints what was judged and leaves nothing behind.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::hotloop;

/// Processes whose environment names `folder`: only those that this test started.
fn living(folder: &Path) -> Vec<String> {
    let wanted = format!("TMPDIR={}", folder.display());
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let has = |path: &std::path::PathBuf| {
        std::fs::read(path.join("environ")).is_ok_and(|text| {
            text.split(|byte| *byte == 0)
                .any(|pair| pair == wanted.as_bytes())
        })
    };
    entries
        .map(|entry| entry.path())
        .filter(has)
        .map(|path| path.display().to_string())
        .collect()
}

#[test]
fn a_signal_stops_it_and_leaves_no_process_and_no_folder() {
    let _turn = crate::turn();
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(
        folder.path(),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let files: Vec<String> = (0..40)
        .map(|index| {
            let path = folder.path().join(format!("{index}.c"));
            let loops = if index % 2 == 0 {
                "for (volatile int i = 0;;) i++;"
            } else {
                ""
            };
            let source = format!(
                "// {index}\nvoid transpose(double *in, double *out, int M, int N) {{ {loops} }}\n"
            );
            std::fs::write(&path, source).unwrap();
            path.to_str().unwrap().to_owned()
        })
        .collect();
    let scratch = folder.path().join("scratch");
    std::fs::create_dir(&scratch).unwrap();
    std::fs::set_permissions(
        &scratch,
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let mut command = hotloop(&["judge", "transpose", "--json", "--fresh"]);
    let mut child = command
        .args(&files)
        .env("TMPDIR", &scratch)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    out.read_line(&mut first).unwrap();
    assert!(first.contains("\"verdict\""), "{first}");
    assert!(!living(&scratch).is_empty(), "the bench has processes");
    let begin = Instant::now();
    assert!(
        Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    let mut rest = 0;
    while out.read_line(&mut String::new()).unwrap() > 0 {
        rest += 1;
    }
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert!(
        begin.elapsed() < Duration::from_secs(5),
        "took {:?}",
        begin.elapsed()
    );
    assert!(rest < 39, "it stopped early");
    // Killed processes disappear within a moment.
    let gone = (0..50).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        living(&scratch).is_empty()
    });
    assert!(gone, "left behind: {:?}", living(&scratch));
    assert_eq!(
        std::fs::read_dir(&scratch).unwrap().count(),
        0,
        "the working folder is removed"
    );
}

#[test]
fn a_reader_that_goes_away_is_no_crash() {
    let _turn = crate::turn();
    let mut child = hotloop(&["judge", "transpose", "--json", "--repeat", "50"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// Waits until a process handles SIGINT itself.
fn listens(id: u32) -> bool {
    let listening = || {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        let caught = status
            .lines()
            .find_map(|line| line.strip_prefix("SigCgt:"))?
            .trim();
        Some(u64::from_str_radix(caught, 16).ok()? & 2 != 0)
    };
    (0..1500).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        listening().unwrap_or(false)
    })
}

#[test]
fn a_signal_ends_answers_in_the_middle() {
    let folder = tempfile::tempdir().unwrap();
    let model = crate::model::roomy(folder.path());
    // Far more output than fits before the signal arrives.
    let long = [
        "--prompt",
        "abc",
        "--count",
        "500",
        "--max-tokens",
        "8000",
        "--threads",
        "1",
        "--json",
    ];
    let mut child = hotloop(&["sample", "--model", model.to_str().unwrap()])
        .args(long)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    assert!(listens(child.id()), "it listens");
    assert!(
        Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    let mut said = String::new();
    std::io::Read::read_to_string(child.stdout.as_mut().unwrap(), &mut said).unwrap();
    assert_eq!(
        (child.wait().unwrap().code(), said.as_str()),
        (Some(130), "")
    );
}
