//! The readers: a few threads, each with a connection that cannot write, so that no read blocks an async runtime.

use std::{
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
};

use handoff_engine::store::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::{
    error::{Failure, OpenError},
    options::SqliteOptions,
    schema,
};

type Read = Box<dyn FnOnce(&Connection) + Send>;

/// Hands reads to whichever thread is free. Dropping it finishes the queue and ends the threads.
#[derive(Debug)]
pub(crate) struct Readers {
    queue: Option<Sender<Read>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    pub(crate) fn open(path: &Path, options: &SqliteOptions) -> Result<Self, OpenError> {
        let (queue, reads) = channel::<Read>();
        let reads = Arc::new(Mutex::new(reads));
        let mut readers = Self { queue: Some(queue), threads: Vec::new() };
        for _ in 0..options.readers.max(1) {
            let connection = schema::open_reader(path, options)?;
            let reads = Arc::clone(&reads);
            let thread = thread::Builder::new().name("handoff-store-read".to_owned());
            readers.threads.push(thread.spawn(move || work(&connection, &reads))?);
        }
        Ok(readers)
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

fn in_snapshot<T>(connection: &Connection, read: impl FnOnce(&Connection) -> Result<T, Failure>) -> Result<T, Failure> {
    let transaction = connection.unchecked_transaction()?;
    let found = read(&transaction)?;
    transaction.commit()?;
    Ok(found)
}
