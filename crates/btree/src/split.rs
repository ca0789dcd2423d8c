//! Where a full page is split.

use cost_model::Draw;

use crate::space::Direction;

/// The rule that chooses the split point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SplitPolicy {
    /// `InnoDB`'s: at the new record if it follows the page's last insert (or precedes it), else
    /// in the middle (`MySQL` 5.1 source, btr0btr.c).
    InnoDb,
    /// Always in the middle.
    Middle,
    /// At a point drawn uniformly from the middle by up to this share of the page to either side:
    /// the remedy against "waves of misery" (Glombiewski, Seeger, Graefe, BTW 2019).
    Random {
        /// Share of the page, above 0 and below 0.5.
        spread: f64,
    },
}

/// How a page is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Records from this position on are in the right half.
    pub at: usize,
    /// Whether the new record goes to the right half. If it becomes the first there, its key is
    /// the separator.
    pub new_goes_right: bool,
    /// Which half is the new page.
    pub(crate) direction: Direction,
}

impl SplitPolicy {
    /// Splits a page of `records` records when a new one belongs at `position`, the records being
    /// counted in key order; `last` is the position of the page's last insert.
    pub(crate) fn split(
        self,
        records: usize,
        position: usize,
        last: Option<usize>,
        draw: &mut Draw,
    ) -> Split {
        match self {
            Self::InnoDb => Split::innodb(records, position, last),
            Self::Middle => Split::middle(records / 2, position),
            Self::Random { spread } => {
                let offset = (2.0 * draw.unit() - 1.0) * spread * records as f64;
                let at = (records as f64 / 2.0 + offset) as usize;
                Split::middle(at.clamp(1, records - 1), position)
            }
        }
    }
}

impl SplitPolicy {
    /// On which side of the old page the new one will be: asked before a split, which then agrees.
    pub(crate) fn direction(self, position: usize, last: Option<usize>) -> Direction {
        let precedes_last = self == Self::InnoDb && last == Some(position);
        if precedes_last { Direction::Down } else { Direction::Up }
    }
}

impl Split {
    /// How `InnoDB` splits a page of `records` records when a new one belongs at `position`, the
    /// records being counted in key order; `last` is the position of the page's last insert.
    pub fn innodb(records: usize, position: usize, last: Option<usize>) -> Self {
        sequential(records, position, last).unwrap_or(Self::middle(records / 2, position))
    }

    fn middle(at: usize, position: usize) -> Self {
        Self { at, new_goes_right: at < position, direction: Direction::Up }
    }
}

/// Whether an insert at `position` looks sequential: it follows or precedes the last insert.
pub fn is_sequential(position: usize, last: Option<usize>) -> bool {
    last.is_some_and(|last| last + 1 == position || last == position)
}

fn sequential(records: usize, position: usize, last: Option<usize>) -> Option<Split> {
    let last = last?;
    if last + 1 == position {
        // One successor stays on the left page, so that the next insert finds its place there;
        // with fewer than two, the right page starts with the new record.
        let at = if position + 1 < records { position + 1 } else { position };
        let new_goes_right = at == position;
        return Some(Split { at, new_goes_right, direction: Direction::Up });
    }
    if last == position {
        // The record before the new one goes to the right page too, unless that would leave
        // nothing on the left one.
        let at = if 2 <= position { position - 1 } else { position };
        let new_goes_right = at < position;
        return Some(Split { at, new_goes_right, direction: Direction::Down });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn innodb(records: usize, position: usize, last: Option<usize>) -> (usize, bool, Direction) {
        let split = SplitPolicy::InnoDb.split(records, position, last, &mut Draw::new(1, 0));
        (split.at, split.new_goes_right, split.direction)
    }

    #[test]
    fn ascending_inserts_leave_full_pages() {
        assert_eq!(innodb(10, 10, Some(9)), (10, true, Direction::Up));
        assert_eq!(innodb(10, 9, Some(8)), (9, true, Direction::Up), "one record follows");
        assert_eq!(innodb(10, 5, Some(4)), (6, false, Direction::Up), "one successor stays");
    }

    #[test]
    fn descending_inserts_leave_full_pages() {
        assert_eq!(innodb(10, 0, Some(0)), (0, false, Direction::Down));
        assert_eq!(innodb(10, 1, Some(1)), (1, false, Direction::Down));
        assert_eq!(innodb(10, 5, Some(5)), (4, true, Direction::Down));
    }

    #[test]
    fn other_inserts_split_in_the_middle() {
        assert_eq!(innodb(755, 700, Some(3)), (377, true, Direction::Up));
        assert_eq!(innodb(755, 377, None), (377, false, Direction::Up));
        assert_eq!(innodb(755, 378, None), (377, true, Direction::Up));
    }
}
