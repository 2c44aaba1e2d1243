//! Files that are read whole, `-` for standard input.

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

use crate::failure::Failure;

/// What messages call a file.
pub(crate) fn name(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { format!("`{}`", path.display()) }
}

/// The bytes of a file.
///
/// # Errors
///
/// One line that names the file.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(|error| Failure::failed(format!("standard input cannot be read: {error}")))?;
        return Ok(bytes);
    }
    fs::read(path).map_err(|error| Failure::failed(format!("`{}` cannot be read: {error}", path.display())))
}
