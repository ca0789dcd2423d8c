//! Which bytes does a server store for a row? What two rows share decides what a log of differences
//! writes.

/// The most columns of an entry that are looked at, and the bytes of each.
const BYTES_MAX: usize = 4 * 8;

/// The leading columns of a stored entry.
pub(super) struct Stored {
    bytes: [u8; BYTES_MAX],
    len: usize,
}

impl Stored {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; BYTES_MAX], len: 0 }
    }

    /// An INT (`width` 4) or BIGINT (8): big-endian with the sign flipped, so that bytes sort as
    /// numbers do (`MySQL` 5.1 source, `row0sel.c`).
    pub(super) fn integer(self, value: u64, width: u32) -> Self {
        let flipped = value ^ 1 << (8 * width - 1);
        self.big_endian(flipped, width)
    }

    /// A FLOAT: as the processor has it, little-endian (`MySQL` 5.1 source, mach0data.ic).
    pub(super) fn float(self, value: f32) -> Self {
        self.put(&value.to_le_bytes())
    }

    /// A DATETIME of the statement `batch`, one a second from 2013-01-01 on as in the measured
    /// reference runs, in months of 32 days: 5 bytes packed (`MySQL` 5.6.4 and later,
    /// `my_time.c`), or 8 with decimal digits.
    pub(super) fn datetime(self, batch: u64, width: u32) -> Self {
        let (minutes, second) = (batch / 60, batch % 60);
        let (hours, minute) = (minutes / 60, minutes % 60);
        let (days, hour) = (hours / 24, hours % 24);
        if width == 8 {
            let first = 20_130_101;
            let time = hour * 10_000 + minute * 100 + second;
            return self.integer((first + days) * 1_000_000 + time, width);
        }
        let first = (2_013 * 13 + 1) << 5 | 1;
        let time = hour << 12 | minute << 6 | second;
        self.big_endian(1 << 39 | (first + days) << 17 | time, width)
    }

    fn big_endian(self, value: u64, width: u32) -> Self {
        self.put(&value.to_be_bytes()[8 - width as usize..])
    }

    fn put(mut self, bytes: &[u8]) -> Self {
        let end = self.len + bytes.len();
        self.bytes[self.len..end].copy_from_slice(bytes);
        self.len = end;
        self
    }

    /// Leading bytes that both have.
    pub(super) fn shared_bytes(&self, other: &Self) -> u32 {
        let pairs = self.bytes[..self.len].iter().zip(&other.bytes[..other.len]);
        pairs.take_while(|(a, b)| a == b).count() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(stored: &Stored) -> &[u8] {
        &stored.bytes[..stored.len]
    }

    /// 280.32 and 2013-01-01 00:00:00 of the first row of the measured reference runs.
    #[test]
    fn columns_lie_as_a_server_stores_them() {
        assert_eq!(bytes(&Stored::new().integer(741, 4)), [0x80, 0, 0x02, 0xe5]);
        assert_eq!(bytes(&Stored::new().integer(1, 8)), [0x80, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(bytes(&Stored::new().float(280.32)), [0xf6, 0x28, 0x8c, 0x43]);
        assert_eq!(bytes(&Stored::new().datetime(0, 5)), [0x99, 0x8e, 0x82, 0, 0]);
        assert_eq!(bytes(&Stored::new().datetime(3_723, 5)), [0x99, 0x8e, 0x82, 0x10, 0x83]);
        let digits = ((1 << 63) + 20_130_101_010_203u64).to_be_bytes();
        assert_eq!(bytes(&Stored::new().datetime(3_723, 8)), digits);
    }

    #[test]
    fn rows_share_what_is_equal_from_the_left() {
        let of = |price: f32, customer: u64| Stored::new().float(price).integer(customer, 4);
        assert_eq!(of(280.32, 27_860).shared_bytes(&of(280.32, 27_861)), 7);
        assert_eq!(of(280.32, 27_860).shared_bytes(&of(280.33, 27_860)), 0);
        assert_eq!(of(280.32, 27_860).shared_bytes(&of(280.32, 27_860)), 8);
    }
}
