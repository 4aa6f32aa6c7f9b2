//! Counters for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use hotloop_flow::{BenchError, Judgement, Label, MachineFacts};

/// Upper ends of the histogram of judging seconds.
const BUCKETS: [f64; 9] = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0];

/// How the bench is doing and what waits for it.
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
    /// By route as it is written in the router, and by status: there are few of both.
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
        let mut one = |name: &str, kind: &str, help: &str, value: f64| {
            put(
                &mut text,
                format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n"),
            );
        };
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
        one(
            "hotloop_bench_up",
            "gauge",
            "Whether the bench judges.",
            f64::from(u8::from(look.bench.is_ok())),
        );
        one(
            "hotloop_jobs_waiting",
            "gauge",
            "Candidates that are not judged yet.",
            look.waiting as f64,
        );
        one(
            "hotloop_verdicts_kept",
            "gauge",
            "Verdicts kept for those who ask again.",
            look.kept as f64,
        );
        one(
            "hotloop_jobs_shared_total",
            "counter",
            "Candidates that joined a job or a verdict.",
            look.attached as f64,
        );
        one(
            "hotloop_machine_failures_total",
            "counter",
            "Candidates that the machine failed on.",
            load(&self.failed),
        );
        one(
            "hotloop_refused_total",
            "counter",
            "Requests refused by token, rate or size.",
            load(&self.refused),
        );
        let connections = self.connections.load(Ordering::Relaxed) as f64;
        one(
            "hotloop_connections",
            "gauge",
            "Open connections.",
            connections,
        );
        put(
            &mut text,
            format_args!(
                "# HELP hotloop_requests_total Answers.\n# TYPE hotloop_requests_total counter\n"
            ),
        );
        for ((route, status), count) in
            &*self.requests.lock().unwrap_or_else(PoisonError::into_inner)
        {
            put(
                &mut text,
                format_args!(
                    "hotloop_requests_total{{route=\"{route}\",status=\"{status}\"}} {count}\n"
                ),
            );
        }
        put(
            &mut text,
            format_args!(
                "# HELP hotloop_verdicts_total Verdicts.\n# TYPE hotloop_verdicts_total counter\n"
            ),
        );
        for (label, count) in &*self.verdicts.lock().unwrap_or_else(PoisonError::into_inner) {
            put(
                &mut text,
                format_args!(
                    "hotloop_verdicts_total{{verdict=\"{}\"}} {count}\n",
                    label.name()
                ),
            );
        }
        let seconds = self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        put(
            &mut text,
            format_args!(
                "# HELP hotloop_judge_seconds From job to verdict.\n# TYPE hotloop_judge_seconds histogram\n"
            ),
        );
        for (count, end) in seconds.counts.iter().zip(BUCKETS) {
            put(
                &mut text,
                format_args!("hotloop_judge_seconds_bucket{{le=\"{end}\"}} {count}\n"),
            );
        }
        put(
            &mut text,
            format_args!(
                "hotloop_judge_seconds_bucket{{le=\"+Inf\"}} {}\n",
                seconds.count
            ),
        );
        put(
            &mut text,
            format_args!(
                "hotloop_judge_seconds_sum {}\nhotloop_judge_seconds_count {}\n",
                seconds.sum, seconds.count
            ),
        );
        text
    }
}

fn put(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what).expect("a String takes everything");
}
