//! Where pages enter the LRU list and when they move (buf0lru.c, buf0buf.c).
//!
//! In a full pool every read evicts one page, so the number of reads a page survives is its
//! distance from the tail.

use std::ops::RangeInclusive;

use cost_model::device::DeviceSpec;
use cost_model::{Cause, PageId, PoolConfig, SimDuration};

use crate::rig::{OLD_TOLERANCE, Rig, lru_pool, midpoint_pool};

const FRAMES: u32 = 200;
/// 3/8 of the frames, give or take the tolerance; the page enters behind the first old one, and
/// two more reads may pass before and after it.
const FROM_OLD_HEAD: RangeInclusive<u32> = 75 - OLD_TOLERANCE - 3..=75 + OLD_TOLERANCE;
/// All frames; reading it has evicted one itself.
const FROM_HEAD: RangeInclusive<u32> = FRAMES - 2..=FRAMES;
/// A page that takes part in no other step.
const MARKED: u32 = 9_000;

/// A rig that has read and used so many pages, 0 upwards.
fn after_reads(pool: PoolConfig, pages: u32) -> Rig {
    let mut rig = Rig::new(pool, DeviceSpec::Null);
    (0..pages).for_each(|page| rig.read(page));
    rig
}

/// How many fresh pages are read and used until the marked page is gone.
fn reads_survived(rig: &mut Rig) -> u32 {
    assert!(rig.is_resident(MARKED));
    let mut reads = 0;
    while rig.is_resident(MARKED) {
        reads += 1;
        rig.read(10_000 + reads);
    }
    reads
}

#[test]
fn a_page_that_is_read_enters_the_old_part() {
    let mut rig = after_reads(midpoint_pool(FRAMES), 1_000);
    rig.fetch(MARKED);
    assert!(FROM_OLD_HEAD.contains(&reads_survived(&mut rig)));
}

#[test]
fn its_first_use_moves_it_to_the_head_once_evictions_have_begun() {
    let mut rig = after_reads(midpoint_pool(FRAMES), 1_000);
    rig.read(MARKED);
    assert!(FROM_HEAD.contains(&reads_survived(&mut rig)));
    let mut fresh = after_reads(midpoint_pool(FRAMES), FRAMES - 1);
    fresh.read(MARKED);
    assert!(FROM_OLD_HEAD.contains(&reads_survived(&mut fresh)), "before the warm-up");
}

/// Used twice in a while, a page keeps its place until a quarter of the pool was evicted.
#[test]
fn a_page_moves_again_only_after_the_young_distance() {
    for (evictions, moves) in [(40, false), (60, true)] {
        let mut rig = after_reads(midpoint_pool(FRAMES), 1_000);
        rig.read(MARKED);
        (2_000..2_000 + evictions).for_each(|page| rig.read(page));
        rig.read(MARKED);
        let survived = reads_survived(&mut rig);
        let expected = if moves { FRAMES } else { FRAMES - evictions };
        assert!(survived.abs_diff(expected) <= 2, "{survived} after {evictions} evictions");
    }
}

#[test]
fn a_page_used_within_the_old_blocks_time_stays_old() {
    let pool = || PoolConfig { old_blocks_ms: 1_000, ..midpoint_pool(FRAMES) };
    for (pause_ms, stays) in [(999, false), (1_000, true)] {
        let mut rig = after_reads(pool(), 1_000);
        // Milliseconds are counted from 1, so not from the very start.
        rig.thread.spend(Cause::Think, SimDuration::from_ms(10));
        rig.read(MARKED);
        rig.thread.spend(Cause::Think, SimDuration::from_ms(pause_ms));
        rig.read(MARKED);
        // Pages nobody uses pass through the old part and leave the young one alone.
        for page in 0..2 * FRAMES {
            rig.fetch(10_000 + page);
        }
        assert_eq!(rig.is_resident(MARKED), stays, "after {pause_ms} ms");
    }
}

/// However long ago it was used first; and a page that is discarded is none that was evicted.
#[test]
fn no_page_moves_before_one_was_evicted() {
    for (evicted, moves) in [(0, 0), (1, 1)] {
        let pool = PoolConfig { old_blocks_ms: 1_000, ..midpoint_pool(FRAMES) };
        let mut rig = after_reads(pool, FRAMES - 1);
        rig.read(MARKED);
        rig.machine.discard(PageId(0));
        rig.thread.spend(Cause::Think, SimDuration::from_ms(2_000));
        for page in 1_000..1_001 + evicted {
            rig.fetch(page);
        }
        assert_eq!(rig.machine.pool_stats().evictions, u64::from(1 + evicted), "one discarded");
        rig.read(MARKED);
        assert_eq!(rig.machine.pool_stats().made_young, moves, "after {evicted} evictions");
    }
}

/// Dirty pages are written in the order of the list's tail.
#[test]
fn a_created_page_enters_at_the_head() {
    let pool = PoolConfig { old_blocks_ms: 10_000, ..midpoint_pool(FRAMES) };
    let mut rig = Rig::new(pool, DeviceSpec::Null);
    (0..500).for_each(|page| rig.create(page));
    rig.change(MARKED);
    rig.create(MARKED + 1);
    let writes = rig.writes(|rig| (1_000..1_500).for_each(|page| rig.create(page)));
    let position = |page| writes.iter().position(|(written, _)| *written == page);
    let (read, created) = (position(MARKED).unwrap(), position(MARKED + 1).unwrap());
    assert!(FROM_OLD_HEAD.contains(&(read as u32)), "read and changed: {read}");
    assert!(FROM_HEAD.contains(&(created as u32 + 1)), "created: {created}");
}

#[test]
fn plain_lru_evicts_the_page_unused_for_longest() {
    let mut rig = after_reads(lru_pool(FRAMES), 1_000);
    rig.read(MARKED);
    (2_000..2_100).for_each(|page| rig.read(page));
    rig.read(MARKED);
    assert!(FROM_HEAD.contains(&reads_survived(&mut rig)));
}
