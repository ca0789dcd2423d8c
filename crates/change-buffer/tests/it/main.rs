//! The change buffer beside the model, and beside the plain B+tree.

mod model;
mod support;
