//! Studies: many runs that differ in a few values, and what they say together.
//!
//! A [`Study`] is a scenario file with a table `[study]`. Its [`Plan`] is the list of its points,
//! each a scenario. A [`Journal`] is the folder in which the results gather: the plan is written
//! first and not changed, every finished point is a line of its own, so that a sweep that was
//! killed goes on where it was. What a [`report`] writes depends on the plan and the results
//! alone.

pub mod journal;
mod measure;
mod plan;
pub mod report;
mod study;
mod table;

pub use journal::{Journal, JournalError};
pub use measure::{Measure, Summary};
pub use plan::{Kept, Plan, Point};
pub use study::{Axis, Choice, Design, Study, Vary};
