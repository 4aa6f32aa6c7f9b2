//! The role of the examiner: one request after the other, until nobody asks any more.

use std::fs::File;

use crate::gpu::examine::facts;
use crate::gpu::examine::judge::Yardsticks;
use crate::gpu::examine::module::Oracle;
use crate::gpu::examine::request::{GpuFacts, Reply, Request};
use crate::gpu::examine::station::Station;
use crate::gpu::examine::wire;
use crate::gpu::examine::work::Trouble;
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
    let mut opened = None;
    while let Ok((request, attached)) = wire::receive::<Request>(&mut stream) {
        let reply =
            answer(&mut opened, request, attached).unwrap_or_else(|trouble| match trouble {
                Trouble::Task(why) => Reply::Task(why),
                Trouble::Machine(why) | Trouble::Memory(why) => Reply::Machine(why),
            });
        if wire::send(&mut stream, &reply, &[]).is_err() {
            break;
        }
    }
    0
}

/// What the examiner holds once it is open.
struct Opened {
    station: Station,
    yardsticks: Yardsticks,
    oracle: Oracle,
}

fn answer(
    opened: &mut Option<Opened>,
    request: Request,
    mut attached: Vec<Vec<u8>>,
) -> Result<Reply, Trouble> {
    match request {
        Request::Open(opening) => {
            let trusted = attached.pop().unwrap_or_default();
            let oracle = Oracle::new(opening.torch.clone());
            let station = Station::open(opening, trusted)?;
            let (device, others) = facts::of(&station.gpu)?;
            let mut yardsticks = Yardsticks::default();
            let cublas = yardsticks.baselines.version(&station.gpu);
            *opened = Some(Opened {
                station,
                yardsticks,
                oracle,
            });
            Ok(Reply::Opened(GpuFacts {
                device,
                others,
                cublas,
            }))
        }
        Request::Judge(mut work) => {
            work.candidate.cubin = attached.pop().unwrap_or_default();
            work.reference.image.cubin = attached.pop().unwrap_or_default();
            let on = open(opened)?;
            let answer = on.station.judge(&work, &mut on.yardsticks)?;
            Ok(Reply::Judged(answer))
        }
        Request::JudgeModule(mut work) => {
            for (image, code) in work.images.iter_mut().zip(attached) {
                image.cubin = code;
            }
            let on = open(opened)?;
            let judged = on
                .station
                .judge_module(&work, &mut on.oracle, &mut on.yardsticks)?;
            Ok(Reply::JudgedModule(Box::new(judged)))
        }
    }
}

fn open(opened: &mut Option<Opened>) -> Result<&mut Opened, Trouble> {
    let none = || Trouble::Machine("the examiner was not opened".into());
    opened.as_mut().ok_or_else(none)
}
