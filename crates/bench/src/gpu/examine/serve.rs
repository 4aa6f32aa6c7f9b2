//! The role of the examiner: one request after the other, until nobody asks any more.

use std::fs::File;

use crate::gpu::examine::facts;
use crate::gpu::examine::judge::Yardsticks;
use crate::gpu::examine::station::Station;
use crate::gpu::examine::wire;
use crate::gpu::examine::work::{GpuFacts, Reply, Request, Trouble};
use crate::sys;

/// Requests and replies.
const STREAM_FD: i32 = 0;

/// The role.
pub(crate) fn run() -> i32 {
    if sys::die_with_parent().is_err() {
        return 1;
    }
    sys::go_first();
    let mut stream = File::from(sys::inherited(STREAM_FD));
    let mut station = None;
    while let Ok((request, attached)) = wire::receive::<Request>(&mut stream) {
        let reply =
            answer(&mut station, request, attached).unwrap_or_else(|trouble| match trouble {
                Trouble::Task(why) => Reply::Task(why),
                Trouble::Machine(why) => Reply::Machine(why),
            });
        if wire::send(&mut stream, &reply, &[]).is_err() {
            break;
        }
    }
    0
}

fn answer(
    station: &mut Option<(Station, Yardsticks)>,
    request: Request,
    mut attached: Vec<Vec<u8>>,
) -> Result<Reply, Trouble> {
    match request {
        Request::Open(opening) => {
            let trusted = attached.pop().unwrap_or_default();
            let opened = Station::open(opening, &trusted)?;
            let (device, others) = facts::of(&opened.gpu)?;
            let mut yardsticks = Yardsticks::default();
            let cublas = yardsticks.baselines.version(&opened.gpu);
            *station = Some((opened, yardsticks));
            Ok(Reply::Opened(GpuFacts {
                device,
                others,
                cublas,
            }))
        }
        Request::Judge(mut work) => {
            work.candidate.cubin = attached.pop().unwrap_or_default();
            work.reference.image.cubin = attached.pop().unwrap_or_default();
            let (opened, yardsticks) = station
                .as_mut()
                .ok_or_else(|| Trouble::Machine("the examiner was not opened".into()))?;
            Ok(Reply::Judged(opened.judge(&work, yardsticks)?))
        }
    }
}
