//! Where the label of a marker stands: near it, and clear of everything else.

use super::canvas::Anchor;

/// A point of the drawing in pixels.
pub(super) type Place = (f64, f64);

/// The plot area with what is already drawn in it.
pub(super) struct Labels {
    bounds: Area,
    taken: Vec<Area>,
    segments: Vec<(Place, Place)>,
}

/// A rectangle in pixels.
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Labels {
    /// Labels within `bounds` beside the markers, and off the segments of the curves, whose ends
    /// are in the order of x.
    pub(super) fn new(bounds: Area, markers: &[Place], segments: Vec<(Place, Place)>) -> Self {
        let around = |(x, y): &Place| Area::new(x - 7.0, x + 7.0, y - 7.0, y + 7.0);
        Self { bounds, taken: markers.iter().map(around).collect(), segments }
    }

    /// Takes room for a label of this width at the marker at `at`: to its right or left, at
    /// growing distance above or below. If every place is on a curve, one that is only clear of
    /// other labels; if none is, the first that is towards the middle.
    pub(super) fn place(&mut self, (x, y): Place, width: f64) -> (Place, Anchor) {
        let lines = [-9.0, 19.0, -24.0, 34.0, -39.0, 49.0, -54.0, 64.0];
        let rightwards = x - self.bounds.left < self.bounds.right - x;
        let sides = [rightwards, !rightwards];
        let choices: Vec<_> =
            lines.into_iter().flat_map(|line| sides.map(|side| (side, y + line))).collect();
        let area = |&(rightwards, y): &(bool, f64)| {
            let left = if rightwards { x + 11.0 } else { x - 11.0 - width };
            Area::new(left, left + width, y - 11.0, y + 3.0)
        };
        let is_free = |choice: &&(bool, f64)| {
            let area = area(choice);
            area.is_within(&self.bounds) && !self.taken.iter().any(|other| area.meets(other))
        };
        let is_clear = |choice: &&(bool, f64)| {
            is_free(choice) && !self.segments.iter().any(|ends| area(choice).is_crossed(*ends))
        };
        let found = choices.iter().find(is_clear).or_else(|| choices.iter().find(is_free));
        let choice = *found.unwrap_or(&choices[0]);
        self.taken.push(area(&choice));
        let (rightwards, y) = choice;
        if rightwards { ((x + 11.0, y), Anchor::Start) } else { ((x - 11.0, y), Anchor::End) }
    }
}

impl Area {
    fn new(left: f64, right: f64, top: f64, bottom: f64) -> Self {
        Self { left, right, top, bottom }
    }

    fn is_within(&self, outer: &Area) -> bool {
        outer.left <= self.left
            && self.right <= outer.right
            && outer.top <= self.top
            && self.bottom <= outer.bottom
    }

    fn meets(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn is_crossed(&self, ((x0, y0), (x1, y1)): (Place, Place)) -> bool {
        if x1 < self.left || self.right < x0 {
            return false;
        }
        if x1 <= x0 {
            return y0.min(y1) < self.bottom && self.top < y0.max(y1);
        }
        let slope = (y1 - y0) / (x1 - x0);
        let enters = y0 + slope * (self.left - x0).max(0.0);
        let leaves = y1 - slope * (x1 - self.right).max(0.0);
        enters.min(leaves) < self.bottom && self.top < enters.max(leaves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_avoids_curves_and_other_labels() {
        let curve = vec![((0.0, 80.0), (200.0, 80.0))];
        let mut labels = Labels::new(Area::new(0.0, 200.0, 0.0, 200.0), &[(50.0, 100.0)], curve);
        let (first, _) = labels.place((50.0, 100.0), 60.0);
        assert_eq!(first, (61.0, 91.0), "just below the curve");
        let (second, _) = labels.place((50.0, 100.0), 60.0);
        assert_eq!(second, (61.0, 119.0), "below the marker");
    }

    #[test]
    fn a_label_at_the_right_edge_stands_to_the_left() {
        let mut labels = Labels::new(Area::new(0.0, 200.0, 0.0, 200.0), &[], Vec::new());
        let (place, anchor) = labels.place((200.0, 100.0), 60.0);
        assert_eq!(place, (189.0, 91.0));
        assert!(matches!(anchor, Anchor::End));
    }

    #[test]
    fn a_steep_segment_crosses_what_it_passes_between_its_ends() {
        let area = Area::new(10.0, 20.0, 10.0, 20.0);
        assert!(area.is_crossed(((0.0, 0.0), (30.0, 30.0))));
        assert!(area.is_crossed(((15.0, 0.0), (15.0, 30.0))));
        assert!(!area.is_crossed(((0.0, 0.0), (30.0, 9.0))));
        assert!(!area.is_crossed(((21.0, 0.0), (30.0, 30.0))));
    }
}
