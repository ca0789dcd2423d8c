//! Who writes dirty pages, when, and which go along (buf0flu.c).

use cost_model::device::DeviceSpec;
use cost_model::{
    Cause, Margin, MarginCounts, Neighbours, PageId, PoolConfig, Purpose, SimDuration, SimThread,
};

use crate::rig::{OLD_TOLERANCE, Rig, disk, midpoint_pool};

const FRAMES: u32 = 400;

fn with_margin(counts: MarginCounts) -> PoolConfig {
    let margin = Margin { scan: 133, low: 69, high: 186, counts };
    PoolConfig { margin, ..midpoint_pool(FRAMES) }
}

#[test]
fn a_read_leaves_enough_pages_that_can_be_replaced() {
    let mut rig = Rig::new(with_margin(MarginCounts::FreeAndClean), DeviceSpec::Null);
    let mut flushes = Vec::new();
    for page in 0..4_000 {
        let written: u32 = rig.writes(|rig| rig.change(page)).iter().map(|(_, n)| n).sum();
        // A write is done when the next operation begins.
        rig.operate(|_, _| Ok(()));
        let replaceable = u64::from(FRAMES) - rig.machine.dirty_pages();
        assert!(69 <= replaceable, "{replaceable} after page {page}");
        if 0 < written {
            flushes.push((page, written));
        }
    }
    assert!(10 < flushes.len());
    for pair in flushes.windows(2) {
        // From 186 down to 68 a page at a time, then up again at once.
        assert_eq!((pair[1].0 - pair[0].0, pair[1].1), (186 - 68, 186 - 68));
    }
}

#[test]
fn a_margin_of_free_frames_keeps_them_free() {
    let mut rig = Rig::new(
        with_margin(MarginCounts::Free { writes_max: 186, frees_written: true }),
        DeviceSpec::Null,
    );
    for page in 0..4_000 {
        rig.change(page);
        rig.operate(|_, _| Ok(()));
        let free = rig.machine.free_frames();
        assert!(69 <= free, "{free} free after page {page}");
    }
    assert!(3_000 < rig.machine.io().get(Purpose::WriteBack).pages);
}

#[test]
fn without_a_margin_a_page_is_written_when_its_frame_is_needed() {
    let mut rig = Rig::new(midpoint_pool(FRAMES), DeviceSpec::Null);
    (0..FRAMES).for_each(|page| rig.create(page));
    assert_eq!(rig.writes(|rig| rig.create(FRAMES)), [(0, 1)]);
    assert_eq!(rig.writes(|rig| rig.create(FRAMES + 1)), [(1, 1)]);
}

/// A pool full of dirty pages created in order: page 0 is at the tail, and the oldest 3/8 are in
/// the old part.
fn full_of_dirty_pages(frames: u32, neighbours: Neighbours) -> Rig {
    let pool = PoolConfig { neighbours, ..midpoint_pool(frames) };
    let mut rig = Rig::new(pool, DeviceSpec::Null);
    (0..frames).for_each(|page| rig.create(page));
    rig
}

#[test]
fn dirty_neighbours_of_the_area_go_along_as_one_request() {
    for neighbours in [Neighbours::Area, Neighbours::Contiguous] {
        let mut rig = full_of_dirty_pages(256, neighbours);
        let io = rig.machine.io().clone();
        assert_eq!(rig.writes(|rig| rig.create(1_000)), [(0, 64)], "{neighbours:?}");
        let written = rig.machine.io().since(&io).get(Purpose::WriteBack);
        assert_eq!((written.requests, written.pages, written.bytes), (1, 64, 64 << 14));
        // 64 frames are clean now; when they are used up the next area follows.
        let more = rig.writes(|rig| (1_001..1_065).for_each(|page| rig.create(page)));
        assert_eq!(more, [(64, 64)], "{neighbours:?}");
    }
    let mut alone = full_of_dirty_pages(256, Neighbours::None);
    assert_eq!(alone.writes(|rig| rig.create(1_000)), [(0, 1)]);
}

#[test]
fn young_neighbours_stay() {
    let mut rig = full_of_dirty_pages(160, Neighbours::Area);
    let writes = rig.writes(|rig| rig.create(1_000));
    let [(0, pages)] = writes[..] else { panic!("{writes:?}") };
    // Of the 64 pages 3/8 of 160 are old, give or take the tolerance.
    assert!(pages < 64 && pages.abs_diff(60) <= OLD_TOLERANCE, "{pages} pages");
}

#[test]
fn a_gap_ends_a_request() {
    for (neighbours, expected) in
        [(Neighbours::Area, &[(0, 10), (11, 53)][..]), (Neighbours::Contiguous, &[(0, 10)])]
    {
        let mut rig = full_of_dirty_pages(256, neighbours);
        rig.machine.discard(PageId(10));
        rig.create(1_000);
        assert_eq!(rig.writes(|rig| rig.create(1_001)), expected, "{neighbours:?}");
    }
}

#[test]
fn a_page_under_write_can_be_read_and_not_changed() {
    let mut rig = Rig::new(midpoint_pool(FRAMES), disk());
    (0..FRAMES).for_each(|page| rig.create(page));
    // The frame of page 0 is needed: its write is given to the disk, and takes 14 ms at most.
    let mut other = SimThread::new(rig.thread.now());
    assert!(rig.machine.reserve(&mut other, 1).is_err());
    assert!(rig.machine.work(&mut other).is_ok(), "it need not wait for the write itself");
    let before = rig.thread.now();
    rig.read(0);
    assert_eq!(rig.thread.now(), before, "reading it does not wait");
    assert_eq!(rig.thread.time().get(Cause::Flush), SimDuration::ZERO);
    rig.change(0);
    let waited = rig.thread.time().get(Cause::Flush);
    assert_eq!(rig.thread.now().since(before), waited);
    assert!(SimDuration::from_ms(6) <= waited && waited <= SimDuration::from_ms(15), "{waited}");
    assert_eq!(rig.machine.dirty_pages(), u64::from(FRAMES), "changed after its write");
}
