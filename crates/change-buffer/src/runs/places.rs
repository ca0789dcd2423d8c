//! Places on a leaf that entries have left: which of them another entry can take.

/// The free list of a page: an entry takes the place that was left last if that is large enough,
/// and looks no further (`MySQL` 5.1 source, page0cur.c: `page_cur_insert_rec_low`).
///
/// Bytes and how many places of so many there are, those left last at the end.
#[derive(Clone, Debug, Default)]
pub(super) struct Places(Vec<(u32, u32)>);

impl Places {
    /// So many entries of `bytes` each leave.
    pub(super) fn leave(&mut self, bytes: u32, entries: u32) {
        match self.0.last_mut() {
            _ if entries == 0 => {}
            Some((last, count)) if *last == bytes => *count += entries,
            _ => self.0.push((bytes, entries)),
        }
    }

    /// Tells whether an entry of `bytes` finds a place, and gives it that.
    pub(super) fn take(&mut self, bytes: u32) -> bool {
        let Some((_, count)) = self.0.last_mut().filter(|(last, _)| bytes <= *last) else {
            return false;
        };
        *count -= 1;
        if *count == 0 {
            self.0.pop();
        }
        true
    }

    /// The page is reorganised or new: there are none.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_left_last_is_taken_or_none() {
        let mut places = Places::default();
        places.leave(72, 2);
        places.leave(61, 1);
        places.leave(1, 0);
        assert!(!places.take(65), "61 bytes are not enough, and nothing behind them is looked at");
        assert!(places.take(61));
        assert!(places.take(65));
        assert!(places.take(72));
        assert!(!places.take(61), "all are taken");
    }
}
