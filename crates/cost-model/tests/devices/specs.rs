//! The devices of the articles and their time. What a figure's source leaves open (a seek time, a
//! channel count) is assumed within the data sheets of the day.

use cost_model::device::{HddSpec, Raid, SsdSpec, Tail, VolumeSpec};
use cost_model::{Bytes, SimDuration};

/// 2.5" SAS, 15,000 rpm: 2 ms to half a turn, 200 reads/s.
pub(crate) fn sas_15k() -> HddSpec {
    HddSpec {
        spindles: 1,
        raid: Raid::R0,
        stripe: Bytes::kib(64),
        seek: SimDuration::from_us(2_850),
        rotation: SimDuration::from_ms(4),
        transfer_bytes_per_s: 110_000_000,
        queue_floor: 0.48,
        queue_max: 64,
        write_cache: Bytes::ZERO,
        sync_latency: SimDuration::ZERO,
        destage_depth: 8,
        journal_seek: None,
        max_request: Bytes::kib(256),
    }
}

/// 2.5" SAS, 10,000 rpm.
pub(crate) fn sas_10k() -> HddSpec {
    HddSpec {
        seek: SimDuration::from_us(3_980),
        rotation: SimDuration::from_ms(6),
        transfer_bytes_per_s: 100_000_000,
        ..sas_15k()
    }
}

/// 3.5" SATA, 7,200 rpm, write cache off or flushed.
pub(crate) fn sata_7k() -> HddSpec {
    HddSpec {
        seek: SimDuration::from_us(8_500),
        rotation: SimDuration::from_ns(8_333_333),
        transfer_bytes_per_s: 105_000_000,
        queue_max: 32,
        ..sas_15k()
    }
}

/// 8 x 15K behind a controller with 512 MB of battery-backed cache.
pub(crate) fn raid10_bbu() -> HddSpec {
    HddSpec {
        spindles: 8,
        raid: Raid::R10,
        write_cache: Bytes::mib(512),
        sync_latency: SimDuration::from_us(186),
        ..sas_15k()
    }
}

/// 6 x 10K, RAID 0, 256 MB of battery-backed cache.
pub(crate) fn raid0_six() -> HddSpec {
    HddSpec {
        spindles: 6,
        write_cache: Bytes::mib(256),
        sync_latency: SimDuration::from_us(200),
        ..sas_10k()
    }
}

/// 8 x 15K, RAID 0, 512 MB of battery-backed cache.
pub(crate) fn raid0_eight() -> HddSpec {
    HddSpec { raid: Raid::R0, sync_latency: SimDuration::from_us(200), ..raid10_bbu() }
}

/// One standard EBS volume of 2012 on an instance link of about 1 Gb/s.
pub(crate) fn ebs_volume() -> VolumeSpec {
    VolumeSpec {
        volumes: 1,
        raid: Raid::R0,
        stripe: Bytes::kib(64),
        service: SimDuration::from_us(8_600),
        tail: Tail::Exponential,
        transfer_bytes_per_s: 100_000_000,
        queue_floor: 0.48,
        queue_max: 64,
        link_bytes_per_s: 120_000_000,
        copies: 1,
        slow_volume: None,
        sync_latency: SimDuration::ZERO,
        max_request: Bytes::kib(44),
    }
}

/// 8 standard EBS volumes in software RAID 10.
pub(crate) fn ebs_raid10() -> VolumeSpec {
    VolumeSpec { volumes: 8, raid: Raid::R10, ..ebs_volume() }
}

/// `FusionIO` `ioDrive` 160 GB SLC formatted to 120 GB: spare space keeps its writes steady.
pub(crate) fn iodrive_slc() -> SsdSpec {
    SsdSpec {
        channels: 4,
        read_latency: SimDuration::from_us(88),
        write_latency: SimDuration::from_us(90),
        sync_latency: SimDuration::from_us(17),
        read_bytes_per_s: 735_000_000,
        write_bytes_per_s: 600_000_000,
        steady_write_bytes_per_s: 600_000_000,
        steady_after: Bytes::ZERO,
        max_request: Bytes::kib(128),
    }
}

/// `FusionIO` `ioDrive` 320 GB MLC, full.
pub(crate) fn iodrive_mlc() -> SsdSpec {
    SsdSpec {
        channels: 8,
        read_latency: SimDuration::from_us(110),
        read_bytes_per_s: 700_000_000,
        write_bytes_per_s: 500_000_000,
        steady_write_bytes_per_s: 115_000_000,
        steady_after: Bytes::new(288_000_000_000),
        ..iodrive_slc()
    }
}

/// Intel X25-E 32 GB, write cache on, barriers on. A 16 KiB request occupies about half of its
/// ten flash channels, so it serves two at once.
pub(crate) fn x25e() -> SsdSpec {
    SsdSpec {
        channels: 2,
        read_latency: SimDuration::from_us(140),
        write_latency: SimDuration::from_us(85),
        sync_latency: SimDuration::from_ms(20),
        read_bytes_per_s: 250_000_000,
        write_bytes_per_s: 170_000_000,
        steady_write_bytes_per_s: 57_000_000,
        steady_after: Bytes::gib(4),
        max_request: Bytes::kib(128),
    }
}

/// Intel X25-E without barriers: its syncs do not reach the flash.
pub(crate) fn x25e_unsafe() -> SsdSpec {
    SsdSpec { sync_latency: SimDuration::from_us(100), ..x25e() }
}

/// Samsung 830 256 GB.
pub(crate) fn samsung_830() -> SsdSpec {
    SsdSpec {
        channels: 6,
        read_latency: SimDuration::from_us(168),
        write_latency: SimDuration::from_us(200),
        sync_latency: SimDuration::from_us(5_000),
        read_bytes_per_s: 520_000_000,
        write_bytes_per_s: 400_000_000,
        steady_write_bytes_per_s: 339_000_000,
        steady_after: Bytes::gib(8),
        max_request: Bytes::kib(128),
    }
}
