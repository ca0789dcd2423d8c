//! Places of variable length in a file.

use std::collections::BTreeMap;

/// A contiguous part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First byte.
    pub offset: u64,
    /// Length in bytes as allocated, alignment included.
    pub bytes: u64,
}

/// Gives parts of a file to nodes: the first hole that is long enough, or the end of the file.
///
/// First fit by offset is what `PerconaFT`'s block allocator does (its block allocator source).
#[derive(Clone, Debug)]
pub struct Extents {
    alignment: u64,
    /// Length of every hole by its offset; no two of them touch.
    holes: BTreeMap<u64, u64>,
    end: u64,
}

impl Extents {
    /// An empty file whose extents start at multiples of `alignment` bytes.
    pub fn new(alignment: u64) -> Self {
        assert!(0 < alignment, "an alignment of no bytes");
        Self { alignment, holes: BTreeMap::new(), end: 0 }
    }

    /// Takes an extent of at least `bytes` bytes.
    pub fn allocate(&mut self, bytes: u64) -> Extent {
        let bytes = bytes.next_multiple_of(self.alignment).max(self.alignment);
        let hole = self.holes.iter().find(|(_, length)| bytes <= **length);
        let Some((offset, length)) = hole.map(|(offset, length)| (*offset, *length)) else {
            let offset = self.end;
            self.end += bytes;
            return Extent { offset, bytes };
        };
        self.holes.remove(&offset);
        if bytes < length {
            self.holes.insert(offset + bytes, length - bytes);
        }
        Extent { offset, bytes }
    }

    /// Gives an extent back. Holes that touch become one, and one at the end shortens the file.
    pub fn free(&mut self, extent: Extent) {
        let (mut offset, mut bytes) = (extent.offset, extent.bytes);
        if let Some((before, length)) = self.holes.range(..offset).next_back()
            && before + length == offset
        {
            (offset, bytes) = (*before, length + bytes);
        }
        if let Some(length) = self.holes.remove(&(extent.offset + extent.bytes)) {
            bytes += length;
        }
        if offset + bytes == self.end {
            self.holes.remove(&offset);
            self.end = offset;
        } else {
            self.holes.insert(offset, bytes);
        }
    }

    /// Bytes from the start of the file to the end of its last extent, holes included.
    pub fn file_bytes(&self) -> u64 {
        self.end
    }
}

#[cfg(test)]
mod tests {
    use super::{Extent, Extents};

    #[test]
    fn the_first_hole_that_is_long_enough_is_used_and_holes_grow_together() {
        let mut file = Extents::new(4_096);
        let [a, b, c] = [5_000, 4_096, 9_000].map(|bytes| file.allocate(bytes));
        assert_eq!(a, Extent { offset: 0, bytes: 8_192 });
        assert_eq!((b.offset, c.offset, file.file_bytes()), (8_192, 12_288, 24_576));
        file.free(a);
        file.free(b);
        assert_eq!(file.allocate(12_288), Extent { offset: 0, bytes: 12_288 });
        file.free(c);
        assert_eq!(file.file_bytes(), 12_288);
    }
}
