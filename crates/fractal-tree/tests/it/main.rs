//! The fractal tree against a model, closed forms and the library it describes.

mod measured;
mod model;
mod oracles;
mod support;
