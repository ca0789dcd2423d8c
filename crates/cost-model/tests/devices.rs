//! The storage devices against published figures, closed forms and their own rules.

#[path = "devices/figures.rs"]
mod figures;
#[path = "devices/rules.rs"]
mod rules;
#[path = "devices/shared.rs"]
mod shared;
#[path = "devices/specs.rs"]
mod specs;
