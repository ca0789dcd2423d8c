//! Identifiers that must not be mixed up.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $letter:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// No such thing.
            pub const NONE: Self = Self(u32::MAX);

            /// The number as an array index.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Whether this is [`Self::NONE`].
            #[inline]
            pub const fn is_none(self) -> bool {
                self.0 == u32::MAX
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if self.is_none() { write!(f, "{}-", $letter) } else { write!(f, "{}{}", $letter, self.0) }
            }
        }
    };
}

id! {
    /// A page of the data files: its number is its place on the device, counted in pages.
    PageId, "p"
}

id! {
    /// A frame of the buffer pool.
    FrameId, "f"
}
