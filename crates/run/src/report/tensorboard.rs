//! `TensorBoard` event files with the curves of a run.
//!
//! A file is a sequence of records. Each holds a length, its checksum, a message and its checksum.
//! A message is a protocol buffer with a time, a step and named numbers. This is simple enough to
//! write by hand.

use std::io::{self, Write};
use std::path::Path;

use super::points::point;
use crate::state::{RunState, Step};

/// Every run directory has its own file, so the name can be the same for all runs.
const FILE: &str = "events.out.tfevents.0.hotloop";

/// An event file that grows with its run.
pub struct Tensorboard {
    file: fs_err::File,
    best: Option<f64>,
}

impl Tensorboard {
    /// Rewrites the file in `directory` with all steps so far, because the journal is the truth.
    pub fn create(directory: &Path, state: &RunState) -> io::Result<Self> {
        let directory = directory.join("tensorboard");
        fs_err::create_dir_all(&directory)?;
        let mut board = Self {
            file: fs_err::File::create(directory.join(FILE))?,
            best: None,
        };
        let mut head = Vec::new();
        double(&mut head, 1, state.started_s);
        bytes(&mut head, 3, b"brain.Event:2");
        board.file.write_all(&record(&head))?;
        for step in &state.steps {
            board.append(step)?;
        }
        Ok(board)
    }

    /// Adds a step.
    pub fn append(&mut self, step: &Step) -> io::Result<()> {
        let point = point(step, self.best);
        self.best = step
            .members()
            .filter_map(|member| member.speed)
            .chain(self.best)
            .reduce(f64::max);
        let updated = step.updated.as_ref();
        let values = [
            ("reward/mean", point.mean_reward),
            ("reward/best", point.best_reward),
            ("speed/mean", point.mean_speed),
            ("speed/max", point.max_speed),
            ("speed/best", point.best_speed),
            ("policy/entropy", point.entropy),
            ("policy/kl", point.kl),
            ("policy/loss", point.loss),
            ("policy/sampler_gap", point.sampler_gap),
            (
                "policy/gradient_norm",
                updated.map(|updated| updated.gradient_norm),
            ),
            ("policy/clipped", updated.map(|updated| updated.clipped)),
            ("policy/temperature", Some(point.temperature)),
            ("policy/lag", Some(point.lag as f64)),
            ("answers/distinct", Some(point.distinct)),
            ("answers/live_groups", Some(point.live)),
            ("answers/tokens", Some(point.tokens)),
            ("seconds/wall", Some(point.seconds.wall)),
            ("seconds/sampling", Some(point.seconds.sampling)),
            ("seconds/judging", Some(point.seconds.judging)),
            ("seconds/updating", Some(point.seconds.updating)),
            ("seconds/policy_idle", Some(point.seconds.policy_idle)),
            ("seconds/bench_idle", Some(point.seconds.bench_idle)),
        ];
        let mut summary = Vec::new();
        let known = values
            .into_iter()
            .filter_map(|(tag, value)| Some((tag.to_owned(), value?)));
        let shares =
            hotloop_flow::Label::ALL.map(|label| (format!("verdicts/{label}"), point.share(label)));
        for (tag, value) in known.chain(shares) {
            let mut entry = Vec::new();
            bytes(&mut entry, 1, tag.as_bytes());
            float(&mut entry, 2, value as f32);
            bytes(&mut summary, 1, &entry);
        }
        let mut event = Vec::new();
        double(&mut event, 1, step.at_s);
        varint(&mut event, 2 << 3);
        varint(&mut event, step.number);
        bytes(&mut event, 5, &summary);
        self.file.write_all(&record(&event))?;
        self.file.flush()
    }
}

fn varint(buffer: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        buffer.push(value as u8 | 0x80);
        value >>= 7;
    }
    buffer.push(value as u8);
}

fn double(buffer: &mut Vec<u8>, field: u64, value: f64) {
    varint(buffer, field << 3 | 1);
    buffer.extend(value.to_le_bytes());
}

fn float(buffer: &mut Vec<u8>, field: u64, value: f32) {
    varint(buffer, field << 3 | 5);
    buffer.extend(value.to_le_bytes());
}

fn bytes(buffer: &mut Vec<u8>, field: u64, value: &[u8]) {
    varint(buffer, field << 3 | 2);
    varint(buffer, value.len() as u64);
    buffer.extend(value);
}

fn record(message: &[u8]) -> Vec<u8> {
    let length = (message.len() as u64).to_le_bytes();
    let mut record = Vec::with_capacity(message.len() + 16);
    record.extend(length);
    record.extend(masked(crc32c(&length)).to_le_bytes());
    record.extend(message);
    record.extend(masked(crc32c(message)).to_le_bytes());
    record
}

/// The format masks checksums, because a checksum over data that contains checksums is weak.
fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// Castagnoli's CRC, bit by bit. A step has only a few kilobytes.
fn crc32c(data: &[u8]) -> u32 {
    let mut crc = !0u32;
    for byte in data {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_castagnolis() {
        // RFC 3720, B.4.
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn numbers_take_as_few_bytes_as_they_need() {
        let mut buffer = Vec::new();
        varint(&mut buffer, 300);
        assert_eq!(buffer, [0xac, 0x02]);
    }
}
