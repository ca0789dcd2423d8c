//! Sharp copy-on-write checkpoints.

use cost_model::{Bytes, Machine, Purpose, SimTime};
use index::KeySource;

use crate::engine::FractalTree;
use crate::node::{Body, Image};

impl<K: KeySource> FractalTree<K> {
    /// Begins a sharp checkpoint: every dirty node will be written as it is now. The writes
    /// follow one another from `now` on, beside what clients do.
    pub(crate) fn begin_checkpoint(&mut self, machine: &mut Machine, now: SimTime) {
        // The last one need not be through if a client asks for this one.
        self.write_rest(machine, now);
        self.end_checkpoint(machine);
        let residents: Vec<u32> = self.store.cache.residents().collect();
        for number in residents {
            if self.store.cache.is_dirty(number) {
                let (image, compress) = self.place_image(number);
                self.store.writers.submit(now, compress);
                let node = &self.nodes[number as usize];
                let height = usize::from(node.height);
                let index = node.index as usize;
                let counters = &mut self.trees[index].counters;
                counters.checkpoint_writes[height] += 1;
                counters.checkpoint_write_bytes[height] += image.bytes;
                self.store.unwritten.push_back(image);
                self.store.cache.set_dirty(number, false);
                if let Body::Leaf(leaf) = &mut self.nodes[number as usize].body {
                    leaf.put_in_order(&self.trees[index].sizes);
                }
                self.resize(number);
            }
            if let Body::Internal(internal) = &mut self.nodes[number as usize].body
                && !internal.compressed
            {
                for edge in &mut internal.edges {
                    edge.flow = [0, edge.flow[0]];
                }
            }
        }
        self.store.epoch += 1;
        self.store.checkpoint_from = Some(machine.log_end());
        self.store.doomed = std::mem::take(&mut self.store.retired);
        self.store.checkpoint_free_at = now;
        self.continue_checkpoint(machine, now);
    }

    /// Writes the images of the checkpoint under way that its writer can take by `now`; when all
    /// are written it is through.
    pub(crate) fn continue_checkpoint(&mut self, machine: &mut Machine, now: SimTime) {
        while self.store.checkpoint_goes_on_at() <= now {
            match self.store.unwritten.pop_front() {
                Some(image) => self.write_for_checkpoint(machine, now, image),
                None => self.end_checkpoint(machine),
            }
        }
    }

    /// Hands what is left of it to the device at once.
    pub(crate) fn write_rest(&mut self, machine: &mut Machine, now: SimTime) {
        let mut written = now.max(self.store.checkpoint_free_at);
        while let Some(image) = self.store.unwritten.pop_front() {
            self.write_for_checkpoint(machine, now, image);
            written = written.max(self.store.checkpoint_free_at);
        }
        self.store.checkpoint_free_at = written;
    }

    fn write_for_checkpoint(&mut self, machine: &mut Machine, now: SimTime, image: Image) {
        let (offset, bytes) = (image.extent.offset, Bytes::new(image.bytes));
        self.store.checkpoint_free_at =
            machine.transfer_block(now, Purpose::Checkpoint, offset, bytes);
    }

    fn end_checkpoint(&mut self, machine: &mut Machine) {
        if let Some(from) = self.store.checkpoint_from.take() {
            machine.checkpoint_done(from);
        }
        for extent in std::mem::take(&mut self.store.doomed) {
            self.store.extents.free(extent);
        }
    }
}
