//! Nodes between memory and file: reads, evictions, copy-on-write, checkpoints.

use std::collections::VecDeque;

use cost_model::{
    Bytes, Cause, Extent, Extents, ImageCache, Lsn, Machine, NodeCache, Purpose, SimDuration,
    SimThread, SimTime, Station, Step,
};
use index::KeySource;

use crate::config::FractalConfig;
use crate::engine::FractalTree;
use crate::node::{Body, Image};
use crate::parts::Parts;

/// Where nodes are, and what is under way between the cache and the file.
pub(crate) struct Store {
    pub(crate) cache: NodeCache,
    pub(crate) extents: Extents,
    pub(crate) images: Option<ImageCache>,
    /// Extents given up that the last checkpoint begun refers to.
    pub(crate) retired: Vec<Extent>,
    /// Extents given up that only the checkpoint before it refers to.
    pub(crate) doomed: Vec<Extent>,
    /// Checkpoints begun so far.
    pub(crate) epoch: u64,
    /// Images of the checkpoint under way that are not written yet.
    pub(crate) unwritten: VecDeque<Image>,
    /// When the checkpoint's writer can take the next image.
    pub(crate) checkpoint_free_at: SimTime,
    pub(crate) next_checkpoint: SimTime,
    /// The end of the redo log when the checkpoint under way began.
    pub(crate) checkpoint_from: Option<Lsn>,
    pub(crate) writers: Station,
    pub(crate) flushers: Station,
    /// Where the cleaner looks next.
    pub(crate) cleaner_hand: u32,
    pub(crate) next_cleaning: SimTime,
}

/// When a node that was asked for can be used, and what it costs to make it so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fetched {
    pub(crate) ready: SimTime,
    pub(crate) cpu: SimDuration,
    /// Whether something had to be read from the device.
    pub(crate) was_read: bool,
}

impl Store {
    pub(crate) fn new(config: &FractalConfig) -> Self {
        let first = |period: Option<SimDuration>| {
            period.map_or(SimTime::NEVER, |period| SimTime::ZERO + period)
        };
        Self {
            cache: NodeCache::new(config.cache.clone()),
            extents: Extents::new(u64::from(config.format.alignment)),
            images: config.os_cache_bytes.map(ImageCache::new),
            retired: Vec::new(),
            doomed: Vec::new(),
            epoch: 0,
            unwritten: VecDeque::new(),
            checkpoint_free_at: SimTime::ZERO,
            next_checkpoint: first(config.checkpoint_period),
            checkpoint_from: None,
            writers: Station::new(config.writer_threads.max(1) as usize),
            flushers: Station::new(config.flusher_threads.max(1) as usize),
            cleaner_hand: 0,
            next_cleaning: first(config.cleaner.map(|cleaner| cleaner.period)),
        }
    }

    /// When the checkpoint under way wants to write on, or has nothing left to write; never if
    /// there is none.
    pub(crate) fn checkpoint_goes_on_at(&self) -> SimTime {
        if self.checkpoint_from.is_none() { SimTime::NEVER } else { self.checkpoint_free_at }
    }

    /// Bytes from the start of the file to its last extent.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.extents.file_bytes()
    }
}

/// `price` for every KiB of `bytes`.
pub(crate) fn per_kib(price: SimDuration, bytes: u64) -> SimDuration {
    price.scaled(bytes as f64 / 1024.0)
}

impl<K: KeySource> FractalTree<K> {
    /// Brings all of a node into memory; says when it can be used.
    ///
    /// Whoever brings messages reads the header first and then every part (`by_parts`), so that
    /// the beginning of the node is read twice; a query reads an internal node in one go
    /// (`PerconaFT` source, ft-flusher.cc, `bring_node_fully_into_memory`).
    pub(crate) fn fetch(
        &mut self,
        machine: &mut Machine,
        now: SimTime,
        number: u32,
        by_parts: bool,
    ) -> Fetched {
        if self.store.cache.is_resident(number) {
            self.complete(machine, now, number)
        } else {
            self.read_whole(machine, now, number, by_parts)
        }
    }

    fn read_whole(
        &mut self,
        machine: &mut Machine,
        now: SimTime,
        number: u32,
        by_parts: bool,
    ) -> Fetched {
        let node = &self.nodes[number as usize];
        let (index, height) = (node.index as usize, usize::from(node.height));
        let image = node.image.expect("a node that is not in memory was written");
        let purpose = if height == 0 { Purpose::LeafRead } else { Purpose::NodeRead };
        let header = image.bytes.min(u64::from(self.config.format.header_bytes));
        let bytes = image.bytes + if by_parts { header } else { 0 };
        let counters = &mut self.trees[index].counters;
        counters.fetches[height] += 1;
        counters.read_bytes[height] += bytes;
        let mut fetched = self.read(machine, now, number, purpose, image, bytes);
        let prices = &self.config.prices;
        let sizes = &self.trees[index].sizes;
        let node = &mut self.nodes[number as usize];
        let (serialized, items) = match &mut node.body {
            Body::Leaf(leaf) => {
                leaf.make_whole();
                leaf.lay_out_as_read(sizes);
                (leaf.bytes_collected(sizes), u64::from(leaf.len()))
            }
            Body::Internal(internal) => {
                internal.touched = true;
                internal.lay_out_as_read(sizes);
                let messages = internal.edges.iter().map(|edge| u64::from(edge.messages.len()));
                (internal.bytes, messages.sum())
            }
            Body::Gone => unreachable!("node {number} is gone"),
        };
        fetched.cpu += per_kib(prices.decompress_kib, serialized) + prices.deserialize * items;
        let bytes = self.bytes_in_memory(number);
        self.store.cache.enter(number, bytes, false);
        self.store.cache.set_busy(number, fetched.ready);
        fetched
    }

    /// Reads what is missing of a node that is in memory in part.
    fn complete(&mut self, machine: &mut Machine, now: SimTime, number: u32) -> Fetched {
        let ready = self.store.cache.busy_until(number).max(now);
        let mut fetched = Fetched { ready, cpu: SimDuration::ZERO, was_read: false };
        let prices = self.config.prices.clone();
        let node = &mut self.nodes[number as usize];
        let index = node.index as usize;
        match &mut node.body {
            Body::Leaf(leaf) if !leaf.parts.is_whole() => {
                let (missing, count) = (leaf.parts.missing(), leaf.parts.count);
                let share = f64::from(missing) / f64::from(count);
                leaf.collect_some((f64::from(leaf.len() - leaf.collected()) * share) as u32);
                leaf.make_whole();
                leaf.put_in_order(&self.trees[index].sizes);
                if 0 < missing {
                    let items = (f64::from(leaf.len()) * share) as u64;
                    let serialized = leaf.bytes_collected(&self.trees[index].sizes) as f64 * share;
                    let image = node.image.expect("a node in memory in part was written");
                    let bytes = ((image.bytes as f64 * share) as u64).max(1);
                    self.trees[index].counters.read_bytes[0] += bytes;
                    fetched = self.read(machine, now, number, Purpose::LeafRead, image, bytes);
                    fetched.ready = fetched.ready.max(ready);
                    fetched.cpu += per_kib(prices.decompress_kib, serialized as u64)
                        + prices.deserialize * items;
                    self.store.cache.set_busy(number, fetched.ready);
                }
            }
            Body::Internal(internal) => {
                internal.touched = true;
                if !internal.compressed {
                    return fetched;
                }
                internal.compressed = false;
                internal.lay_out_as_read(&self.trees[index].sizes);
                fetched.cpu += per_kib(prices.decompress_kib, internal.bytes);
            }
            Body::Leaf(leaf) => {
                leaf.parts.touched = u128::MAX;
                return fetched;
            }
            Body::Gone => unreachable!("node {number} is gone"),
        }
        self.resize(number);
        fetched
    }

    /// Brings a leaf's header into memory, for a query.
    pub(crate) fn fetch_header(
        &mut self,
        machine: &mut Machine,
        now: SimTime,
        number: u32,
    ) -> Fetched {
        if self.store.cache.is_resident(number) {
            let ready = self.store.cache.busy_until(number).max(now);
            return Fetched { ready, cpu: SimDuration::ZERO, was_read: false };
        }
        let image = self.nodes[number as usize].image.expect("an absent node was written");
        let bytes = image.bytes.min(u64::from(self.config.format.header_bytes));
        let index = self.nodes[number as usize].index as usize;
        let counters = &mut self.trees[index].counters;
        counters.fetches[0] += 1;
        counters.read_bytes[0] += bytes;
        let fetched = self.read(machine, now, number, Purpose::BasementRead, image, bytes);
        let count = self.basements(number);
        let leaf = self.nodes[number as usize].leaf_mut();
        leaf.parts = Parts::none_of(count);
        leaf.lay_out_as_read(&self.trees[index].sizes);
        let bytes = self.bytes_in_memory(number);
        self.store.cache.enter(number, bytes, false);
        self.store.cache.set_busy(number, fetched.ready);
        fetched
    }

    /// Brings a basement of a leaf whose header is in memory there too, for a query, and those
    /// after it up to `last`.
    pub(crate) fn fetch_basements(
        &mut self,
        machine: &mut Machine,
        now: SimTime,
        number: u32,
        basement: u32,
        last: u32,
    ) -> Fetched {
        let ready = self.store.cache.busy_until(number).max(now);
        let node = &mut self.nodes[number as usize];
        let (index, image) = (node.index as usize, node.image);
        let leaf = node.leaf_mut();
        if leaf.parts.has(basement) {
            leaf.parts.touched |= 1 << basement;
            return Fetched { ready, cpu: SimDuration::ZERO, was_read: false };
        }
        let missing = leaf.parts.read(basement, last);
        let count = u64::from(leaf.parts.count);
        let of_missing = |all: u64| all * u64::from(missing) / count;
        let versioned = u64::from(leaf.len() - leaf.collected());
        leaf.collect_some(of_missing(versioned) as u32);
        leaf.put_in_order(&self.trees[index].sizes);
        let items = of_missing(u64::from(leaf.len()));
        let serialized = of_missing(leaf.bytes_collected(&self.trees[index].sizes));
        let image = image.expect("a node in memory in part was written");
        let bytes = of_missing(image.bytes).max(1);
        self.trees[index].counters.basements_read[0] += u64::from(missing);
        self.trees[index].counters.read_bytes[0] += bytes;
        let mut fetched = self.read(machine, now, number, Purpose::BasementRead, image, bytes);
        let prices = &self.config.prices;
        fetched.cpu += per_kib(prices.decompress_kib, serialized) + prices.deserialize * items;
        self.store.cache.set_busy(number, fetched.ready);
        self.resize(number);
        fetched
    }

    /// Reads what of a leaf is not in memory while nobody waits for it, unless clients wait for
    /// room.
    pub(crate) fn read_ahead(&mut self, machine: &mut Machine, now: SimTime, number: u32) {
        let (is_resident, count) =
            (self.store.cache.is_resident(number), self.basements(number).clamp(1, Parts::MAX));
        let parts = &self.nodes[number as usize].leaf().parts;
        let (missing, touched) =
            if is_resident { (u64::from(parts.missing()), parts.touched) } else { (count, 0) };
        if is_resident {
            self.store.cache.touch(number);
        }
        if missing == 0 || self.store.cache.is_full() {
            return;
        }
        let index = self.nodes[number as usize].index as usize;
        self.trees[index].counters.basements_read[0] += missing;
        let fetched = self.fetch(machine, now, number, true);
        self.nodes[number as usize].leaf_mut().parts = Parts::all_of(count, touched);
        let computed = self.store.flushers.submit(now, fetched.cpu);
        self.store.cache.set_busy(number, computed.max(fetched.ready + fetched.cpu));
    }

    fn read(
        &mut self,
        machine: &mut Machine,
        now: SimTime,
        number: u32,
        purpose: Purpose,
        image: Image,
        bytes: u64,
    ) -> Fetched {
        let mut cpu = machine.prices().page_read;
        if let Some(images) = &mut self.store.images {
            cpu += per_kib(self.config.prices.copy_kib, bytes);
            if images.hit(number) {
                return Fetched { ready: now, cpu, was_read: false };
            }
            if image.bytes <= bytes {
                images.insert(number, image.bytes);
            }
        }
        let (offset, bytes) = (image.extent.offset, Bytes::new(bytes));
        let ready = machine.transfer_block(now, purpose, offset, bytes);
        Fetched { ready, cpu, was_read: true }
    }

    /// Has `thread` wait until it may use all of a node, and keeps that for its operation.
    ///
    /// # Errors
    /// [`Blocked`](cost_model::Blocked) if the thread had to wait.
    pub(crate) fn pin(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        number: u32,
    ) -> Step {
        if self.store.cache.is_resident(number)
            && self.store.cache.busy_until(number) <= thread.now()
            && self.is_complete(number)
        {
            // Nobody evicts anything while this operation does not wait.
            return Ok(());
        }
        let fetched = self.fetch(machine, thread.now(), number, false);
        self.wait_for(machine, thread, number, fetched)
    }

    /// Has `thread` wait for what it has fetched, and keeps the node for its operation.
    ///
    /// # Errors
    /// [`Blocked`](cost_model::Blocked) if the thread had to wait.
    pub(crate) fn wait_for(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        number: u32,
        fetched: Fetched,
    ) -> Step {
        self.store.cache.hold(thread, number);
        if fetched.ready <= thread.now() && fetched.cpu == SimDuration::ZERO {
            return Ok(());
        }
        let cause = if fetched.was_read { Cause::Read } else { Cause::Lock };
        self.hold_path(thread);
        let blocked = thread.wait_until(fetched.ready, cause);
        machine.compute(thread, fetched.cpu);
        Err(blocked)
    }

    /// Whether all of a node that is in memory is there, ready for use.
    #[inline]
    pub(crate) fn is_complete(&self, number: u32) -> bool {
        match &self.nodes[number as usize].body {
            Body::Leaf(leaf) => leaf.parts.is_whole(),
            Body::Internal(internal) => !internal.compressed,
            Body::Gone => false,
        }
    }

    /// The cache learns how big a node is now.
    #[inline]
    pub(crate) fn resize(&mut self, number: u32) {
        let bytes = self.bytes_in_memory(number);
        self.store.cache.resize(number, bytes);
    }

    #[inline]
    fn bytes_in_memory(&self, number: u32) -> u64 {
        let node = &self.nodes[number as usize];
        let sizes = &self.trees[node.index as usize].sizes;
        match &node.body {
            Body::Leaf(leaf) => leaf.bytes_in_memory(sizes),
            Body::Internal(internal) => {
                if internal.compressed {
                    (internal.bytes as f64 / self.config.format.memory_compression) as u64
                } else {
                    sizes.node_in_memory(internal.bytes, internal.allocated)
                }
            }
            Body::Gone => 0,
        }
    }

    /// Basements of a leaf in the file.
    pub(crate) fn basements(&self, number: u32) -> u64 {
        let node = &self.nodes[number as usize];
        let sizes = &self.trees[node.index as usize].sizes;
        sizes.basements(sizes.entries(u64::from(node.leaf().len()), 0))
    }
}
