//! Requests that the rules are tried with.

use cost_model::device::{Device, IoOp, IoRequest};
use cost_model::{Draw, SimTime};

/// A page.
pub(crate) const PAGE: u64 = 16_384;
/// Random pages fall into this many.
const PAGES: u64 = 1 << 22;

pub(crate) fn read(offset: u64, len: u64) -> IoRequest {
    IoRequest { op: IoOp::Read, offset, len }
}

pub(crate) fn write(offset: u64, len: u64) -> IoRequest {
    IoRequest { op: IoOp::Write, offset, len }
}

pub(crate) fn random_page(draw: &mut Draw, op: IoOp) -> IoRequest {
    IoRequest { op, offset: draw.below(PAGES) * PAGE, len: PAGE }
}

/// `count` requests, each submitted when the one before is done; returns the end.
pub(crate) fn one_by_one(
    device: &mut Device,
    start: SimTime,
    count: u64,
    mut request: impl FnMut(u64) -> IoRequest,
) -> SimTime {
    (0..count).fold(start, |now, number| device.submit(now, request(number)))
}

/// Bytes per second of a stream of 1 MiB requests, 8 outstanding.
pub(crate) fn stream_bytes_per_s(device: &mut Device, op: IoOp, requests: u64) -> f64 {
    let len = 1 << 20;
    let mut done = vec![SimTime::ZERO; 8];
    for number in 0..requests {
        done.sort_unstable();
        done[0] = device.submit(done[0], IoRequest { op, offset: number * len, len });
    }
    let end = done.into_iter().max().unwrap_or_default();
    (requests * len) as f64 / end.as_secs_f64()
}
