//! The B+tree against a model, closed forms and its own accounts.

mod determinism;
mod ledger;
mod model;
mod oracles;
mod shape;
mod support;
