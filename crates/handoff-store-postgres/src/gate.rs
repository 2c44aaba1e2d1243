//! Whether the database can be reached: so that calls fail at once while it cannot, and go on by themselves when it can.

use std::{
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use sqlx::{ConnectOptions as _, Connection as _, postgres::PgConnectOptions};
use tokio::sync::watch;

use crate::error::{Failure, no_connection_left};

/// How often a database that cannot be reached is tried.
const RETRY: Duration = Duration::from_millis(250);

/// How long one such try may take.
const TRY_WITHIN: Duration = Duration::from_secs(2);

/// What is known of the way to the database.
#[derive(Clone, Debug)]
enum Way {
    Open,
    /// A connection was lost; it is being looked whether that is all.
    Doubtful,
    Shut(Arc<str>),
}

/// Watches the way to the database. Clones share what they know.
#[derive(Clone, Debug)]
pub(crate) struct Gate(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    options: PgConnectOptions,
    way: watch::Sender<Way>,
    looking: AtomicBool,
    last_loss: Mutex<Option<Instant>>,
}

impl Gate {
    pub(crate) fn new(options: PgConnectOptions) -> Self {
        let way = watch::Sender::new(Way::Open);
        Self(Arc::new(Inner { options, way, looking: AtomicBool::new(false), last_loss: Mutex::new(None) }))
    }

    /// Lets a call pass, or says why there is no use in trying. While it is doubtful, this waits for the little that it
    /// takes to find out.
    pub(crate) async fn pass(&self) -> Result<(), Failure> {
        let mut watch = self.0.way.subscribe();
        let settled = watch.wait_for(|way| !matches!(way, Way::Doubtful)).await.map(|way| way.clone());
        match settled {
            Ok(Way::Shut(reason)) => Err(Failure::Unable(reason.to_string())),
            _ => Ok(()),
        }
    }

    /// Whether nothing speaks against a call.
    pub(crate) fn is_open(&self) -> bool {
        matches!(*self.0.way.borrow(), Way::Open)
    }

    /// Waits until the database cannot be reached.
    pub(crate) async fn shut(&self) -> Failure {
        let mut watch = self.0.way.subscribe();
        let shut = watch.wait_for(|way| matches!(way, Way::Shut(_))).await.map(|way| way.clone());
        match shut {
            Ok(Way::Shut(reason)) => Failure::Unable(reason.to_string()),
            _ => Failure::Unable("the store is closing".to_owned()),
        }
    }

    /// Whether a connection of this age was made before one was lost, and may be lost as well.
    pub(crate) fn outdates(&self, age: Duration) -> bool {
        let last = *self.0.last_loss.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_some_and(|last| last.elapsed() <= age)
    }

    /// A connection was lost: looks whether the database can be reached, until it can.
    pub(crate) fn lost(&self) {
        *self.0.last_loss.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        self.doubt();
    }

    /// Something says that the database may be out of reach: looks whether it is, until it is not.
    pub(crate) fn doubt(&self) {
        self.0.way.send_if_modified(|way| {
            let open = matches!(way, Way::Open);
            if open {
                *way = Way::Doubtful;
            }
            open
        });
        if !self.0.looking.swap(true, Ordering::AcqRel) {
            tokio::spawn(look(Arc::downgrade(&self.0)));
        }
    }
}

/// Tries to connect until that succeeds, and says in one line that it does not, and in one that it does again.
async fn look(inner: Weak<Inner>) {
    let mut told = false;
    loop {
        // The store may be gone by now.
        let Some(gate) = inner.upgrade() else { return };
        let tried = tokio::time::timeout(TRY_WITHIN, try_once(&gate.options)).await;
        let reason = match tried {
            Ok(Ok(())) => None,
            // It answers, if only with that.
            Ok(Err(error)) if no_connection_left(&error) => None,
            Ok(Err(error)) => Some(Failure::from(error).to_string()),
            Err(_) => Some("the database does not answer".to_owned()),
        };
        let Some(reason) = reason else {
            gate.looking.store(false, Ordering::Release);
            gate.way.send_replace(Way::Open);
            if told {
                tracing::info!("the database can be reached again");
            }
            return;
        };
        if !told {
            tracing::error!(reason, "the database cannot be reached; calls are refused until it can");
            told = true;
        }
        gate.way.send_replace(Way::Shut(reason.into()));
        drop(gate);
        tokio::time::sleep(RETRY).await;
    }
}

async fn try_once(options: &PgConnectOptions) -> sqlx::Result<()> {
    let mut connection = options.connect().await?;
    connection.ping().await?;
    connection.close().await
}
