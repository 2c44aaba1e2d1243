-- The tables of a store. Times are milliseconds since the epoch; documents, bodies and data are text, kept exactly as
-- written and never as JSONB. Names and keys compare bytewise, whatever the locale of the database.
--
-- Rows that are rewritten leave room beside them, so that most of their new versions need no new index entries.

CREATE TABLE tenants (
    tenant   text   COLLATE "C" NOT NULL PRIMARY KEY CHECK (tenant <> ''),
    sequence bigint NOT NULL,
    last_id  text   COLLATE "C" NOT NULL,
    -- When a commit last touched something that somebody may wait for.
    moved_at bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 40);

CREATE TABLE records (
    tenant   text   COLLATE "C" NOT NULL,
    kind     text   COLLATE "C" NOT NULL,
    id       text   COLLATE "C" NOT NULL,
    version  bigint NOT NULL,
    document text   COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, kind, id)
) WITH (fillfactor = 70);

CREATE TABLE record_index (
    tenant   text  COLLATE "C" NOT NULL,
    idx      text  COLLATE "C" NOT NULL,
    sort_key bytea NOT NULL,
    kind     text  COLLATE "C" NOT NULL,
    id       text  COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, idx, sort_key)
);

CREATE TABLE chain_entries (
    tenant      text   COLLATE "C" NOT NULL,
    chain       text   COLLATE "C" NOT NULL,
    height      bigint NOT NULL CHECK (height >= 1),
    previous    text   COLLATE "C" NOT NULL,
    digest      text   COLLATE "C" NOT NULL,
    attestation text   COLLATE "C",
    at          bigint NOT NULL,
    PRIMARY KEY (tenant, chain, height)
);

-- A body has its entry by the one statement that writes both; a foreign key would look that up once more for each.
CREATE TABLE chain_bodies (
    tenant text   COLLATE "C" NOT NULL,
    chain  text   COLLATE "C" NOT NULL,
    height bigint NOT NULL,
    body   text   COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, chain, height)
);

CREATE TABLE erasures (
    tenant text   COLLATE "C" NOT NULL,
    chain  text   COLLATE "C" NOT NULL,
    height bigint NOT NULL,
    reason text   COLLATE "C" NOT NULL,
    at     bigint NOT NULL,
    PRIMARY KEY (tenant, chain, height),
    FOREIGN KEY (tenant, chain, height) REFERENCES chain_entries (tenant, chain, height)
);

CREATE TABLE events (
    tenant   text   COLLATE "C" NOT NULL,
    sequence bigint NOT NULL CHECK (sequence >= 1),
    type     text   COLLATE "C" NOT NULL,
    subject  text   COLLATE "C" NOT NULL,
    at       bigint NOT NULL,
    data     text   COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, sequence)
);

-- An epoch of 0 says that the timer was never claimed since it was put.
CREATE TABLE timers (
    tenant        text   COLLATE "C" NOT NULL,
    key           text   COLLATE "C" NOT NULL,
    due           bigint NOT NULL,
    action        text   COLLATE "C" NOT NULL,
    epoch         bigint NOT NULL DEFAULT 0,
    claimed_until bigint,
    PRIMARY KEY (tenant, key)
);

CREATE INDEX timers_due ON timers (due, tenant, key) WHERE claimed_until IS NULL;
CREATE INDEX timers_claimed ON timers (claimed_until) WHERE claimed_until IS NOT NULL;

-- The epochs under which timers are claimed: a sequence never gives a number twice, also across removed timers.
CREATE SEQUENCE timer_epochs AS bigint MINVALUE 1 NO CYCLE;

CREATE TABLE blobs (
    tenant text    COLLATE "C" NOT NULL,
    owner  text    COLLATE "C" NOT NULL,
    digest text    COLLATE "C" NOT NULL,
    kept   boolean NOT NULL,
    put_at bigint  NOT NULL,
    bytes  bytea   NOT NULL,
    PRIMARY KEY (tenant, owner, digest)
);

CREATE INDEX blobs_unkept ON blobs (put_at) WHERE NOT kept;

-- lz4 costs a fraction of the older compression, where the server was built with it.
DO $$
BEGIN
    ALTER TABLE records ALTER COLUMN document SET COMPRESSION lz4;
    ALTER TABLE chain_bodies ALTER COLUMN body SET COMPRESSION lz4;
    ALTER TABLE events ALTER COLUMN data SET COMPRESSION lz4;
    ALTER TABLE blobs ALTER COLUMN bytes SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL;
END
$$;
