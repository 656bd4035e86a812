//! The native half of the Python package `fathom`: conversions, and nothing that computes.
//!
//! `fathom/*.py` is what users import; it names options and shows results. Here arguments become
//! those of the libraries, work runs without Python's lock ([`wait`]), results leave as lists or as
//! Arrow arrays ([`arrow`]), and errors as Python's.
#![deny(unsafe_code)]

mod aggregate;
#[allow(unsafe_code)] // pointers of the Arrow C data interface; each block says why it is sound
mod arrow;
mod error;
mod groups;
mod guesses;
mod haversine;
mod partial;
mod source;
mod wait;

use pyo3::prelude::*;

/// The native module.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<groups::Groups>()?;
    module.add_function(wrap_pyfunction!(aggregate::aggregate, module)?)?;
    module.add_function(wrap_pyfunction!(aggregate::columns, module)?)?;
    module.add_function(wrap_pyfunction!(aggregate::part, module)?)?;
    module.add_function(wrap_pyfunction!(aggregate::kept, module)?)?;
    module.add_function(wrap_pyfunction!(aggregate::is_formula, module)?)?;
    module.add_function(wrap_pyfunction!(guesses::foreign, module)?)?;
    module.add_function(wrap_pyfunction!(haversine::haversine, module)?)?;
    module.add_function(wrap_pyfunction!(partial::object, module)?)?;
    module.add_function(wrap_pyfunction!(partial::settle, module)?)?;
    module.add_function(wrap_pyfunction!(partial::plan, module)?)?;
    module.add_function(wrap_pyfunction!(partial::cuts, module)?)?;
    module.add_function(wrap_pyfunction!(partial::partial, module)?)?;
    module.add_function(wrap_pyfunction!(partial::merge, module)?)?;
    module.add_function(wrap_pyfunction!(partial::keys, module)?)?;
    module.add_function(wrap_pyfunction!(partial::split, module)?)?;
    module.add_function(wrap_pyfunction!(partial::finish, module)?)?;
    Ok(())
}
