//! The fractal tree against a model, closed forms and the library it describes.

mod model;
mod support;
