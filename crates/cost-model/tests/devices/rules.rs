//! Closed forms, conservation and the rules of each kind of device.

use cost_model::device::{Device, DeviceSpec, HddSpec, IoOp, Raid, SsdSpec, Tail, VolumeSpec};
use cost_model::{Bytes, Draw, SimDuration, SimTime};

use super::shared::{PAGE, one_by_one, random_page, read, stream_bytes_per_s, write};
use super::specs;

/// A disk with round numbers: 1 ms seek, 4 ms turn, 16 KiB in exactly 160 us.
fn plain_disk() -> HddSpec {
    HddSpec { seek: SimDuration::from_ms(1), transfer_bytes_per_s: 102_400_000, ..specs::sas_15k() }
}

const TRANSFER: SimDuration = SimDuration::from_us(160);

fn hdd(spec: HddSpec) -> Device {
    Device::new(&DeviceSpec::Hdd(spec), 7)
}

fn close(measured: f64, expected: f64, tolerance: f64) {
    let ratio = measured / expected;
    assert!((ratio - 1.0).abs() < tolerance, "{measured} is {ratio} of {expected}");
}

#[test]
fn random_reads_cost_seek_half_a_turn_and_transfer() {
    let mut draw = Draw::new(1, 0);
    let mut device = hdd(plain_disk());
    let count = 20_000;
    let end = one_by_one(&mut device, SimTime::ZERO, count, |_| random_page(&mut draw, IoOp::Read));
    close(end.as_secs_f64(), count as f64 * (1e-3 + 2e-3 + 160e-6), 0.01);
}

#[test]
fn adjacent_pages_are_one_positioning_and_their_transfers() {
    for count in [1, 8, 64] {
        let mut device = hdd(plain_disk());
        let first = device.submit(SimTime::ZERO, read(0, PAGE));
        let last = one_by_one(&mut device, first, count, |page| read((page + 1) * PAGE, PAGE));
        assert_eq!(last.since(first), TRANSFER * count, "reads one by one");

        let whole = hdd(plain_disk()).submit(SimTime::ZERO, read(0, PAGE * (count + 1)));
        assert_eq!(whole, last, "one read");

        let mut device = hdd(plain_disk());
        let written =
            (0..=count).map(|page| device.submit(SimTime::ZERO, write(page * PAGE, PAGE)));
        assert_eq!(written.last(), Some(last), "writes queued together");
    }
}

#[test]
fn a_short_gap_ahead_passes_under_the_head() {
    let mut device = hdd(plain_disk());
    let first = device.submit(SimTime::ZERO, read(0, PAGE));
    let second = device.submit(first, read(3 * PAGE, PAGE));
    assert_eq!(second.since(first), TRANSFER * 3);
}

/// Both the next sector and the one just written have gone by when the writer comes back.
#[test]
fn a_lone_append_or_rewrite_waits_one_turn() {
    let sector = SimDuration::from_us(5);
    let turn = SimDuration::from_ms(4);
    let mut device = hdd(plain_disk());
    let first = device.submit(SimTime::ZERO, write(0, 512));
    let appended = device.submit(first, write(512, 512));
    assert_eq!(device.sync(appended, appended), appended, "what the platter has is durable");
    assert_eq!(appended.since(first), turn + sector);
    let rewritten = device.submit(appended, write(512, 512));
    assert_eq!(rewritten.since(appended), turn);
    let idle = SimDuration::from_ms(1);
    let later = device.submit(rewritten + idle, write(1024, 512));
    assert_eq!(later.since(rewritten), turn + sector, "the platter turns on while nobody writes");
}

#[test]
fn a_sync_without_a_cache_waits_for_what_is_under_way() {
    let mut device = hdd(plain_disk());
    let done = device.submit(SimTime::ZERO, write(0, PAGE));
    assert_eq!(device.sync(SimTime::from_ns(1), done), done);
    let mut cached = hdd(specs::raid10_bbu());
    assert_eq!(cached.submit(SimTime::ZERO, write(0, PAGE)), SimTime::ZERO);
    assert_eq!(cached.sync(SimTime::ZERO, SimTime::ZERO).as_ns(), 186_000);
}

/// A block that is written and synced again and again comes by once a turn. The way to the journal
/// and back takes two seeks besides the wait for its record, which is any part of a turn: with a
/// quarter of a turn for the seeks, every fourth time the block has gone by.
#[test]
fn a_journal_costs_whole_turns_between_two_syncs_of_a_block() {
    let spec = HddSpec { journal_seek: Some(SimDuration::from_us(500)), ..plain_disk() };
    let mut device = hdd(spec);
    let mut there = device.submit(SimTime::ZERO, write(0, 512));
    let count = 20_000;
    let first = there;
    for _ in 0..count {
        let synced = device.sync(there, there);
        assert!(SimDuration::from_us(500) <= synced.since(there), "there is the seek");
        let next = device.submit(synced, write(0, 512));
        let turns = next.since(there).as_ns();
        assert!(turns == 4_000_000 || turns == 8_000_000, "{turns} ns are no turns");
        there = next;
    }
    close(there.since(first).as_secs_f64(), f64::from(count) * 1.25 * 4e-3, 0.01);
}

fn every_kind() -> [DeviceSpec; 6] {
    [
        DeviceSpec::Hdd(specs::sas_15k()),
        DeviceSpec::Hdd(specs::raid10_bbu()),
        DeviceSpec::Hdd(HddSpec { write_cache: Bytes::mib(1), ..specs::raid10_bbu() }),
        DeviceSpec::Ssd(specs::iodrive_mlc()),
        DeviceSpec::Volumes(specs::ebs_raid10()),
        DeviceSpec::Null,
    ]
}

/// Random requests of many sizes at random times; returns the completions.
fn mixed_load(device: &mut Device, count: u64) -> Vec<SimTime> {
    let mut draw = Draw::new(5, 0);
    let mut now = SimTime::ZERO;
    let mut completions = Vec::new();
    for _ in 0..count {
        now += draw.uniform(SimDuration::from_ms(20));
        let (offset, len) = (draw.below(1 << 30), 1 + draw.below(300_000));
        completions.push(match draw.below(5) {
            0 => device.sync(now, now),
            1 | 2 => device.submit(now, read(offset, len)),
            _ => device.submit(now, write(offset, len)),
        });
        assert!(now <= completions[completions.len() - 1], "completed before it was asked for");
    }
    completions
}

#[test]
fn the_same_seed_gives_the_same_completions() {
    for spec in every_kind() {
        let mut first = Device::new(&spec, 11);
        let mut second = Device::new(&spec, 11);
        let mut other = Device::new(&spec, 12);
        let completions = mixed_load(&mut first, 3_000);
        assert_eq!(completions, mixed_load(&mut second, 3_000));
        assert_eq!(first.totals(), second.totals());
        let differs = completions != mixed_load(&mut other, 3_000);
        assert_eq!(differs, spec != DeviceSpec::Null, "a seed matters wherever times are drawn");
    }
}

#[test]
fn totals_are_the_sum_of_the_requests() {
    for spec in every_kind() {
        let mut device = Device::new(&spec, 3);
        let mut draw = Draw::new(9, 0);
        let (mut reads, mut writes) = (0, 0);
        for number in 0..2_000 {
            let len = 1 + draw.below(1 << 20);
            let now = SimTime::from_ns(number * 1_000_000);
            if draw.below(2) == 0 {
                device.submit(now, read(draw.below(1 << 36), len));
                reads += len;
            } else {
                device.submit(now, write(draw.below(1 << 36), len));
                writes += len;
            }
        }
        let end = SimTime::from_ns(2_000_000_000);
        device.sync(end, end);
        let totals = device.totals();
        assert_eq!((totals.read_bytes, totals.write_bytes), (reads, writes));
        assert_eq!((totals.reads + totals.writes, totals.syncs), (2_000, 1));
    }
}

/// With nothing else to do, every byte written reaches every mirror, and nothing more does.
#[test]
fn the_media_see_every_copy_once() {
    let mut device = hdd(HddSpec { write_cache: Bytes::mib(8), ..specs::raid10_bbu() });
    let mut draw = Draw::new(2, 0);
    let pages = 2_000;
    for page in 0..pages {
        device.submit(SimTime::ZERO, write((page * 100 + draw.below(50)) * PAGE, PAGE));
    }
    let end = SimTime::from_ns(100_000_000_000);
    for set in 0..4 {
        device.submit(end, read((1 << 40) + set * 65_536, 512));
    }
    let totals = device.totals();
    assert_eq!(totals.station_requests, 2 * pages + 4);
    assert!(0 < totals.cache_waits, "8 MiB do not hold 2,000 pages");
}

#[test]
fn a_read_queues_with_the_destages_that_the_disk_has() {
    let spec = HddSpec { write_cache: Bytes::mib(64), destage_depth: 4, ..plain_disk() };
    let service_max = spec.seek + spec.rotation + TRANSFER;
    let mut device = hdd(spec);
    let mut draw = Draw::new(4, 0);
    for _ in 0..2_000 {
        let page = random_page(&mut draw, IoOp::Write);
        assert_eq!(device.submit(SimTime::ZERO, page), SimTime::ZERO);
    }
    let mut now = SimTime::ZERO;
    let mut waits = 0;
    for _ in 0..300 {
        now += draw.uniform(SimDuration::from_ms(5));
        let done = device.submit(now, random_page(&mut draw, IoOp::Read));
        assert!(done.since(now) <= service_max * 5);
        waits += u32::from(service_max * 2 < done.since(now));
        now = done;
    }
    assert!(20 < waits, "destages and reads share the spindle: {waits} of 300 reads waited long");
}

#[test]
fn a_page_in_the_cache_is_read_from_there() {
    let mut device = hdd(HddSpec { write_cache: Bytes::mib(1), ..plain_disk() });
    device.submit(SimTime::ZERO, write(0, PAGE));
    device.submit(SimTime::ZERO, write(1 << 30, PAGE));
    let now = SimTime::from_ns(1);
    assert_eq!(device.submit(now, read(1 << 30, PAGE)), now, "the second waits behind the first");
    let later = SimTime::from_ns(1_000_000_000);
    assert!(later < device.submit(later, read(1 << 30, PAGE)), "it has left the cache");
    assert_eq!(device.totals().cache_hits, 1);
}

#[test]
fn rewrites_in_the_cache_reach_the_platter_once() {
    let mut device = hdd(HddSpec { write_cache: Bytes::mib(1), ..plain_disk() });
    for _ in 0..1_000 {
        let now = device.submit(SimTime::ZERO, write(0, PAGE));
        assert_eq!(now, SimTime::ZERO, "a page takes its room once");
    }
    device.submit(SimTime::from_ns(1_000_000_000), read(1 << 30, 512));
    assert_eq!(device.totals().station_requests, 2);
}

#[test]
fn a_full_cache_passes_the_destage_rate_on() {
    let mut device = hdd(HddSpec { write_cache: Bytes::mib(16), ..specs::raid10_bbu() });
    let mut draw = Draw::new(6, 0);
    let mut next = |_| random_page(&mut draw, IoOp::Write);
    let start = one_by_one(&mut device, SimTime::ZERO, 4_000, &mut next);
    let before = device.totals();
    let end = one_by_one(&mut device, start, 10_000, &mut next);
    let after = device.totals();
    let elapsed = end.since(start).as_secs_f64();
    let busy = (after.station_busy - before.station_busy).as_secs_f64();
    close(busy, 8.0 * elapsed, 0.02);
    let destaged = (after.station_requests - before.station_requests) as f64 / 2.0;
    close(destaged, 10_000.0, 0.02);
}

/// S0.41: a link of 1 Gb/s gives 125 MB/s to RAID 0, 62.5 to two mirrors and 41.7 to three.
#[test]
fn copies_divide_the_link() {
    let fast = VolumeSpec {
        volumes: 1,
        service: SimDuration::from_us(10),
        tail: Tail::Fixed,
        transfer_bytes_per_s: 10_000_000_000,
        link_bytes_per_s: 125_000_000,
        max_request: Bytes::mib(1),
        ..specs::ebs_volume()
    };
    let rate = |op, volumes, raid, copies| {
        let spec = VolumeSpec { volumes, raid, copies, ..fast.clone() };
        stream_bytes_per_s(&mut Device::new(&DeviceSpec::Volumes(spec), 1), op, 500) / 1e6
    };
    close(rate(IoOp::Write, 1, Raid::R0, 1), 125.0, 0.01);
    close(rate(IoOp::Write, 8, Raid::R0, 1), 125.0, 0.01);
    close(rate(IoOp::Write, 2, Raid::R1, 1), 62.5, 0.01);
    close(rate(IoOp::Write, 3, Raid::R1, 1), 41.7, 0.01);
    close(rate(IoOp::Write, 8, Raid::R10, 1), 62.5, 0.01);
    close(rate(IoOp::Write, 1, Raid::R0, 2), 62.5, 0.01);
    close(rate(IoOp::Read, 8, Raid::R10, 1), 125.0, 0.01);
}

/// S0.43: striped writes are as slow as the slowest volume.
#[test]
fn one_slow_volume_slows_the_array() {
    let rate = |slow_volume| {
        let spec = VolumeSpec { slow_volume, ..specs::ebs_raid10() };
        stream_bytes_per_s(&mut Device::new(&DeviceSpec::Volumes(spec), 1), IoOp::Write, 400)
    };
    let healthy = rate(None);
    let degraded = rate(Some((5, 4.0)));
    assert!(degraded < healthy / 2.0, "one volume in eight, {healthy} falls to {degraded} B/s");
}

#[test]
fn random_writes_use_up_erased_blocks_and_rest_wins_them_back() {
    let spec = SsdSpec {
        write_bytes_per_s: 400_000_000,
        steady_write_bytes_per_s: 100_000_000,
        steady_after: Bytes::new(300_000_000),
        ..specs::iodrive_slc()
    };
    let mut device = Device::new(&DeviceSpec::Ssd(spec), 1);
    let mut draw = Draw::new(8, 0);
    let len = 131_072;
    let mut random_bytes_per_s = |device: &mut Device, start: SimTime, bytes: u64| {
        let mut done = vec![start; 8];
        for _ in 0..bytes / len {
            done.sort_unstable();
            done[0] = device.submit(done[0], write(draw.below(1 << 20) * len, len));
        }
        let end = done.into_iter().max().unwrap_or_default();
        (end, bytes as f64 / end.since(start).as_secs_f64())
    };
    // 300 MB of credit at 300 MB/s net: fast for one second, 400 MB.
    let (end, fresh) = random_bytes_per_s(&mut device, SimTime::ZERO, 390_000_000);
    close(fresh, 400e6, 0.02);
    let (end, _) = random_bytes_per_s(&mut device, end, 20_000_000);
    let (end, steady) = random_bytes_per_s(&mut device, end, 200_000_000);
    close(steady, 100e6, 0.02);
    let rested = end + SimDuration::from_ms(1_000);
    let (_, again) = random_bytes_per_s(&mut device, rested, 120_000_000);
    close(again, 400e6, 0.02);
}

#[test]
fn sequential_writes_need_no_erased_blocks() {
    let spec = SsdSpec { steady_after: Bytes::ZERO, ..specs::x25e() };
    let mut device = Device::new(&DeviceSpec::Ssd(spec), 1);
    close(stream_bytes_per_s(&mut device, IoOp::Write, 1_000), 170e6, 0.02);
}

#[test]
fn a_large_request_is_split_over_the_channels() {
    let mut device = Device::new(&DeviceSpec::Ssd(specs::samsung_830()), 1);
    assert_eq!(device.largest_request(), Bytes::kib(128));
    let done = device.submit(SimTime::ZERO, read(0, 6 * 131_072));
    let totals = device.totals();
    assert_eq!((totals.reads, totals.station_requests, device.stations()), (1, 6, 6));
    let interface = totals.interface_busy;
    assert_eq!(done, SimTime::ZERO + interface + SimDuration::from_us(168));
}

#[test]
fn impossible_devices_are_refused_with_the_rule() {
    let odd = DeviceSpec::Hdd(HddSpec { spindles: 7, ..specs::raid10_bbu() });
    assert_eq!(odd.check(), Err("RAID 10 needs an even number of disks"));
    let none = DeviceSpec::Ssd(SsdSpec { channels: 0, ..specs::x25e() });
    assert_eq!(none.check(), Err("a drive has 1 to 1024 channels"));
    let floor = DeviceSpec::Hdd(HddSpec { queue_floor: f64::NAN, ..specs::sas_15k() });
    assert_eq!(floor.check(), Err("the queue floor must lie between 0 and 1"));
    let slow = VolumeSpec { slow_volume: Some((8, 2.0)), ..specs::ebs_raid10() };
    let slow = DeviceSpec::Volumes(slow);
    assert_eq!(slow.check(), Err("the slow volume is not one of the array"));
    for spec in every_kind() {
        assert_eq!(spec.check(), Ok(()));
    }
}

#[cfg(debug_assertions)]
#[test]
#[should_panic(expected = "requests must arrive in time order")]
fn requests_out_of_order_are_a_bug() {
    let mut device = hdd(plain_disk());
    device.submit(SimTime::from_ns(2), read(0, PAGE));
    device.submit(SimTime::from_ns(1), read(0, PAGE));
}
