-- The tables of a store. Times are milliseconds since the epoch; documents, bodies and data are kept exactly as written.
-- Rows that are only ever found by their key carry no row number; those with large content do, so that a key stays small.

CREATE TABLE tenants (
    tenant   TEXT NOT NULL PRIMARY KEY,
    sequence INTEGER NOT NULL,
    last_id  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE records (
    tenant   TEXT NOT NULL,
    kind     TEXT NOT NULL,
    id       TEXT NOT NULL,
    version  INTEGER NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (tenant, kind, id)
) STRICT;

CREATE TABLE record_index (
    tenant   TEXT NOT NULL,
    idx      TEXT NOT NULL,
    sort_key BLOB NOT NULL,
    kind     TEXT NOT NULL,
    id       TEXT NOT NULL,
    PRIMARY KEY (tenant, idx, sort_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE chain_entries (
    tenant      TEXT NOT NULL,
    chain       TEXT NOT NULL,
    height      INTEGER NOT NULL CHECK (height >= 1),
    previous    TEXT NOT NULL,
    digest      TEXT NOT NULL,
    attestation TEXT,
    at          INTEGER NOT NULL,
    PRIMARY KEY (tenant, chain, height)
) STRICT, WITHOUT ROWID;

CREATE TABLE chain_bodies (
    tenant TEXT NOT NULL,
    chain  TEXT NOT NULL,
    height INTEGER NOT NULL,
    body   TEXT NOT NULL,
    PRIMARY KEY (tenant, chain, height),
    FOREIGN KEY (tenant, chain, height) REFERENCES chain_entries (tenant, chain, height)
) STRICT;

CREATE TABLE erasures (
    tenant TEXT NOT NULL,
    chain  TEXT NOT NULL,
    height INTEGER NOT NULL,
    reason TEXT NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (tenant, chain, height),
    FOREIGN KEY (tenant, chain, height) REFERENCES chain_entries (tenant, chain, height)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    tenant   TEXT NOT NULL,
    sequence INTEGER NOT NULL CHECK (sequence >= 1),
    type     TEXT NOT NULL,
    subject  TEXT NOT NULL,
    at       INTEGER NOT NULL,
    data     TEXT NOT NULL,
    PRIMARY KEY (tenant, sequence)
) STRICT, WITHOUT ROWID;

-- An epoch of 0 says that the timer was never claimed since it was put.
CREATE TABLE timers (
    tenant        TEXT NOT NULL,
    key           TEXT NOT NULL,
    due           INTEGER NOT NULL,
    action        TEXT NOT NULL,
    epoch         INTEGER NOT NULL DEFAULT 0,
    claimed_until INTEGER,
    PRIMARY KEY (tenant, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX timers_due ON timers (due) WHERE claimed_until IS NULL;
CREATE INDEX timers_claimed ON timers (claimed_until) WHERE claimed_until IS NOT NULL;

-- One row: the highest epoch that any timer was ever claimed under. It rises also across removed timers.
CREATE TABLE timer_epoch (
    one   INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    epoch INTEGER NOT NULL
) STRICT;

INSERT INTO timer_epoch (one, epoch) VALUES (1, 0);

-- The content comes last, so that keeping a blob touches only the page where its row begins.
CREATE TABLE blobs (
    tenant TEXT NOT NULL,
    owner  TEXT NOT NULL,
    digest TEXT NOT NULL,
    kept   INTEGER NOT NULL,
    put_at INTEGER NOT NULL,
    bytes  BLOB NOT NULL,
    PRIMARY KEY (tenant, owner, digest)
) STRICT;

CREATE INDEX blobs_unkept ON blobs (put_at) WHERE kept = 0;
