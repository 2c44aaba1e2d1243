//! The way into the database: a pool of connections, and what becomes of a call when one of them is lost.

use std::{future::Future, str::FromStr as _, time::Duration};

use handoff_engine::store::StoreError;
use sqlx::{
    ConnectOptions as _, Postgres,
    postgres::{PgArguments, PgConnectOptions, PgRow},
    query::Query,
};

use crate::{
    error::{Failure, OpenError},
    gate::Gate,
    limits,
    options::PostgresOptions,
    pool::{Lease, Pool},
};

/// How often a call is tried on another connection.
pub(crate) const ATTEMPTS: u32 = 4;

/// What our connections are called among the server's.
const NAME: &str = "handoff";

/// A question with its values.
pub(crate) type Question<'q> = Query<'q, Postgres, PgArguments>;

/// The pool, and the gate before it.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pool: Pool,
    gate: Gate,
    pooled: bool,
    answer_within: Duration,
}

/// Reads an address.
pub(crate) fn address(url: &str, pooled: bool) -> Result<PgConnectOptions, OpenError> {
    // What is asked is our own business, and its values are somebody else's: neither belongs in a log.
    limits::check_parameters(url)?;
    let options = PgConnectOptions::from_str(url)
        .map_err(|_| OpenError::Address)?
        .application_name(NAME)
        .disable_statement_logging();
    if !pooled {
        return Ok(options.options(limits::SESSION));
    }
    // What a pooler hands on from one client to the next must not be spoken of: prepared statements, and a parameter that
    // poolers do not know.
    Ok(options.statement_cache_capacity(0).extra_float_digits(None))
}

impl Link {
    /// Connects to nothing yet.
    pub(crate) fn new(address: PgConnectOptions, options: &PostgresOptions) -> Self {
        let gate = Gate::new(address.clone());
        let pool = Pool::new(address, gate.clone(), options.connections, options.acquire_within);
        Self { pool, gate, pooled: options.pooled, answer_within: options.answer_within }
    }

    /// A connection, unless the database cannot be reached.
    pub(crate) async fn connection(&self) -> Result<Lease, Failure> {
        self.gate.pass().await?;
        tokio::select! {
            taken = self.pool.take() => taken,
            shut = self.gate.shut() => Err(shut),
        }
    }

    /// Notes that a connection was lost, and waits until it is known whether there are others.
    pub(crate) async fn lost(&self) -> Result<(), Failure> {
        self.gate.lost();
        self.gate.pass().await
    }

    /// Asks one question in a transaction of its own. Whoever asks must not mind that it is asked twice.
    pub(crate) async fn ask<'q>(&self, question: impl Fn() -> Question<'q> + Send) -> Result<Vec<PgRow>, StoreError> {
        let mut attempts = ATTEMPTS;
        loop {
            attempts = attempts.saturating_sub(1);
            match self.ask_once(question()).await {
                Ok(rows) => return Ok(rows),
                Err(Failure::Lost(reason)) => {
                    self.lost().await?;
                    if attempts == 0 {
                        return Err(StoreError::Unavailable(reason));
                    }
                }
                Err(Failure::Raced(_)) if attempts > 0 => {}
                Err(failure) => return Err(failure.into()),
            }
        }
    }

    async fn ask_once(&self, question: Question<'_>) -> Result<Vec<PgRow>, Failure> {
        let mut connection = self.connection().await?;
        let asked = self.answered(async {
            if !self.pooled {
                return question.fetch_all(&mut *connection).await;
            }
            // A pooler changes the server's connection between two transactions, and without one between preparing a
            // statement and running it.
            sqlx::raw_sql(self.begin()).execute(&mut *connection).await?;
            let rows = question.persistent(false).fetch_all(&mut *connection).await?;
            sqlx::raw_sql("COMMIT").execute(&mut *connection).await?;
            Ok(rows)
        });
        let asked = asked.await;
        if asked.is_ok() {
            connection.give_back();
        }
        asked
    }

    /// The statement that begins a transaction of a batch.
    pub(crate) const fn begin(&self) -> &'static str {
        if self.pooled { limits::BEGIN } else { "BEGIN" }
    }

    /// Waits for an answer, and no longer than until the database is known to be out of reach.
    pub(crate) async fn answered<T>(&self, answer: impl Future<Output = sqlx::Result<T>> + Send) -> Result<T, Failure> {
        tokio::select! {
            answered = within(self.answer_within, answer) => answered,
            shut = self.gate.shut() => Err(shut),
        }
    }

    /// What is known of the way to the database.
    pub(crate) const fn gate(&self) -> &Gate {
        &self.gate
    }

    /// How long a statement may go unanswered.
    pub(crate) const fn answer_within(&self) -> Duration {
        self.answer_within
    }

    /// Whether statements must not be left prepared.
    pub(crate) const fn pooled(&self) -> bool {
        self.pooled
    }
}

/// Waits for an answer no longer than that: a connection that says nothing is lost.
pub(crate) async fn within<T>(
    longest: Duration,
    answer: impl Future<Output = sqlx::Result<T>> + Send,
) -> Result<T, Failure> {
    match tokio::time::timeout(longest, answer).await {
        Ok(answered) => answered.map_err(Failure::from),
        Err(_) => Err(Failure::Lost("the database does not answer".to_owned())),
    }
}
