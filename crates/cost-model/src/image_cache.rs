//! The page cache of the operating system, for files of whole compressed nodes.

use std::collections::BTreeMap;

/// Which images of nodes the operating system keeps in memory under buffered I/O, least recently
/// used first out.
///
/// A copy-on-write file never writes an image twice, so what is written goes to the device at
/// once and stays here clean. Images are kept whole or not at all.
#[derive(Clone, Debug)]
pub struct ImageCache {
    /// When each image was used last, and its bytes, by node.
    images: BTreeMap<u32, (u64, u64)>,
    /// The node of every image by the time of its last use.
    by_age: BTreeMap<u64, u32>,
    uses: u64,
    bytes: u64,
    capacity: u64,
}

impl ImageCache {
    /// An empty cache of `capacity` bytes.
    pub fn new(capacity: u64) -> Self {
        let (images, by_age) = (BTreeMap::new(), BTreeMap::new());
        Self { images, by_age, uses: 0, bytes: 0, capacity }
    }

    /// Uses the image of `node`; tells whether it is here.
    pub fn hit(&mut self, node: u32) -> bool {
        let Some((used, _)) = self.images.get_mut(&node) else { return false };
        self.uses += 1;
        self.by_age.remove(used);
        *used = self.uses;
        self.by_age.insert(self.uses, node);
        true
    }

    /// The image of `node` was read or written whole: it is the youngest now, and the oldest
    /// make room for it.
    pub fn insert(&mut self, node: u32, bytes: u64) {
        self.remove(node);
        self.uses += 1;
        self.images.insert(node, (self.uses, bytes));
        self.by_age.insert(self.uses, node);
        self.bytes += bytes;
        while self.capacity < self.bytes {
            let Some((_, oldest)) = self.by_age.pop_first() else { break };
            let image = self.images.remove(&oldest);
            self.bytes -= image.map_or(0, |(_, bytes)| bytes);
        }
    }

    /// The image of `node` is of no use any more.
    pub fn remove(&mut self, node: u32) {
        if let Some((used, bytes)) = self.images.remove(&node) {
            self.by_age.remove(&used);
            self.bytes -= bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ImageCache;

    #[test]
    fn the_oldest_images_make_room() {
        let mut cache = ImageCache::new(100);
        cache.insert(1, 40);
        cache.insert(2, 40);
        assert!(cache.hit(1));
        cache.insert(3, 50);
        assert!(cache.hit(1) && !cache.hit(2) && cache.hit(3));
        cache.insert(3, 10);
        cache.insert(4, 50);
        assert!(cache.hit(1) && cache.hit(3) && cache.hit(4));
    }
}
