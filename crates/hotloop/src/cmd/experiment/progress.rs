//! A plan's progress: the current job, its remaining time, and the last line that it printed.

use std::path::PathBuf;
use std::time::Instant;

use crate::progress::Progress;

/// Maximum number of characters shown of a job's last line.
const LINE: usize = 80;

pub(super) struct JobProgress {
    spinner: Progress,
    begin: Instant,
    place: String,
    limit_s: f64,
    stdout: PathBuf,
}

impl JobProgress {
    /// `place` says which job of how many.
    pub(super) fn new(place: String, limit_s: f64, stdout: PathBuf, wanted: bool) -> Self {
        Self {
            spinner: Progress::spinner(place.clone(), wanted),
            begin: Instant::now(),
            place,
            limit_s,
            stdout,
        }
    }

    /// Updates the display.
    pub(super) fn tick(&self) {
        if self.spinner.is_hidden() {
            return;
        }
        let text = std::fs::read(&self.stdout).unwrap_or_default();
        let end = &text[text.len().saturating_sub(4096)..];
        let end = String::from_utf8_lossy(end);
        let last: String = end
            .lines()
            .last()
            .unwrap_or("")
            .chars()
            .take(LINE)
            .collect();
        self.spinner.message(format!(
            "{}: {:.0} of at most {:.0} s  {last}",
            self.place,
            self.begin.elapsed().as_secs_f64(),
            self.limit_s
        ));
    }
}
