//! The change buffer beside the model, and beside the plain B+tree.

mod closed_forms;
mod model;
mod support;
