-- What the store asks. Each call names its tenant and reads in one round trip; a function keeps its plans for as long as
-- the connection lives, also behind a pooler that keeps no prepared statements. Nothing here runs with rights of its own:
-- row-level security binds the caller within.
--
-- Plans follow the keys whatever the statistics say, since a plan that suits an empty table stays in use when it is full.
-- Where rows are found by a list of keys, each key is looked up by itself (LATERAL with a LIMIT, which no plan takes apart):
-- as a join, an empty table's plan would read all rows of the tenant and compare.

CREATE FUNCTION handoff_now() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

-- What a step is given: with p_lock, the tenant's head row, locked by a statement of its own, so that what is read after
-- it is read by a later snapshot (READ COMMITTED); then records, rows of indexes and heads of chains.
--
--   what 0: number is the sequence, content the last id      what 1: number is the database's time
--   what 2: the record at a place                            what 3: a row of the index at a place, with its record
--   what 4: the head of the chain at a place: number is the height, content the digest
CREATE FUNCTION handoff_load(
    p_tenant text, p_lock boolean,
    p_kinds text[], p_ids text[],
    p_indexes text[], p_from bytea[], p_below bytea[], p_limits bigint[],
    p_chains text[]
) RETURNS TABLE (what int, place int, sort_key bytea, kind text, id text, number bigint, content text)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
    v_sequence bigint;
    v_last_id text;
BEGIN
    PERFORM set_config('handoff.tenant', p_tenant, true);
    IF p_lock THEN
        SELECT t.sequence, t.last_id INTO v_sequence, v_last_id FROM tenants t WHERE t.tenant = p_tenant FOR UPDATE;
        IF NOT FOUND THEN
            INSERT INTO tenants (tenant, sequence, last_id) VALUES (p_tenant, 0, '00000000000000000000000000')
            ON CONFLICT DO NOTHING;
            SELECT t.sequence, t.last_id INTO v_sequence, v_last_id FROM tenants t WHERE t.tenant = p_tenant FOR UPDATE;
        END IF;
        RETURN QUERY SELECT 0, 0, NULL::bytea, NULL::text, NULL::text, v_sequence, v_last_id;
        RETURN QUERY SELECT 1, 0, NULL::bytea, NULL::text, NULL::text, handoff_now(), NULL::text;
    END IF;
    IF cardinality(p_kinds) > 0 THEN
        RETURN QUERY
            SELECT 2, u.place::int, NULL::bytea, NULL::text, NULL::text, r.version, r.document
            FROM unnest(p_kinds, p_ids) WITH ORDINALITY AS u (kind, id, place)
            CROSS JOIN LATERAL (
                SELECT s.version, s.document FROM records s
                WHERE s.tenant = p_tenant AND s.kind = u.kind AND s.id = u.id LIMIT 1
            ) r;
    END IF;
    FOR n IN 1 .. cardinality(p_indexes) LOOP
        IF p_below[n] IS NULL THEN
            RETURN QUERY SELECT 3, n, s.sort_key, s.kind, s.id, s.version, s.document
                FROM handoff_range(p_tenant, p_indexes[n], p_from[n], NULL, false, p_limits[n]) s;
            CONTINUE;
        END IF;
        RETURN QUERY
            SELECT 3, n, i.sort_key, i.kind, i.id, r.version, r.document
            FROM record_index i CROSS JOIN LATERAL (
                SELECT s.version, s.document FROM records s
                WHERE s.tenant = p_tenant AND s.kind = i.kind AND s.id = i.id LIMIT 1
            ) r
            WHERE i.tenant = p_tenant AND i.idx = p_indexes[n] AND i.sort_key >= p_from[n] AND i.sort_key < p_below[n]
            ORDER BY i.sort_key LIMIT p_limits[n];
    END LOOP;
    IF cardinality(p_chains) > 0 THEN
        RETURN QUERY
            SELECT 4, u.place::int, NULL::bytea, NULL::text, NULL::text, h.height, h.digest
            FROM unnest(p_chains) WITH ORDINALITY AS u (chain, place)
            CROSS JOIN LATERAL (
                SELECT e.height, e.digest FROM chain_entries e
                WHERE e.tenant = p_tenant AND e.chain = u.chain ORDER BY e.height DESC LIMIT 1
            ) h;
    END IF;
END
$$;

-- The rows of an index from one sort key up to but excluding another, NULL for no bound, with their records.
CREATE FUNCTION handoff_range(
    p_tenant text, p_index text, p_from bytea, p_below bytea, p_descending boolean, p_limit bigint
) RETURNS TABLE (sort_key bytea, kind text, id text, version bigint, document text)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
    IF p_below IS NULL AND NOT p_descending THEN
        RETURN QUERY
            SELECT i.sort_key, i.kind, i.id, r.version, r.document
            FROM record_index i CROSS JOIN LATERAL (
                SELECT s.version, s.document FROM records s
                WHERE s.tenant = p_tenant AND s.kind = i.kind AND s.id = i.id LIMIT 1
            ) r
            WHERE i.tenant = p_tenant AND i.idx = p_index AND i.sort_key >= p_from
            ORDER BY i.sort_key LIMIT p_limit;
    ELSIF NOT p_descending THEN
        RETURN QUERY
            SELECT i.sort_key, i.kind, i.id, r.version, r.document
            FROM record_index i CROSS JOIN LATERAL (
                SELECT s.version, s.document FROM records s
                WHERE s.tenant = p_tenant AND s.kind = i.kind AND s.id = i.id LIMIT 1
            ) r
            WHERE i.tenant = p_tenant AND i.idx = p_index AND i.sort_key >= p_from AND i.sort_key < p_below
            ORDER BY i.sort_key LIMIT p_limit;
    ELSIF p_below IS NULL THEN
        RETURN QUERY
            SELECT i.sort_key, i.kind, i.id, r.version, r.document
            FROM record_index i CROSS JOIN LATERAL (
                SELECT s.version, s.document FROM records s
                WHERE s.tenant = p_tenant AND s.kind = i.kind AND s.id = i.id LIMIT 1
            ) r
            WHERE i.tenant = p_tenant AND i.idx = p_index AND i.sort_key >= p_from
            ORDER BY i.sort_key DESC LIMIT p_limit;
    ELSE
        RETURN QUERY
            SELECT i.sort_key, i.kind, i.id, r.version, r.document
            FROM record_index i CROSS JOIN LATERAL (
                SELECT s.version, s.document FROM records s
                WHERE s.tenant = p_tenant AND s.kind = i.kind AND s.id = i.id LIMIT 1
            ) r
            WHERE i.tenant = p_tenant AND i.idx = p_index AND i.sort_key >= p_from AND i.sort_key < p_below
            ORDER BY i.sort_key DESC LIMIT p_limit;
    END IF;
END
$$;

-- One page of an index.
CREATE FUNCTION handoff_scan(
    p_tenant text, p_index text, p_from bytea, p_below bytea, p_descending boolean, p_limit bigint
) RETURNS TABLE (sort_key bytea, kind text, id text, version bigint, document text)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('handoff.tenant', p_tenant, true);
    -- What nearly every scan is, without a second function in between.
    IF p_below IS NOT NULL AND NOT p_descending THEN
        RETURN QUERY
            SELECT i.sort_key, i.kind, i.id, r.version, r.document
            FROM record_index i CROSS JOIN LATERAL (
                SELECT s.version, s.document FROM records s
                WHERE s.tenant = p_tenant AND s.kind = i.kind AND s.id = i.id LIMIT 1
            ) r
            WHERE i.tenant = p_tenant AND i.idx = p_index AND i.sort_key >= p_from AND i.sort_key < p_below
            ORDER BY i.sort_key LIMIT p_limit;
    ELSE
        RETURN QUERY SELECT * FROM handoff_range(p_tenant, p_index, p_from, p_below, p_descending, p_limit);
    END IF;
END
$$;

-- Records by key, each with its place in the question.
CREATE FUNCTION handoff_records(p_tenant text, p_kinds text[], p_ids text[])
RETURNS TABLE (place int, version bigint, document text)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off
AS $$
BEGIN
    PERFORM set_config('handoff.tenant', p_tenant, true);
    RETURN QUERY
        SELECT u.place::int, r.version, r.document
        FROM unnest(p_kinds, p_ids) WITH ORDINALITY AS u (kind, id, place)
        CROSS JOIN LATERAL (
            SELECT s.version, s.document FROM records s
            WHERE s.tenant = p_tenant AND s.kind = u.kind AND s.id = u.id LIMIT 1
        ) r;
END
$$;

-- Entries of a chain by height, with the bodies that were not erased.
CREATE FUNCTION handoff_chain(p_tenant text, p_chain text, p_from bigint, p_limit bigint)
RETURNS TABLE (height bigint, previous text, digest text, body text, attestation text)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
AS $$
BEGIN
    PERFORM set_config('handoff.tenant', p_tenant, true);
    RETURN QUERY
        SELECT e.height, e.previous, e.digest,
               -- By its whole key, and not by a join, which could look through all bodies of the chain.
               (SELECT b.body FROM chain_bodies b WHERE b.tenant = p_tenant AND b.chain = p_chain AND b.height = e.height),
               e.attestation
        FROM chain_entries e
        WHERE e.tenant = p_tenant AND e.chain = p_chain AND e.height >= p_from
        ORDER BY e.height LIMIT p_limit;
END
$$;

CREATE FUNCTION handoff_chain_head(p_tenant text, p_chain text) RETURNS TABLE (height bigint, digest text)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
BEGIN
    PERFORM set_config('handoff.tenant', p_tenant, true);
    RETURN QUERY
        SELECT e.height, e.digest FROM chain_entries e
        WHERE e.tenant = p_tenant AND e.chain = p_chain ORDER BY e.height DESC LIMIT 1;
END
$$;

CREATE FUNCTION handoff_events(p_tenant text, p_after bigint, p_limit bigint)
RETURNS TABLE (sequence bigint, type text, subject text, at bigint, data text)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
BEGIN
    PERFORM set_config('handoff.tenant', p_tenant, true);
    RETURN QUERY
        SELECT e.sequence, e.type, e.subject, e.at, e.data FROM events e
        WHERE e.tenant = p_tenant AND e.sequence > p_after ORDER BY e.sequence LIMIT p_limit;
END
$$;

CREATE FUNCTION handoff_blob(p_tenant text, p_owner text, p_digest text) RETURNS TABLE (bytes bytea)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
BEGIN
    PERFORM set_config('handoff.tenant', p_tenant, true);
    RETURN QUERY SELECT b.bytes FROM blobs b WHERE b.tenant = p_tenant AND b.owner = p_owner AND b.digest = p_digest;
END
$$;

-- Which tenants wrote something that somebody may wait for, from a moment on (NULL for nothing) and longer ago than an age.
-- One row each, then one without a tenant: the database's time.
CREATE FUNCTION handoff_moved(p_from bigint, p_age bigint) RETURNS TABLE (tenant text, at bigint)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_now bigint := handoff_now();
BEGIN
    PERFORM set_config('handoff.scope', 'heads', true);
    RETURN QUERY SELECT t.tenant, t.moved_at FROM tenants t WHERE t.moved_at >= p_from AND t.moved_at <= v_now - p_age;
    RETURN QUERY SELECT NULL::text, v_now;
END
$$;
