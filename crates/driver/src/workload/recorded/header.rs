//! The first bytes of a recording.

use crate::workload::error::RecordedProblem;
use crate::workload::packing::bits;
use crate::workload::profile::{Domain, Limits, Profile, ROWS_ALLOWED, ROWS_MAX};

/// Length of the header.
pub(super) const HEADER_BYTES: usize = 80;

/// Bytes after the last row.
pub(super) const PADDING_BYTES: usize = 8;

const MAGIC: [u8; 8] = *b"iisimrow";
const VERSION: u32 = 1;

/// What a recording says about its rows.
pub(super) struct Header {
    pub(super) domain: Domain,
    /// Bytes of a value, per column.
    pub(super) widths: [u8; 5],
}

impl Header {
    /// The header of a recording of all rows of `domain`.
    pub(super) fn new(domain: Domain) -> Self {
        let widths = domain.limits.in_order().map(|limit| bits(limit - 1).div_ceil(8) as u8);
        Self { domain, widths }
    }

    pub(super) fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let profile = Profile::ALL.iter().position(|&profile| profile == self.domain.profile);
        let profile = profile.map_or(u32::MAX, |place| place as u32);
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&profile.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.domain.rows.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.domain.price_step.to_le_bytes());
        bytes[28..33].copy_from_slice(&self.widths);
        for (place, limit) in bytes[40..].chunks_exact_mut(8).zip(self.domain.limits.in_order()) {
            place.copy_from_slice(&limit.to_le_bytes());
        }
        bytes
    }

    /// Reads and checks the header of a file with the content `bytes`.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, RecordedProblem> {
        if !bytes.starts_with(&MAGIC) {
            return Err(RecordedProblem::WrongMagic);
        }
        let found = bytes.len() as u64;
        let Some(head) = bytes.first_chunk::<HEADER_BYTES>() else {
            return Err(RecordedProblem::WrongLength { found, expected: HEADER_BYTES as u64 });
        };
        let version = u32_at(head, 8);
        if version != VERSION {
            return Err(RecordedProblem::WrongVersion { found: version, supported: VERSION });
        }
        let header = Self::parse(head)?;
        let expected = header.file_bytes();
        if found != expected {
            return Err(RecordedProblem::WrongLength { found, expected });
        }
        Ok(header)
    }

    fn parse(head: &[u8; HEADER_BYTES]) -> Result<Self, RecordedProblem> {
        let bad = |name, value, allowed| RecordedProblem::BadHeader { name, value, allowed };
        let profile = u32_at(head, 12);
        let Some(&profile) = Profile::ALL.get(profile as usize) else {
            return Err(bad("profile", profile.into(), "0 to 3"));
        };
        let rows = u64_at(head, 16);
        if !(1..=ROWS_MAX).contains(&rows) {
            return Err(bad("rows", rows, ROWS_ALLOWED));
        }
        let price_step = u32_at(head, 24);
        if price_step == 0 {
            return Err(bad("price step", 0, "1 and more"));
        }
        let widths = std::array::from_fn(|column| head[28 + column]);
        if let Some(&width) = widths.iter().find(|width| !(1..=8).contains(*width)) {
            return Err(bad("width of a column", width.into(), "1 to 8 bytes"));
        }
        let limits = std::array::from_fn(|column| u64_at(head, 40 + 8 * column));
        if let Some(&limit) = limits[..4].iter().find(|limit| !(1..=1 << 32).contains(*limit)) {
            return Err(bad("limit of a column", limit, "1 to 2^32"));
        }
        if limits[4] == 0 {
            return Err(bad("limit of the batch", 0, "1 and more"));
        }
        let limits = Limits::from_order(limits);
        Ok(Self {
            domain: Domain { profile, rows, price_step, limits, price_spread: None },
            widths,
        })
    }

    /// Length of the whole file: at most 80 + 2^40 * 40 + 8.
    fn file_bytes(&self) -> u64 {
        let row_bytes: u64 = self.widths.iter().map(|&width| u64::from(width)).sum();
        (HEADER_BYTES + PADDING_BYTES) as u64 + self.domain.rows * row_bytes
    }
}

fn u32_at(head: &[u8; HEADER_BYTES], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| head[at + i]))
}

fn u64_at(head: &[u8; HEADER_BYTES], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| head[at + i]))
}
