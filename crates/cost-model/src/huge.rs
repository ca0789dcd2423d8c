//! Growable arrays of plain records, in huge memory pages where the system grants them.
//!
//! A run touches its big arrays at random. With 4 KiB memory pages every touch also misses the
//! address translation cache; `madvise(MADV_HUGEPAGE)` makes that rare. Address space for
//! `capacity` records is reserved at once and filled by the kernel when first touched, so a
//! generous capacity costs nothing.
#![expect(unsafe_code, reason = "a typed view of an anonymous mapping, and cache prefetches")]

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use bytemuck::Pod;
use memmap2::{MmapMut, MmapOptions};

/// A vector whose elements are plain old data in an anonymous mapping.
pub struct HugeVec<T> {
    map: MmapMut,
    len: usize,
    _element: PhantomData<T>,
}

impl<T: Pod> HugeVec<T> {
    /// An empty vector with room for `capacity` elements before it must move.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { map: reserve::<T>(capacity.max(1)), len: 0, _element: PhantomData }
    }

    /// Appends one element.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.len == self.capacity() {
            self.grow(self.len + 1);
        }
        self.len += 1;
        let last = self.len - 1;
        self[last] = value;
    }

    /// Lengthens the vector to `len` elements, the new ones being `value`.
    pub fn extend_to(&mut self, len: usize, value: T) {
        if self.capacity() < len {
            self.grow(len);
        }
        let from = self.len;
        self.len = self.len.max(len);
        self[from..].fill(value);
    }

    /// Asks the processor to load element `index` soon; out of range is ignored.
    #[inline]
    pub fn prefetch(&self, index: usize) {
        if index < self.len {
            prefetch(&raw const self[index]);
        }
    }

    fn capacity(&self) -> usize {
        self.map.len() / size_of::<T>()
    }

    fn grow(&mut self, least: usize) {
        let mut larger = reserve::<T>(least.max(self.capacity() * 2));
        let used = self.len * size_of::<T>();
        larger[..used].copy_from_slice(&self.map[..used]);
        self.map = larger;
    }
}

impl<T: Pod> Deref for HugeVec<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the mapping is page aligned and holds `len` elements, each of which is plain
        // data for which every bit pattern (fresh memory is zero) is valid.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast::<T>(), self.len) }
    }
}

impl<T: Pod> DerefMut for HugeVec<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `deref`, and the mapping is private to this vector.
        unsafe { std::slice::from_raw_parts_mut(self.map.as_mut_ptr().cast::<T>(), self.len) }
    }
}

fn reserve<T>(elements: usize) -> MmapMut {
    let map = MmapOptions::new()
        .len(elements * size_of::<T>())
        .no_reserve_swap()
        .map_anon()
        .unwrap_or_else(|error| panic!("cannot reserve address space: {error}"));
    #[cfg(target_os = "linux")]
    {
        // A refusal only costs speed.
        let _ = map.advise(memmap2::Advice::HugePage);
    }
    map
}

/// Asks the processor to load the cache line at `address` soon.
#[inline]
pub fn prefetch<T>(address: *const T) {
    // SAFETY: a prefetch never faults, whatever the address.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::HugeVec;

    #[test]
    fn grows_and_keeps_its_elements() {
        let mut numbers = HugeVec::<u32>::with_capacity(2);
        for n in 0..100_000 {
            numbers.push(n);
        }
        numbers.extend_to(100_010, 7);
        assert!(numbers[..100_000].iter().enumerate().all(|(i, n)| i as u32 == *n));
        assert_eq!(numbers[100_000..], [7; 10]);
    }
}
