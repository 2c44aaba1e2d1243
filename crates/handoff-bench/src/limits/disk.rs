//! How often a second the disk says that a page is safe.

use std::{fs::File, io::Write as _, path::Path, time::Duration};

use super::again;
use crate::{error::BenchError, outcome::Measurement};

pub(super) fn measure(place: &Path, time: Duration) -> Result<Measurement, BenchError> {
    let failed = || BenchError::system("a file cannot be written");
    let mut file = File::create(place.join("pages")).map_err(failed())?;
    again("limit: page written and synced", time, || {
        file.write_all(&[7; 4096]).map_err(failed())?;
        file.sync_data().map_err(failed())
    })
}
