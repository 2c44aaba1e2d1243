-- What was sealed stays: the database itself refuses to change it, for every role, TRUNCATE included. The triggers fire
-- for the statement, so that also a statement which would hit no row is told, and they fire in every replication role.

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: %', TG_TABLE_NAME, TG_ARGV[0]
        USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER chain_entries_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON chain_entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('erase the body instead, the entry stays');
CREATE TRIGGER events_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('write a further event instead');
CREATE TRIGGER erasures_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON erasures
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('an erasure cannot be taken back, and the first reason stands');
CREATE TRIGGER chain_bodies_no_change BEFORE UPDATE OR TRUNCATE ON chain_bodies
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('write a further entry instead');

-- A body goes only when a row in erasures says when and why.
CREATE FUNCTION refuse_unexplained_erasure() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM erasures e WHERE e.tenant = OLD.tenant AND e.chain = OLD.chain AND e.height = OLD.height
    ) THEN
        RAISE EXCEPTION 'chain_bodies is append-only: insert a row in erasures first, then this body may be deleted'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
END
$$;

CREATE TRIGGER chain_bodies_no_delete BEFORE DELETE ON chain_bodies
    FOR EACH ROW EXECUTE FUNCTION refuse_unexplained_erasure();

-- What was erased does not come back under the same height.
CREATE FUNCTION refuse_second_body() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        -- Each by its whole key: as a join, the plan of an empty table would read all erasures of the tenant.
        SELECT FROM added a CROSS JOIN LATERAL (
            SELECT FROM erasures e WHERE e.tenant = a.tenant AND e.chain = a.chain AND e.height = a.height LIMIT 1
        ) erased
    ) THEN
        RAISE EXCEPTION 'chain_bodies is append-only: the body of this entry was erased, write a further entry instead'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER chain_bodies_no_second AFTER INSERT ON chain_bodies
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_second_body();

ALTER TABLE chain_entries ENABLE ALWAYS TRIGGER chain_entries_no_change;
ALTER TABLE events ENABLE ALWAYS TRIGGER events_no_change;
ALTER TABLE erasures ENABLE ALWAYS TRIGGER erasures_no_change;
ALTER TABLE chain_bodies ENABLE ALWAYS TRIGGER chain_bodies_no_change;
ALTER TABLE chain_bodies ENABLE ALWAYS TRIGGER chain_bodies_no_delete;
ALTER TABLE chain_bodies ENABLE ALWAYS TRIGGER chain_bodies_no_second;
