//! What an index stores, in bytes of column data. Page formats add their own overhead.

/// The stored columns of one index of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexShape {
    /// Name, as the table definition has it.
    pub name: String,
    /// Whether this index holds the rows themselves.
    pub clustered: bool,
    /// Bytes of all columns an entry stores: the whole row in a clustered index, the indexed
    /// columns and the primary key in a secondary one.
    pub entry_bytes: u32,
    /// Bytes of the columns that identify an entry in the tree, primary key included.
    pub key_bytes: u32,
    /// How many of the stored columns may be null.
    pub nullable_columns: u32,
    /// How many of the stored columns vary in length (one length byte each).
    pub variable_columns: u32,
}
