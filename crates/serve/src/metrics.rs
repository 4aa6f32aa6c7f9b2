//! Counters for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use hotloop_flow::{BenchError, Judgement, Label, MachineFacts};

/// Upper ends of the histogram of judging seconds.
const BUCKETS: [f64; 9] = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0];

/// The state of the bench and its queue.
pub(crate) struct Look {
    pub(crate) bench: Result<MachineFacts, BenchError>,
    pub(crate) waiting: usize,
    pub(crate) kept: usize,
    /// Requests that joined a job or found a verdict.
    pub(crate) attached: u64,
}

/// The counters.
#[derive(Default)]
pub(crate) struct Metrics {
    /// Counts by the router's route and by status. There are few of both.
    requests: Mutex<BTreeMap<(String, u16), u64>>,
    verdicts: Mutex<BTreeMap<Label, u64>>,
    seconds: Mutex<Histogram>,
    failed: AtomicU64,
    refused: AtomicU64,
    connections: AtomicI64,
}

#[derive(Default)]
struct Histogram {
    counts: [u64; BUCKETS.len()],
    count: u64,
    sum: f64,
}

impl Metrics {
    pub(crate) fn answered(&self, route: &str, status: u16) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((route.to_owned(), status)).or_default() += 1;
    }

    pub(crate) fn judged(&self, judgement: &Judgement) {
        *self
            .verdicts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(judgement.verdict.label())
            .or_default() += 1;
        let mut seconds = self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        let total = judgement.seconds.total;
        seconds.count += 1;
        seconds.sum += total;
        for (count, end) in seconds.counts.iter_mut().zip(BUCKETS) {
            *count += u64::from(total <= end);
        }
    }

    pub(crate) fn failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn connected(&self, by: i64) {
        self.connections.fetch_add(by, Ordering::Relaxed);
    }

    /// All counters in Prometheus's text format.
    pub(crate) fn text(&self, look: &Look) -> String {
        let mut text = String::new();
        for (name, kind, help, value) in self.single(look) {
            head(&mut text, name, kind, help);
            put(&mut text, format_args!("{name} {value}\n"));
        }
        self.put_labelled(&mut text);
        self.put_seconds(&mut text);
        text
    }

    /// Name, kind, help and value of every single-number metric.
    fn single(&self, look: &Look) -> [(&'static str, &'static str, &'static str, f64); 7] {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
        let up = f64::from(u8::from(look.bench.is_ok()));
        let (waiting, kept, attached) =
            (look.waiting as f64, look.kept as f64, look.attached as f64);
        let connections = self.connections.load(Ordering::Relaxed) as f64;
        let (failed, refused) = (load(&self.failed), load(&self.refused));
        let failed_help = "Candidates that the machine failed on.";
        let refused_help = "Requests refused by token, rate or size.";
        let shared_help = "Candidates that joined a job or a verdict.";
        let kept_help = "Verdicts kept for repeated requests.";
        let waiting_help = "Candidates that are not judged yet.";
        [
            ("hotloop_bench_up", "gauge", "Whether the bench judges.", up),
            ("hotloop_jobs_waiting", "gauge", waiting_help, waiting),
            ("hotloop_verdicts_kept", "gauge", kept_help, kept),
            (
                "hotloop_jobs_shared_total",
                "counter",
                shared_help,
                attached,
            ),
            (
                "hotloop_machine_failures_total",
                "counter",
                failed_help,
                failed,
            ),
            ("hotloop_refused_total", "counter", refused_help, refused),
            (
                "hotloop_connections",
                "gauge",
                "Open connections.",
                connections,
            ),
        ]
    }

    fn put_labelled(&self, text: &mut String) {
        let name = "hotloop_requests_total";
        head(text, name, "counter", "Answers.");
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        for ((route, status), count) in &*requests {
            let labels = format_args!("route=\"{route}\",status=\"{status}\"");
            put(text, format_args!("{name}{{{labels}}} {count}\n"));
        }
        let name = "hotloop_verdicts_total";
        head(text, name, "counter", "Verdicts.");
        let verdicts = self.verdicts.lock().unwrap_or_else(PoisonError::into_inner);
        for (label, count) in &*verdicts {
            let label = label.name();
            put(
                text,
                format_args!("{name}{{verdict=\"{label}\"}} {count}\n"),
            );
        }
    }

    fn put_seconds(&self, text: &mut String) {
        let name = "hotloop_judge_seconds";
        head(text, name, "histogram", "From job to verdict.");
        let seconds = self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        for (count, end) in seconds.counts.iter().zip(BUCKETS) {
            put(
                text,
                format_args!("{name}_bucket{{le=\"{end}\"}} {count}\n"),
            );
        }
        let (sum, count) = (seconds.sum, seconds.count);
        put(
            text,
            format_args!(
                "{name}_bucket{{le=\"+Inf\"}} {count}\n{name}_sum {sum}\n{name}_count {count}\n"
            ),
        );
    }
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    put(
        text,
        format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"),
    );
}

fn put(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what).expect("a String takes everything");
}
