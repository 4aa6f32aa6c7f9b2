//! Bars and spinners: on standard error, on a terminal only, gone when the work is done.

use std::cell::Cell;
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hotloop_flow::Label;
use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};

use crate::output::complain;

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
}

impl Progress {
    /// A bar of `total` judgements, if `wanted` and standard error is a terminal.
    pub(crate) fn bar(total: usize, wanted: bool) -> Self {
        let bar = if wanted && std::io::stderr().is_terminal() {
            ProgressBar::new(total as u64).with_style(style("{bar:30} {pos}/{len}  {msg}  {left}"))
        } else {
            ProgressBar::hidden()
        };
        Self::ticking(bar)
    }

    fn ticking(bar: ProgressBar) -> Self {
        bar.enable_steady_tick(Duration::from_millis(200));
        if !bar.is_hidden() {
            show(Some(bar.clone()));
        }
        Self {
            bar,
            correct: Cell::default(),
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
        Self::ticking(bar)
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
    // Nothing is known of the time left before something is done.
    let left = |state: &ProgressState, text: &mut dyn Write| {
        if state.pos() > 0 {
            write!(text, "{:#} left", HumanDuration(state.eta())).unwrap_or_default();
        }
    };
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("left", left)
        .progress_chars("=> ")
}
