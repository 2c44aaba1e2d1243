//! The schema: made and brought up to date, by one node at a time.

use sqlx::{ConnectOptions as _, Connection as _, PgConnection, postgres::PgConnectOptions};

use crate::{error::OpenError, limits};

/// Each file, once applied, stays as it is; what changes later is a further file.
const MIGRATIONS: [&str; 6] = [
    include_str!("migrations/0001_tables.sql"),
    include_str!("migrations/0002_append_only.sql"),
    include_str!("migrations/0003_row_security.sql"),
    include_str!("migrations/0004_reading.sql"),
    include_str!("migrations/0005_writing.sql"),
    include_str!("migrations/0006_views.sql"),
];

/// What nodes that migrate at the same time wait for. The lock belongs to a transaction, not to a session, so that it holds
/// behind a pooler as well.
const LOCK: i64 = 0x6861_6e64_6f66_6600;

/// The oldest server whose views can be read with the rights of the reader.
const OLDEST_SERVER: u32 = 15;

/// Looks at the database and, where `migrate` says so, brings it to the newest schema.
pub(crate) async fn prepare(options: &PgConnectOptions, migrate: bool) -> Result<(), OpenError> {
    let mut connection = options.connect().await?;
    // All of it in one transaction: a pooler may change the server's connection between two.
    let mut transaction = connection.begin().await?;
    sqlx::raw_sql(limits::UNLIMITED).execute(&mut *transaction).await?;
    check_server(&mut transaction).await?;
    let ready = version(&mut transaction).await? == Some(newest());
    if !ready {
        if !migrate {
            return Err(OpenError::MayNotMigrate);
        }
        let lock = sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(LOCK).persistent(false);
        lock.execute(&mut *transaction).await?;
        bring_up_to_date(&mut transaction).await?;
    }
    transaction.commit().await?;
    // Nothing depends on an orderly end.
    let _ = connection.close().await;
    Ok(())
}

async fn check_server(connection: &mut PgConnection) -> Result<(), OpenError> {
    let (number, encoding, unbound): (i32, String, bool) = sqlx::query_as(
        "SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
                (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user)",
    )
    .persistent(false)
    .fetch_one(&mut *connection)
    .await?;
    let server = u32::try_from(number / 10_000).unwrap_or_default();
    if server < OLDEST_SERVER {
        return Err(OpenError::OldServer(server));
    }
    if encoding != "UTF8" {
        return Err(OpenError::Encoding(encoding));
    }
    if unbound {
        tracing::warn!(
            "the role of this program is a superuser or bypasses row-level security, so the database does not keep tenants \
             apart by itself; use a role that is neither"
        );
    }
    Ok(())
}

/// The version of the schema that is there; none in a database that never had one.
async fn version(connection: &mut PgConnection) -> Result<Option<u32>, OpenError> {
    // Names are looked up in a cache that another node's commit need not have reached yet; rows of the catalog are not.
    let there: bool = sqlx::query_scalar(
        "SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'handoff_migrations' AND relkind = 'r'
                        AND relnamespace = current_schema()::regnamespace)",
    )
    .persistent(false)
    .fetch_one(&mut *connection)
    .await?;
    if !there {
        return Ok(None);
    }
    let found: i32 = sqlx::query_scalar("SELECT coalesce(max(version), 0) FROM handoff_migrations")
        .persistent(false)
        .fetch_one(&mut *connection)
        .await?;
    let found = u32::try_from(found).unwrap_or_default();
    if found > newest() {
        return Err(OpenError::NewerSchema { found, known: newest() });
    }
    Ok(Some(found))
}

/// Applies what is missing, under the lock: another node may have been faster.
async fn bring_up_to_date(connection: &mut PgConnection) -> Result<(), OpenError> {
    let from = match version(&mut *connection).await? {
        Some(version) => version,
        None => {
            check_empty(&mut *connection).await?;
            sqlx::raw_sql("CREATE TABLE handoff_migrations (version int PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())")
                .execute(&mut *connection)
                .await?;
            0
        }
    };
    for (number, migration) in (1_u32..).zip(MIGRATIONS).filter(|(number, _)| *number > from) {
        sqlx::raw_sql(migration).execute(&mut *connection).await?;
        sqlx::query("INSERT INTO handoff_migrations (version) VALUES ($1)")
            .bind(i32::try_from(number).unwrap_or(i32::MAX))
            .persistent(false)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// A database with tables and without ours belongs to somebody else.
async fn check_empty(connection: &mut PgConnection) -> Result<(), OpenError> {
    let foreign: Option<String> = sqlx::query_scalar(
        "SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
         ORDER BY relname LIMIT 1",
    )
    .persistent(false)
    .fetch_optional(&mut *connection)
    .await?;
    foreign.map_or(Ok(()), |table| Err(OpenError::NotAStore(table)))
}

fn newest() -> u32 {
    u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX)
}
