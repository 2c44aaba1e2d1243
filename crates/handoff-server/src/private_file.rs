//! Files that only their owner may read: keys.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

use handoff_protocol::secret::Secret;

/// The most that is read of such a file; a key is far smaller.
const LIMIT: u64 = 64 * 1024;

/// A private file could not be read or written. Its content is never repeated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrivateFileError {
    /// Others than the owner may read it, so what it holds is no secret.
    #[error(
        "`{0}` can be read by others than its owner: run `chmod 600 {0}`, and replace the file if somebody may have read it"
    )]
    NotPrivate(PathBuf),
    /// It is no text, or far too long.
    #[error("`{0}` does not hold the text that is expected in it")]
    NotText(PathBuf),
    /// The file system refused.
    #[error("`{path}`: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the file system said.
        #[source]
        error: io::Error,
    },
}

/// Reads a file, or nothing if there is none.
///
/// # Errors
///
/// [`PrivateFileError`]; on Unix also when others than the owner may read it.
pub fn read(path: &Path) -> Result<Option<Secret<String>>, PrivateFileError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(path, error)),
    };
    if !is_private(&file).map_err(|error| failed(path, error))? {
        return Err(PrivateFileError::NotPrivate(path.to_path_buf()));
    }
    let mut text = String::with_capacity(1024);
    match file.take(LIMIT).read_to_string(&mut text) {
        Ok(_) => Ok(Some(Secret::new(text))),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(PrivateFileError::NotText(path.to_path_buf())),
        Err(error) => Err(failed(path, error)),
    }
}

/// Makes a file that is there as a whole or not at all. Tells whether it was made: a file that exists already stays as
/// it is, so of several processes that do this at once, one succeeds and all can read what it wrote.
///
/// # Errors
///
/// [`PrivateFileError`] if the file system refuses.
pub fn create(path: &Path, text: &Secret<String>) -> Result<bool, PrivateFileError> {
    let draft = Draft::write(path, text)?;
    match fs::hard_link(&draft.path, path) {
        Ok(()) => {
            sync_directory(path);
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(path, error)),
    }
}

/// Writes a file in place of whatever is there, as a whole or not at all.
///
/// # Errors
///
/// [`PrivateFileError`] if the file system refuses.
pub fn replace(path: &Path, text: &Secret<String>) -> Result<(), PrivateFileError> {
    let draft = Draft::write(path, text)?;
    fs::rename(&draft.path, path).map_err(|error| failed(path, error))?;
    sync_directory(path);
    Ok(())
}

/// A complete file under a temporary name, which goes away again.
struct Draft {
    path: PathBuf,
}

impl Draft {
    fn write(target: &Path, text: &Secret<String>) -> Result<Self, PrivateFileError> {
        static DRAFTS: AtomicU64 = AtomicU64::new(0);
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.{}.new", process::id(), DRAFTS.fetch_add(1, Ordering::Relaxed)));
        let path = target.with_file_name(name);
        // What a process of the same number left behind when it died.
        let _ = fs::remove_file(&path);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path).map_err(|error| failed(target, error))?;
        let draft = Self { path };
        file.write_all(text.expose().as_bytes())
            .and_then(|()| file.sync_all())
            .map_err(|error| failed(target, error))?;
        Ok(draft)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After a rename there is nothing to remove.
        let _ = fs::remove_file(&self.path);
    }
}

/// Makes the new name survive a power cut. Where a directory cannot be synced, the file system does it in its own time.
fn sync_directory(path: &Path) {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
}

#[cfg(unix)]
fn is_private(file: &File) -> io::Result<bool> {
    let mode = std::os::unix::fs::MetadataExt::mode(&file.metadata()?);
    Ok(mode & 0o077 == 0)
}

#[cfg(not(unix))]
fn is_private(_: &File) -> io::Result<bool> {
    Ok(true)
}

fn failed(path: &Path, error: io::Error) -> PrivateFileError {
    PrivateFileError::Io { path: path.to_path_buf(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Secret<String> {
        Secret::new(text.to_owned())
    }

    #[test]
    fn the_first_file_stays_and_nothing_else_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        assert!(read(&path).unwrap().is_none());
        assert!(create(&path, &secret("first")).unwrap());
        assert!(!create(&path, &secret("second")).unwrap());
        assert_eq!(read(&path).unwrap().unwrap().expose(), "first");
        replace(&path, &secret("third")).unwrap();
        assert_eq!(read(&path).unwrap().unwrap().expose(), "third");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    #[cfg(unix)]
    fn a_file_that_others_may_read_is_refused_with_the_mend() {
        use std::os::unix::fs::PermissionsExt as _;

        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        create(&path, &secret("hunter2")).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        for mode in [0o640, 0o604, 0o620] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(error.contains("chmod 600") && !error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn what_is_no_text_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        replace(&path, &secret("")).unwrap();
        fs::write(&path, [0xff]).unwrap();
        assert!(matches!(read(&path), Err(PrivateFileError::NotText(_))));
    }
}
