//! The readers: a few threads, each with a connection that cannot write, so that no read blocks an async runtime for
//! long; and a few connections more for reads so short that handing them to a thread would cost more than they do.

use std::{
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
};

use handoff_engine::store::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::{
    error::{Failure, OpenError, is_busy},
    options::SqliteOptions,
    schema,
};

type Read = Box<dyn FnOnce(&Connection) + Send>;

/// Hands reads to whichever thread is free. Dropping it finishes the queue and ends the threads.
#[derive(Debug)]
pub(crate) struct Readers {
    queue: Option<Sender<Read>>,
    threads: Vec<JoinHandle<()>>,
    /// Connections for short reads that nobody uses now.
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(crate) fn open(path: &Path, options: &SqliteOptions) -> Result<Self, OpenError> {
        let (queue, reads) = channel::<Read>();
        let reads = Arc::new(Mutex::new(reads));
        let mut readers = Self { queue: Some(queue), threads: Vec::new(), idle: Mutex::new(Vec::new()) };
        for _ in 0..options.readers.max(1) {
            readers.idle().push(schema::open_point_reader(path, options)?);
            let connection = schema::open_reader(path, options)?;
            let reads = Arc::clone(&reads);
            let thread = thread::Builder::new().name("handoff-store-read".to_owned());
            readers.threads.push(thread.spawn(move || work(&connection, &reads))?);
        }
        Ok(readers)
    }

    /// Runs a read of a row or a few where it is asked for, as long as a connection is idle and nobody holds the file;
    /// else it is a read like others.
    ///
    /// Each of its statements sees what is durable then; one that needs several in one snapshot says so itself.
    pub(crate) async fn point<T: Send + 'static>(
        &self,
        read: impl Fn(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        if let Some(found) = self.at_once(&read) {
            return found;
        }
        self.read(read).await
    }

    fn at_once<T>(&self, read: impl Fn(&Connection) -> Result<T, Failure>) -> Option<Result<T, StoreError>> {
        let connection = self.idle().pop()?;
        let found = read(&connection);
        self.idle().push(connection);
        match found {
            Err(Failure::Physical(error)) if is_busy(&error) => None,
            found => Some(found.map_err(Into::into)),
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a read over one snapshot of what is durable.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job: Read = Box::new(move |connection| {
            // An error means that the caller went away.
            let _ = reply.send(in_snapshot(connection, read));
        });
        if let Some(queue) = &self.queue {
            // A queue without a thread drops the job, and with it the reply.
            let _ = queue.send(job);
        }
        answer.await.map_err(|_| StoreError::Unavailable("the store is closing".to_owned()))?.map_err(Into::into)
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        drop(self.queue.take());
        for thread in self.threads.drain(..) {
            // A thread that panicked has nothing left to finish.
            let _ = thread.join();
        }
    }
}

fn work(connection: &Connection, reads: &Mutex<Receiver<Read>>) {
    loop {
        // The lock is held while waiting and let go before reading, so that one thread waits and the others work.
        let read = reads.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match read {
            Ok(read) => read(connection),
            Err(_) => return,
        }
    }
}

/// Runs a read whose statements all see the same state.
pub(crate) fn in_snapshot<T>(
    connection: &Connection,
    read: impl FnOnce(&Connection) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let transaction = connection.unchecked_transaction()?;
    let found = read(&transaction)?;
    transaction.commit()?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn readers(directory: &tempfile::TempDir) -> Readers {
        let path = directory.path().join("s.db");
        let options = SqliteOptions { readers: 1, ..SqliteOptions::default() };
        drop(schema::open_writer(&path, &options).unwrap());
        Readers::open(&path, &options).unwrap()
    }

    fn where_it_runs(_: &Connection) -> Result<Option<String>, Failure> {
        Ok(thread::current().name().map(str::to_owned))
    }

    #[tokio::test]
    async fn a_short_read_is_done_where_it_is_asked_for_and_by_a_thread_when_no_connection_is_idle() {
        let directory = tempfile::tempdir().unwrap();
        let readers = readers(&directory);
        let here = thread::current().name().map(str::to_owned);
        for _ in 0..3 {
            assert_eq!(readers.point(where_it_runs).await.unwrap(), here);
        }
        let taken = readers.idle().pop();
        assert_eq!(readers.point(where_it_runs).await.unwrap().as_deref(), Some("handoff-store-read"));
        readers.idle().extend(taken);
        assert_eq!(readers.point(where_it_runs).await.unwrap(), here);
    }

    #[tokio::test]
    async fn a_short_read_that_would_have_to_wait_waits_in_a_thread() {
        let directory = tempfile::tempdir().unwrap();
        let readers = readers(&directory);
        let runs = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&runs);
        let read = move |connection: &Connection| {
            let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
            match counted.fetch_add(1, Ordering::Relaxed) {
                0 => Err(Failure::Physical(rusqlite::Error::SqliteFailure(busy, None))),
                _ => where_it_runs(connection),
            }
        };
        assert_eq!(readers.point(read).await.unwrap().as_deref(), Some("handoff-store-read"));
        assert_eq!((runs.load(Ordering::Relaxed), readers.idle().len()), (2, 1));
    }
}
