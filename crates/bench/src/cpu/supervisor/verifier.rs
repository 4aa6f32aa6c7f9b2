//! The verifier that a request asks for.

use crate::cpu::supervisor::failure::Failure;
use crate::cpu::supervisor::protocol::{Request, Work};
use crate::cpu::trusted::{Baseline, Trusted};
use crate::cpu::verify::Verifier;

/// A verifier of the request's task.
pub(super) fn verifier(request: &Request) -> Result<Verifier, Failure> {
    let trusted = request
        .trusted
        .as_deref()
        .map(Trusted::load)
        .transpose()
        .map_err(Failure::Task)?;
    // The library is called once, when a candidate is examined. During timing the reference's own
    // points are as good, to thirteen digits, and ten times as fast.
    let baseline = match &request.baseline {
        Some((library, object)) if matches!(request.work, Work::Verify) => {
            Some(Baseline::load(library, object).map_err(Failure::Task)?)
        }
        Some(_) | None => None,
    };
    Ok(Verifier::new(request.task.clone(), trusted, baseline))
}
