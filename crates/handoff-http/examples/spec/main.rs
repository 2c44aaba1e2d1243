//! Writes the published description of the API into a folder: `cargo run --example spec -- spec`.

mod files;

use std::{env, error::Error, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args_os().nth(1).map(PathBuf::from).ok_or("name the folder to write to")?;
    let schemas = folder.join("schemas");
    fs::create_dir_all(&schemas)?;
    // What is no longer generated goes.
    for entry in fs::read_dir(&schemas)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            fs::remove_file(path)?;
        }
    }
    for (name, text) in files::all() {
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}
