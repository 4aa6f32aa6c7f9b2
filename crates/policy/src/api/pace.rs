//! Decides when the next request may go out: the user's own limit, and pauses that a server asks
//! for.

use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Spaces the requests of all threads of a policy evenly. Servers enforce a quota per minute over
/// shorter times, too, and refuse bursts.
pub(super) struct Pace {
    interval: Duration,
    /// No request goes out before this time.
    next: Mutex<Option<Instant>>,
}

impl Pace {
    /// A maximum number of requests per minute; `None` sets no limit.
    pub(super) fn new(per_minute: Option<NonZeroU32>) -> Self {
        let interval =
            per_minute.map_or(Duration::ZERO, |limit| Duration::from_mins(1) / limit.get());
        Self {
            interval,
            next: Mutex::default(),
        }
    }

    /// Allows a request, or returns how long to wait.
    pub(super) fn turn(&self, now: Instant) -> Result<(), Duration> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = next
            .and_then(|next| next.checked_duration_since(now))
            .filter(|wait| !wait.is_zero());
        if wait.is_none() {
            *next = Some(now + self.interval);
        }
        wait.map_or(Ok(()), Err)
    }

    /// Allows no request before `until`, because a server's limit counts the requests of all
    /// threads.
    pub(super) fn hold(&self, until: Instant) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = (*next).max(Some(until));
    }
}

/// The attempts of a request. If a server answers some requests and defers others, the deferred
/// ones wait for their turn. Their attempts count from the last answer to another request.
pub(super) struct Tries {
    all: u32,
    left: u32,
    answered: usize,
}

impl Tries {
    /// At most `all` attempts in a row. `answered` is the number of requests answered so far.
    pub(super) fn new(all: u32, answered: usize) -> Self {
        Self {
            all,
            left: all,
            answered,
        }
    }

    /// Counts a failed attempt and returns whether there is another. `put_off` means that the
    /// server named a pause.
    pub(super) fn spend(&mut self, put_off: bool, answered: usize) -> bool {
        if put_off && answered != self.answered {
            (self.left, self.answered) = (self.all, answered);
        }
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }
}

/// The limits that a server may report: the remaining amount of each, and when it resets.
const LIMITS: [(&str, &str); 4] = [
    (
        "x-ratelimit-remaining-requests",
        "x-ratelimit-reset-requests",
    ),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
    ("ratelimit-remaining", "ratelimit-reset"),
];

/// The pause in a reply's headers: `retry-after-ms`, `retry-after` (seconds or a date), or else the
/// longest time until an exhausted limit resets; `None` if that is over.
pub(super) fn asked<'a>(
    header: impl Fn(&str) -> Option<&'a str>,
    now: SystemTime,
) -> Option<Duration> {
    let milliseconds = || {
        Duration::try_from_secs_f64(header("retry-after-ms")?.trim().parse::<f64>().ok()? / 1e3)
            .ok()
    };
    let after = || {
        let text = header("retry-after")?.trim();
        // A date refers to the server's clock, which may differ from ours. Most servers send their
        // time along.
        let clock = || {
            header("date")
                .and_then(|date| httpdate::parse_http_date(date.trim()).ok())
                .unwrap_or(now)
        };
        let until = || {
            httpdate::parse_http_date(text)
                .ok()
                .map(|date| date.duration_since(clock()).unwrap_or_default())
        };
        seconds(text).or_else(until)
    };
    let whole = |(left, reset): (&str, &str)| {
        let left: f64 = header(left)?.trim().parse().ok()?;
        until_reset(header(reset)?.trim(), now).filter(|_| left <= 0.0)
    };
    let pause = milliseconds()
        .or_else(after)
        .or_else(|| LIMITS.into_iter().filter_map(whole).max());
    pause.filter(|pause| !pause.is_zero())
}

fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.parse().ok()?).ok()
}

/// `20`, `1.5s`, `6m0s` or `20ms`; or a time in seconds or milliseconds since 1970.
fn until_reset(text: &str, now: SystemTime) -> Option<Duration> {
    let Ok(number) = text.parse::<f64>() else {
        return spelled(text);
    };
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    match number {
        // Seconds below this are a duration of up to a year. Milliseconds above are a date of this
        // century.
        ..3.2e7 => seconds(text),
        ..9e11 => seconds(text).map(|at| at.saturating_sub(since)),
        _ => Duration::try_from_secs_f64(number / 1e3)
            .ok()
            .map(|at| at.saturating_sub(since)),
    }
}

/// Numbers with units, as in `1h6m0.5s`.
fn spelled(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, behind) = rest.split_at(digits);
        let unit = behind
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(unit);
        let factor = match unit {
            "d" => 86400.0,
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            _ => return None,
        };
        total += number.parse::<f64>().ok()? * factor;
        rest = behind;
    }
    Duration::try_from_secs_f64(total)
        .ok()
        .filter(|_| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(second)
    }

    fn pause(headers: &[(&str, &'static str)], now: SystemTime) -> Option<f64> {
        let header = |name: &str| {
            headers
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| *value)
        };
        asked(header, now).map(|pause| pause.as_secs_f64())
    }

    #[test]
    fn a_limit_spaces_requests_evenly() {
        let pace = Pace::new(NonZeroU32::new(120));
        let begin = Instant::now();
        let after = |ms| begin + Duration::from_millis(ms);
        assert_eq!(pace.turn(begin), Ok(()));
        assert_eq!(pace.turn(after(100)), Err(Duration::from_millis(400)));
        assert_eq!(pace.turn(after(500)), Ok(()));
        // A late request does not get the missed turns.
        assert_eq!(pace.turn(after(5000)), Ok(()));
        assert_eq!(pace.turn(after(5000)), Err(Duration::from_millis(500)));
    }

    #[test]
    fn without_a_limit_only_a_servers_pause_holds() {
        let pace = Pace::new(None);
        let begin = Instant::now();
        let after = |seconds| begin + Duration::from_secs(seconds);
        assert_eq!((pace.turn(begin), pace.turn(begin)), (Ok(()), Ok(())));
        pace.hold(after(20));
        // The longest counts.
        pace.hold(after(2));
        assert_eq!(pace.turn(after(5)), Err(Duration::from_secs(15)));
        assert_eq!(
            (pace.turn(after(20)), pace.turn(after(20))),
            (Ok(()), Ok(()))
        );
    }

    #[test]
    fn attempts_count_from_the_last_answer_to_another_request() {
        let mut tries = Tries::new(3, 5);
        assert_eq!(
            [true, true].map(|put_off| tries.spend(put_off, 5)),
            [true, true]
        );
        // A failure always counts. A deferred request has time as long as others are answered.
        assert!(tries.spend(true, 6) && tries.spend(false, 7));
        assert!(!tries.spend(false, 8));
        assert!(!Tries::new(1, 0).spend(true, 0) && !Tries::new(0, 0).spend(false, 0));
    }

    #[test]
    fn a_pause_is_given_in_seconds_milliseconds_or_as_a_date() {
        let now = at(784_111_770);
        assert_eq!(pause(&[("retry-after", "1.5")], now), Some(1.5));
        assert_eq!(
            pause(&[("retry-after", "60"), ("retry-after-ms", "250")], now),
            Some(0.25)
        );
        // The three date formats of RFC 9110, seven seconds later.
        for date in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(pause(&[("retry-after", date)], now), Some(7.0), "{date}");
            assert_eq!(
                pause(&[("retry-after", date)], at(2_000_000_000)),
                None,
                "{date} is over"
            );
            let told = [
                ("retry-after", date),
                ("date", "Sun, 06 Nov 1994 08:49:34 GMT"),
            ];
            assert_eq!(
                pause(&told, at(5)),
                Some(3.0),
                "{date}: the server's clock counts"
            );
        }
        for nonsense in ["soon", "0", "-1", "NaN", "inf", "1e400", ""] {
            assert_eq!(pause(&[("retry-after", nonsense)], now), None, "{nonsense}");
        }
    }

    #[test]
    fn an_exhausted_limit_causes_a_pause() {
        let now = at(1_750_000_000);
        let told = |left, reset| {
            pause(
                &[
                    ("x-ratelimit-remaining-requests", left),
                    ("x-ratelimit-reset-requests", reset),
                ],
                now,
            )
        };
        assert_eq!(told("0", "6m0s"), Some(360.0));
        assert_eq!(told("0", "1h0m0.5s"), Some(3600.5));
        assert_eq!(told("0", "20ms"), Some(0.02));
        assert_eq!(told("0", "17"), Some(17.0));
        assert_eq!(
            (
                told("3", "6m0s"),
                told("0", "6x"),
                told("0", "m"),
                told("0", "")
            ),
            (None, None, None, None)
        );
        let both = [
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "1s"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "4s"),
        ];
        assert_eq!(pause(&both, now), Some(4.0));
        let since_1970 = |reset| {
            pause(
                &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", reset)],
                now,
            )
        };
        assert_eq!(
            (since_1970("1750000009"), since_1970("1750000009000")),
            (Some(9.0), Some(9.0))
        );
        let told = [
            ("retry-after", "2"),
            ("ratelimit-remaining", "0"),
            ("ratelimit-reset", "50"),
        ];
        assert_eq!(
            (pause(&told, now), pause(&told[1..], now)),
            (Some(2.0), Some(50.0))
        );
    }
}
