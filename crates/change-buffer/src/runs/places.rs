//! Places on a leaf that entries have left: which of them another entry can take.

/// Places of so many bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    bytes: u32,
    entries: u32,
}

/// The free list of a page: an entry takes the place that was left last if that is large enough,
/// and looks no further (`MySQL` 5.1 source, page0cur.c: `page_cur_insert_rec_low`).
///
/// What was left before the places on `top`, which lie with the leaf itself because every entry
/// looks at them.
#[derive(Clone, Debug, Default)]
pub(super) struct Places(Vec<Place>);

impl Places {
    /// So many entries of `bytes` each leave.
    pub(super) fn leave(&mut self, top: &mut Place, bytes: u32, entries: u32) {
        if entries == 0 {
            return;
        }
        if 0 < top.entries && top.bytes == bytes {
            top.entries += entries;
            return;
        }
        if 0 < top.entries {
            self.0.push(*top);
        }
        *top = Place { bytes, entries };
    }

    /// Tells whether an entry of `bytes` finds a place, and gives it that.
    #[inline]
    pub(super) fn take(&mut self, top: &mut Place, bytes: u32) -> bool {
        if top.entries == 0 || top.bytes < bytes {
            return false;
        }
        top.entries -= 1;
        if top.entries == 0 {
            *top = self.0.pop().unwrap_or_default();
        }
        true
    }

    /// The page is reorganised or new: there are none.
    pub(super) fn clear(&mut self, top: &mut Place) {
        *top = Place::default();
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_left_last_is_taken_or_none() {
        let (mut places, mut top) = (Places::default(), Place::default());
        places.leave(&mut top, 72, 2);
        places.leave(&mut top, 61, 1);
        places.leave(&mut top, 1, 0);
        let mut takes = |bytes| places.take(&mut top, bytes);
        assert!(!takes(65), "61 bytes are not enough, and nothing behind them is looked at");
        assert!(takes(61));
        assert!(takes(65));
        assert!(takes(72));
        assert!(!takes(61), "all are taken");
    }
}
