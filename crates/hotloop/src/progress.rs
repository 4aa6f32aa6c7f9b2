//! Bars and spinners: on standard error, gone when the work is done. Where standard error is no
//! terminal, a line a minute says that the work goes on.

use std::cell::Cell;
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hotloop_flow::Label;
use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};

use crate::output::complain;

/// How often a log hears that the work goes on.
const LOG: Duration = Duration::from_mins(1);
/// How much must be done before the time left is known.
const KNOWN: u64 = 3;

/// The bar on the terminal, for code that has no access to it.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn show(bar: Option<ProgressBar>) {
    *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = bar;
}

/// Writes to standard error from anywhere, and hides the bar meanwhile.
pub(crate) fn complain_beside(text: &str) {
    let bar = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match bar {
        Some(bar) => bar.suspend(|| complain(text)),
        None => complain(text),
    }
}

/// A bar that counts judgements, or nothing at all.
pub(crate) struct Progress {
    bar: ProgressBar,
    correct: Cell<usize>,
    /// Ends the lines of a log when it is dropped.
    _log: Option<Sender<()>>,
}

/// Writes a line a minute about an invisible bar.
fn log(bar: &ProgressBar) -> Sender<()> {
    let (sender, ended) = channel();
    let bar = bar.clone();
    std::thread::spawn(move || {
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(LOG) {
            if let Some(line) = line(&bar) {
                complain(&line);
            }
        }
    });
    sender
}

/// What a log says about a bar, if there is something to say.
fn line(bar: &ProgressBar) -> Option<String> {
    let done = bar
        .length()
        .map(|all| format!("{} of {all}", bar.position()));
    let parts: Vec<String> = [Some(bar.message()).filter(|text| !text.is_empty()), done]
        .into_iter()
        .flatten()
        .collect();
    let since = HumanDuration(bar.elapsed());
    (!parts.is_empty()).then(|| format!("{}, after {since}", parts.join(", ")))
}

impl Progress {
    /// A bar of `total` judgements, if `wanted` and standard error is a terminal.
    pub(crate) fn bar(total: usize, wanted: bool) -> Self {
        let bar = if wanted && std::io::stderr().is_terminal() {
            ProgressBar::new(total as u64).with_style(style("{bar:30} {pos}/{len}  {msg}  {left}"))
        } else {
            let bar = ProgressBar::hidden();
            bar.set_length(total as u64);
            bar
        };
        Self::ticking(bar, wanted)
    }

    fn ticking(bar: ProgressBar, wanted: bool) -> Self {
        bar.enable_steady_tick(Duration::from_millis(200));
        let log = (wanted && bar.is_hidden()).then(|| log(&bar));
        if !bar.is_hidden() {
            show(Some(bar.clone()));
        }
        Self {
            bar,
            correct: Cell::default(),
            _log: log,
        }
    }

    /// A bar of `total` answers, if `wanted` and standard error is a terminal.
    pub(crate) fn answers(total: usize, wanted: bool) -> Self {
        let progress = Self::bar(total, wanted);
        progress.bar.set_message("answers");
        progress
    }

    /// A bar of `total` bytes, if `wanted` and standard error is a terminal.
    pub(crate) fn bytes(total: u64, wanted: bool) -> Self {
        let progress = Self::bar(0, wanted);
        progress.bar.set_length(total);
        progress.bar.set_style(style(
            "{bar:30} {bytes}/{total_bytes}  {bytes_per_sec}  {left}  {msg}",
        ));
        progress
    }

    /// Sets the number of bytes received.
    pub(crate) fn at(&self, bytes: u64) {
        self.bar.set_position(bytes);
    }

    /// A spinner with a message, if `wanted` and standard error is a terminal.
    pub(crate) fn spinner(message: impl Into<String>, wanted: bool) -> Self {
        let bar = if wanted && std::io::stderr().is_terminal() {
            ProgressBar::new_spinner().with_style(style("{spinner} {msg}"))
        } else {
            ProgressBar::hidden()
        };
        bar.set_message(message.into());
        Self::ticking(bar, wanted)
    }

    /// Whether the bar is invisible.
    pub(crate) fn is_hidden(&self) -> bool {
        self.bar.is_hidden()
    }

    /// An invisible bar.
    pub(crate) fn hidden() -> Self {
        Self {
            bar: ProgressBar::hidden(),
            correct: Cell::default(),
            _log: None,
        }
    }

    /// Counts answers.
    pub(crate) fn answered(&self, count: usize) {
        self.bar.inc(count as u64);
    }

    /// Calls `print` while the bar is hidden.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Writes to standard error from another thread while the bar is hidden.
    pub(crate) fn complainer(&self) -> impl Fn(&str) + Send + 'static {
        let bar = self.bar.clone();
        move |text| bar.suspend(|| complain(text))
    }

    /// Changes the message.
    pub(crate) fn message(&self, message: impl Into<String>) {
        self.bar.set_message(message.into());
    }

    /// Counts one judgement; `None` is a failure of the machine.
    pub(crate) fn judged(&self, label: Option<Label>) {
        if label == Some(Label::Correct) {
            self.correct.set(self.correct.get() + 1);
        }
        if self.bar.length().is_some() {
            self.bar
                .set_message(format!("{} correct", self.correct.get()));
        }
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if !self.bar.is_hidden() {
            show(None);
        }
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    // Nothing is known of the time left before some of it is done.
    let left = |state: &ProgressState, text: &mut dyn Write| {
        if state.pos() >= KNOWN {
            write!(text, "{:#} left", HumanDuration(state.eta())).unwrap_or_default();
        }
    };
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("left", left)
        .progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_hears_what_is_done_and_nothing_of_an_empty_bar() {
        let bar = ProgressBar::hidden();
        assert_eq!(line(&bar), None);
        bar.set_message("step 3: judging");
        let told = line(&bar).unwrap();
        assert!(told.starts_with("step 3: judging, after "), "{told}");
        bar.set_length(96);
        bar.inc(34);
        let told = line(&bar).unwrap();
        assert!(
            told.starts_with("step 3: judging, 34 of 96, after "),
            "{told}"
        );
    }
}
