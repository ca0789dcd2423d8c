//! Lists of messages that only grow at their end: chunks of 63 with a link, 256 bytes each.
//!
//! A buffer or a leaf that has few messages takes one chunk, and a flush gives all chunks of the
//! buffer back, so that memory follows the number of messages.

use bytemuck::{Pod, Zeroable};
use cost_model::HugeVec;

use crate::message::Message;

/// Messages in a chunk; with the link it fills four cache lines.
const CHUNK: u32 = 63;
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Chunk {
    messages: [u32; CHUNK as usize],
    next: u32,
}

/// A list, whose messages are in [`Chunks`]. Dropping it without [`Chunks::clear`] loses chunks.
#[derive(Debug)]
pub(crate) struct List {
    first: u32,
    last: u32,
    len: u32,
}

/// The chunks of all lists.
pub(crate) struct Chunks {
    all: HugeVec<Chunk>,
    free: u32,
    used: u64,
}

impl List {
    pub(crate) const fn new() -> Self {
        Self { first: NONE, last: NONE, len: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }
}

impl Chunks {
    /// Room for about so many messages before the arena must move.
    pub(crate) fn new(messages: usize) -> Self {
        Self { all: HugeVec::with_capacity(messages / 60 + 1_024), free: NONE, used: 0 }
    }

    #[inline]
    pub(crate) fn push(&mut self, list: &mut List, message: Message) {
        let slot = list.len % CHUNK;
        if slot == 0 {
            let chunk = self.new_chunk();
            if list.len == 0 {
                list.first = chunk;
            } else {
                self.all[list.last as usize].next = chunk;
            }
            list.last = chunk;
        }
        self.all[list.last as usize].messages[slot as usize] = message.0;
        list.len += 1;
    }

    /// Asks the processor to load the place where the next message goes.
    #[inline]
    pub(crate) fn prefetch_end(&self, list: &List) {
        if list.last != NONE {
            let slot = (list.len % CHUNK) as usize;
            cost_model::prefetch(&raw const self.all[list.last as usize].messages[slot]);
        }
    }

    /// Calls `visit` with every message, oldest first.
    #[inline]
    pub(crate) fn for_each(&self, list: &List, mut visit: impl FnMut(Message)) {
        let (mut left, mut chunk) = (list.len, list.first);
        while 0 < left {
            let here = left.min(CHUNK);
            let messages = &self.all[chunk as usize];
            messages.messages[..here as usize].iter().for_each(|message| visit(Message(*message)));
            left -= here;
            chunk = messages.next;
        }
    }

    /// Empties a list.
    pub(crate) fn clear(&mut self, list: &mut List) {
        if 0 < list.len {
            self.all[list.last as usize].next = self.free;
            self.free = list.first;
            self.used -= u64::from(list.len.div_ceil(CHUNK));
        }
        *list = List::new();
    }

    /// Moves all messages of a list into `out`, oldest first.
    pub(crate) fn drain(&mut self, list: &mut List, out: &mut Vec<Message>) {
        out.clear();
        self.for_each(list, |message| out.push(message));
        self.clear(list);
    }

    /// Chunks that some list has now.
    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    /// Chunks that a list of so many messages has.
    pub(crate) fn chunks_of(list: &List) -> u64 {
        u64::from(list.len.div_ceil(CHUNK))
    }

    fn new_chunk(&mut self) -> u32 {
        self.used += 1;
        if self.free == NONE {
            self.all.push(Chunk { messages: [0; CHUNK as usize], next: NONE });
            return self.all.len() as u32 - 1;
        }
        let chunk = self.free;
        self.free = self.all[chunk as usize].next;
        chunk
    }
}

#[cfg(test)]
mod tests {
    use super::{Chunks, List, Message};

    #[test]
    fn lists_keep_their_order_and_give_chunks_back() {
        let mut chunks = Chunks::new(0);
        let (mut a, mut b) = (List::new(), List::new());
        for number in 0..200 {
            chunks.push(&mut a, Message(number));
            chunks.push(&mut b, Message(1_000 + number));
        }
        let mut out = Vec::new();
        chunks.drain(&mut a, &mut out);
        assert_eq!(out, (0..200).map(Message).collect::<Vec<_>>());
        assert_eq!((a.len(), chunks.used()), (0, 4));
        for number in 0..200 {
            chunks.push(&mut a, Message(number));
        }
        chunks.drain(&mut b, &mut out);
        assert_eq!(out, (1_000..1_200).map(Message).collect::<Vec<_>>());
        assert_eq!((chunks.used(), chunks.all.len()), (4, 8));
    }
}
