//! The memory that this machine has for simulations.

use cost_model::Bytes;

/// Memory that this machine can give to programs; `None` where it does not say.
///
/// Source: proc(5), field `MemAvailable`.
pub fn available() -> Option<Bytes> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes::kib(kib))
}
