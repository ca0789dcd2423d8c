//! Plain B+tree.
