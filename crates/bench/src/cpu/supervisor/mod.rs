//! The trusted side of a timing slot: one small process that owns inputs, clock and checks.
//!
//! It serves one request at a time from standard input, each a candidate to verify or to
//! time. "Done" means that the candidate's whole thread group is in group-stop: there is
//! nothing to signal early, and nothing can change while it is checked.

pub(crate) mod child;
pub(crate) mod crew;
mod limit;
pub(crate) mod probe;
pub(crate) mod protocol;
pub(crate) mod session;
mod stopwatch;

use std::io::{BufRead, Write};

use hotloop_flow::formula::Sizes;
use hotloop_flow::statistics::quantile;

use crate::cpu::layout::Fit;
use crate::cpu::trusted::{Baseline, Trusted};
use crate::cpu::verify::Verifier;
use crate::inputs::Fresh;
use crate::sys;
use child::Failure;
use crew::Crew;
use probe::Prober;
use protocol::{Answer, Request, Work};
use session::Session;

/// Problems that are drawn for a candidate, where its task draws any: so many that few mistakes of one remainder pass.
pub(crate) const DRAWN: usize = 8;

/// The variable that tells a supervisor its cores, the first being its own.
pub(crate) const CORES: &str = "HOTLOOP_SLOT_CORES";

/// The role: serves requests until standard input ends.
pub(crate) fn serve() -> i32 {
    let Ok(mut slot) = Slot::new() else { return 1 };
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return 0 };
        let answer = match serde_json::from_str::<Request>(&line) {
            Ok(request) => slot.answer(&request),
            Err(error) => Answer::Machine(format!("a request could not be read: {error}")),
        };
        let Ok(mut text) = serde_json::to_string(&answer) else {
            return 1;
        };
        text.push('\n');
        if out
            .write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .is_err()
        {
            return 0; // the bench is gone
        }
    }
    0
}

/// The supervisor's state between requests.
struct Slot {
    cores: Vec<usize>,
    crew: Crew,
    fresh: Fresh,
    prober: Option<Prober>,
}

impl Slot {
    fn new() -> std::io::Result<Self> {
        sys::die_with_parent()?;
        sys::catch_alarms()?;
        sys::count_continues()?;
        // Inputs and outputs are files in memory, and one that is too large is the machine's failure.
        sys::outlive_file_limit()?;
        let cores: Vec<usize> = std::env::var(CORES)
            .unwrap_or_default()
            .split(',')
            .filter_map(|core| core.parse().ok())
            .collect();
        let cores = if cores.is_empty() {
            sys::affinity(0)?
        } else {
            cores
        };
        // On the candidate's first core, fresh inputs are in the cache that will read them.
        sys::pin(0, &cores[..1])?;
        // Whoever wakes up on a busy core has it for milliseconds, and a team waits for its slowest thread.
        sys::go_first();
        Ok(Self {
            crew: Crew::new(&cores),
            cores,
            fresh: Fresh::from_system()?,
            prober: None,
        })
    }

    /// What becomes of `request`. Who stops this process, as a scheduler that suspends a job, stops its candidate too, and
    /// either may go on first: whatever was seen meanwhile is nothing, and is done again.
    fn answer(&mut self, request: &Request) -> Answer {
        loop {
            let continued = sys::times_continued();
            let answer = self.try_answer(request);
            if sys::times_continued() == continued {
                return answer;
            }
        }
    }

    fn try_answer(&mut self, request: &Request) -> Answer {
        let worked = match &request.work {
            Work::Verify => self.verify(request),
            Work::Time(work) => stopwatch::time(self, request, work),
            Work::Null => self.null(request),
        };
        self.crew.rest();
        match worked {
            Ok(answer) => answer,
            Err(Failure::Crashed(how)) => Answer::Crashed(how),
            Err(Failure::TimedOut(limit_s)) => Answer::TimedOut(limit_s),
            Err(Failure::Machine(why)) => Answer::Machine(why),
        }
    }

    /// The timed size once, then all hidden sizes and some that are drawn now in a second process. Once is enough to keep
    /// what is wrong away from the clock, which verifies every run of its own.
    fn verify(&mut self, request: &Request) -> Result<Answer, Failure> {
        let mut verifier = verifier(request)?;
        let timed = std::slice::from_ref(&request.task.sizes.timed);
        if let Some(wrong) = self.verify_calls(request, &mut verifier, timed)? {
            return Ok(wrong);
        }
        let sizes = &request.task.sizes;
        let mut others = sizes.hidden.clone();
        let mut pick =
            |least: i64, most: i64| least + self.fresh.index((most - least + 1) as usize) as i64;
        let drawn: Vec<Sizes> = (0..DRAWN).map_while(|_| sizes.draw(&mut pick)).collect();
        // Twice: what a small problem leaves behind shows itself in the next of its size.
        others.extend(drawn.iter().chain(&drawn).cloned());
        if !others.is_empty()
            && let Some(wrong) = self.verify_calls(request, &mut verifier, &others)?
        {
            return Ok(wrong);
        }
        Ok(Answer::Verified(verifier.checks()))
    }

    /// One call a run, each checked before the next.
    fn verify_calls(
        &mut self,
        request: &Request,
        verifier: &mut Verifier,
        calls: &[Sizes],
    ) -> Result<Option<Answer>, Failure> {
        let mut session = Session::start(request, &self.cores, calls, Fit::Tight)?;
        for call in 0..calls.len() {
            session.freshen(verifier, &mut self.fresh, &self.crew, call..call + 1);
            session.run(&mut self.fresh, call..call + 1, request.limit_s)?;
            session.check(verifier, &mut self.fresh, &self.crew, call..call + 1, true)?;
            if let Some(mismatch) = verifier.mismatch(request.check) {
                return Ok(Some(Answer::Wrong(mismatch)));
            }
        }
        Ok(None)
    }

    /// The round trip of a run that does nothing, at its low quantile.
    fn null(&mut self, request: &Request) -> Result<Answer, Failure> {
        let mut session = Session::start(
            request,
            &self.cores,
            std::slice::from_ref(&request.task.sizes.timed),
            Fit::Staggered,
        )?;
        let mut seconds = Vec::new();
        for _ in 0..200 {
            seconds.push(session.run(&mut self.fresh, 0..1, request.limit_s)?);
        }
        Ok(Answer::Null(quantile(&seconds, 0.25)))
    }

    /// Probes all cores now, relative to their floor.
    fn probe(&mut self, memory: bool) -> f64 {
        self.prober
            .get_or_insert_with(|| Prober::new(&self.crew))
            .probe(&self.crew, memory)
    }
}

/// A verifier of the request's task.
fn verifier(request: &Request) -> Result<Verifier, Failure> {
    let trusted = request
        .trusted
        .as_deref()
        .map(Trusted::load)
        .transpose()
        .map_err(Failure::Machine)?;
    // The library is asked once, when a candidate is examined. On the clock the reference's own
    // points do as well, to thirteen digits, and ten times as fast.
    let baseline = match &request.baseline {
        Some((library, object)) if matches!(request.work, Work::Verify) => {
            Some(Baseline::load(library, object).map_err(Failure::Machine)?)
        }
        Some(_) | None => None,
    };
    Ok(Verifier::new(request.task.clone(), trusted, baseline))
}
