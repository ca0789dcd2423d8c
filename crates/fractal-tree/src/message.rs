//! A message is a row number and what to do with the row's entry, in four bytes.

/// Row numbers a tree can hold: a message has 30 bits for its row.
pub const ROWS_MAX: u64 = 1 << KIND_SHIFT;

const KIND_SHIFT: u32 = 30;

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The entry comes into being. A blind put: nobody has looked whether it is there.
    Insert,
    /// The entry ceases to exist.
    Delete,
    /// The transaction that deleted the entry has committed.
    Commit,
    /// A delete that finds nothing: it travels and takes room as any other.
    Void,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Insert, Self::Delete, Self::Commit, Self::Void];
}

/// A message in a buffer, or an entry or a deletion in a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message(pub(crate) u32);

impl Message {
    #[inline]
    pub(crate) fn new(kind: Kind, row: u32) -> Self {
        Self((kind as u32) << KIND_SHIFT | row)
    }

    #[inline]
    pub(crate) fn kind(self) -> Kind {
        Kind::ALL[(self.0 >> KIND_SHIFT) as usize]
    }

    #[inline]
    pub(crate) fn row(self) -> u32 {
        self.0 & ((1 << KIND_SHIFT) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Message, ROWS_MAX};

    #[test]
    fn kind_and_row_come_back() {
        for kind in Kind::ALL {
            let message = Message::new(kind, ROWS_MAX as u32 - 1);
            assert_eq!((message.kind(), message.row()), (kind, ROWS_MAX as u32 - 1));
        }
    }
}
