-- What the store writes: what a batch of steps came to, each key once, under the lock that handoff_load took.
--
-- Rows that are there already are changed one key at a time, so that each is found by its whole key: as a join, the plan of an
-- empty table would read all rows of the tenant and compare, and stay in use. New rows are written all at once.
--
-- What does not fit what is stored raises HF001 (a conflict) or HF002 (a timer that is no longer held), and nothing stays.

-- Everything of a write-set that comes before its label.
CREATE FUNCTION handoff_write_state(
    p_tenant text, p_now bigint,
    p_new_kinds text[], p_new_ids text[], p_new_versions bigint[], p_new_documents text[],
    p_put_kinds text[], p_put_ids text[], p_put_seen bigint[], p_put_versions bigint[], p_put_documents text[],
    p_del_kinds text[], p_del_ids text[], p_del_seen bigint[],
    p_off_indexes text[], p_off_keys bytea[], p_off_kinds text[], p_off_ids text[],
    p_on_indexes text[], p_on_keys bytea[], p_on_kinds text[], p_on_ids text[],
    p_store_owners text[], p_store_digests text[], p_store_bytes bytea[],
    p_keep_owners text[], p_keep_digests text[],
    p_drop_owners text[], p_drop_digests text[],
    p_chains text[], p_heights bigint[], p_previous text[], p_digests text[], p_attestations text[], p_bodies text[],
    p_entry_times bigint[],
    p_erase_chains text[], p_erase_heights bigint[], p_erase_reasons text[]
) RETURNS void
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off
AS $$
DECLARE
    v record;
BEGIN
    IF cardinality(p_new_kinds) > 0 THEN
        INSERT INTO records (tenant, kind, id, version, document)
        SELECT p_tenant, u.kind, u.id, u.version, u.document
        FROM unnest(p_new_kinds, p_new_ids, p_new_versions, p_new_documents) AS u (kind, id, version, document);
    END IF;
    FOR v IN
        SELECT u.kind, u.id, u.seen, u.version, u.document
        FROM unnest(p_put_kinds, p_put_ids, p_put_seen, p_put_versions, p_put_documents)
            AS u (kind, id, seen, version, document)
    LOOP
        UPDATE records r SET version = v.version, document = v.document
        WHERE r.tenant = p_tenant AND r.kind = v.kind AND r.id = v.id AND r.version = v.seen;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'a record of kind % is not at the version that was seen', v.kind USING ERRCODE = 'HF001';
        END IF;
    END LOOP;
    FOR v IN SELECT u.kind, u.id, u.seen FROM unnest(p_del_kinds, p_del_ids, p_del_seen) AS u (kind, id, seen) LOOP
        DELETE FROM records r WHERE r.tenant = p_tenant AND r.kind = v.kind AND r.id = v.id AND r.version = v.seen;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'a record of kind % is not at the version that was seen', v.kind USING ERRCODE = 'HF001';
        END IF;
    END LOOP;
    FOR v IN
        SELECT u.idx, u.sort_key, u.kind, u.id
        FROM unnest(p_off_indexes, p_off_keys, p_off_kinds, p_off_ids) AS u (idx, sort_key, kind, id)
    LOOP
        DELETE FROM record_index i
        WHERE i.tenant = p_tenant AND i.idx = v.idx AND i.sort_key = v.sort_key AND i.kind = v.kind AND i.id = v.id;
    END LOOP;
    IF cardinality(p_on_indexes) > 0 THEN
        BEGIN
            INSERT INTO record_index (tenant, idx, sort_key, kind, id)
            SELECT p_tenant, u.idx, u.sort_key, u.kind, u.id
            FROM unnest(p_on_indexes, p_on_keys, p_on_kinds, p_on_ids) AS u (idx, sort_key, kind, id);
        EXCEPTION WHEN unique_violation THEN
            -- Seldom, and half as dear again, so not tried first. A row that points to this record already is left alone;
            -- one that points to another breaks the column's rule.
            INSERT INTO record_index AS i (tenant, idx, sort_key, kind, id)
            SELECT p_tenant, u.idx, u.sort_key, u.kind, u.id
            FROM unnest(p_on_indexes, p_on_keys, p_on_kinds, p_on_ids) AS u (idx, sort_key, kind, id)
            ON CONFLICT (tenant, idx, sort_key) DO UPDATE SET kind = NULL
            WHERE i.kind <> excluded.kind OR i.id <> excluded.id;
        END;
    END IF;
    IF cardinality(p_store_owners) > 0 THEN
        INSERT INTO blobs (tenant, owner, digest, kept, put_at, bytes)
        SELECT p_tenant, u.owner, u.digest, true, p_now, u.bytes
        FROM unnest(p_store_owners, p_store_digests, p_store_bytes) AS u (owner, digest, bytes)
        ON CONFLICT (tenant, owner, digest) DO UPDATE SET kept = true;
    END IF;
    FOR v IN SELECT u.owner, u.digest FROM unnest(p_keep_owners, p_keep_digests) AS u (owner, digest) LOOP
        UPDATE blobs b SET kept = true WHERE b.tenant = p_tenant AND b.owner = v.owner AND b.digest = v.digest;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'a blob to keep is gone' USING ERRCODE = 'HF001';
        END IF;
    END LOOP;
    FOR v IN SELECT u.owner, u.digest FROM unnest(p_drop_owners, p_drop_digests) AS u (owner, digest) LOOP
        DELETE FROM blobs b WHERE b.tenant = p_tenant AND b.owner = v.owner AND b.digest = v.digest;
    END LOOP;
    IF cardinality(p_chains) > 0 THEN
        INSERT INTO chain_entries (tenant, chain, height, previous, digest, attestation, at)
        SELECT p_tenant, u.chain, u.height, u.previous, u.digest, u.attestation, u.at
        FROM unnest(p_chains, p_heights, p_previous, p_digests, p_attestations, p_entry_times)
            AS u (chain, height, previous, digest, attestation, at);
        INSERT INTO chain_bodies (tenant, chain, height, body)
        SELECT p_tenant, u.chain, u.height, u.body FROM unnest(p_chains, p_heights, p_bodies) AS u (chain, height, body);
    END IF;
    FOR v IN
        SELECT u.chain, u.height, u.reason
        FROM unnest(p_erase_chains, p_erase_heights, p_erase_reasons) AS u (chain, height, reason)
    LOOP
        PERFORM FROM chain_entries e WHERE e.tenant = p_tenant AND e.chain = v.chain AND e.height = v.height;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'there is no entry % to erase', v.height USING ERRCODE = 'HF001';
        END IF;
        -- The reason comes first: the database deletes no body without it. Where one stands, it stays.
        INSERT INTO erasures (tenant, chain, height, reason, at)
        VALUES (p_tenant, v.chain, v.height, v.reason, p_now) ON CONFLICT DO NOTHING;
        DELETE FROM chain_bodies b WHERE b.tenant = p_tenant AND b.chain = v.chain AND b.height = v.height;
    END LOOP;
END
$$;

-- Everything after the label; answers when the head was moved, 0 if nobody waits for what is written.
CREATE FUNCTION handoff_write_rest(
    p_tenant text,
    p_sequences bigint[], p_types text[], p_subjects text[], p_event_times bigint[], p_data text[],
    p_settled text[], p_epochs bigint[],
    p_removed text[],
    p_timers text[], p_due bigint[], p_actions text[],
    p_sequence bigint, p_last_id text, p_moved boolean
) RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off
AS $$
DECLARE
    v record;
    v_moved_at bigint := CASE WHEN p_moved THEN handoff_now() ELSE 0 END;
BEGIN
    IF cardinality(p_sequences) > 0 THEN
        INSERT INTO events (tenant, sequence, type, subject, at, data)
        SELECT p_tenant, u.sequence, u.type, u.subject, u.at, u.data
        FROM unnest(p_sequences, p_types, p_subjects, p_event_times, p_data) AS u (sequence, type, subject, at, data);
    END IF;
    FOR v IN SELECT u.key, u.epoch FROM unnest(p_settled, p_epochs) AS u (key, epoch) LOOP
        DELETE FROM timers t WHERE t.tenant = p_tenant AND t.key = v.key AND t.epoch = v.epoch;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'a timer is no longer held under this epoch' USING ERRCODE = 'HF002', DETAIL = v.key;
        END IF;
    END LOOP;
    FOR v IN SELECT u.key FROM unnest(p_removed) AS u (key) LOOP
        DELETE FROM timers t WHERE t.tenant = p_tenant AND t.key = v.key;
    END LOOP;
    IF cardinality(p_timers) > 0 THEN
        INSERT INTO timers (tenant, key, due, action)
        SELECT p_tenant, u.key, u.due, u.action FROM unnest(p_timers, p_due, p_actions) AS u (key, due, action)
        ON CONFLICT (tenant, key) DO UPDATE
        SET due = excluded.due, action = excluded.action, epoch = 0, claimed_until = NULL;
    END IF;
    UPDATE tenants t
    SET sequence = p_sequence, last_id = p_last_id, moved_at = greatest(t.moved_at, v_moved_at)
    WHERE t.tenant = p_tenant;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the head of the tenant is gone' USING ERRCODE = 'HF001';
    END IF;
    RETURN v_moved_at;
END
$$;

-- Claims due timers over all tenants, the longest overdue first. One row a timer, then one row without a tenant: its due is
-- the time of the claim, its epoch when to look again.
--
-- Lapsed claims are first given back, each once, so that one index finds what is due however many are held. Rows that
-- somebody holds just now are passed over, so a claim never waits.
CREATE FUNCTION handoff_claim(p_limit bigint, p_lease bigint, p_now bigint)
RETURNS TABLE (tenant text, key text, due bigint, action text, epoch bigint)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET enable_sort = off
AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := coalesce(p_now, handoff_now());
    v_held bigint;
    v_waiting bigint;
BEGIN
    PERFORM set_config('handoff.scope', 'timers', true);
    WITH lapsed AS MATERIALIZED (
        SELECT t.tenant, t.key FROM timers t WHERE t.claimed_until IS NOT NULL AND t.claimed_until <= v_now
        ORDER BY t.claimed_until FOR UPDATE SKIP LOCKED
    )
    UPDATE timers t SET claimed_until = NULL FROM lapsed l WHERE t.tenant = l.tenant AND t.key = l.key;
    SELECT t.claimed_until INTO v_held FROM timers t WHERE t.claimed_until IS NOT NULL
        ORDER BY t.claimed_until LIMIT 1;
    RETURN QUERY
        WITH due AS MATERIALIZED (
            SELECT t.tenant, t.key FROM timers t WHERE t.claimed_until IS NULL AND t.due <= v_now
            ORDER BY t.due, t.tenant, t.key LIMIT p_limit FOR UPDATE SKIP LOCKED
        )
        UPDATE timers t SET epoch = nextval('timer_epochs'), claimed_until = v_now + p_lease
        FROM due d WHERE t.tenant = d.tenant AND t.key = d.key
        RETURNING t.tenant, t.key, t.due, t.action, t.epoch;
    SELECT t.due INTO v_waiting FROM timers t WHERE t.claimed_until IS NULL ORDER BY t.due LIMIT 1;
    RETURN QUERY SELECT NULL::text, NULL::text, v_now, NULL::text, least(v_held, v_waiting);
END
$$;

-- Stores bytes that nobody keeps yet. Putting them again starts their time anew.
CREATE FUNCTION handoff_put_blob(p_tenant text, p_owner text, p_digest text, p_bytes bytea, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('handoff.tenant', p_tenant, true);
    INSERT INTO blobs AS b (tenant, owner, digest, kept, put_at, bytes)
    VALUES (p_tenant, p_owner, p_digest, false, coalesce(p_now, handoff_now()), p_bytes)
    ON CONFLICT (tenant, owner, digest) DO UPDATE SET put_at = excluded.put_at WHERE NOT b.kept;
END
$$;

-- Deletes what was put before the span and never kept; answers how many.
CREATE FUNCTION handoff_sweep(p_span bigint, p_now bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
DECLARE
    v_rows bigint;
BEGIN
    PERFORM set_config('handoff.scope', 'blobs', true);
    DELETE FROM blobs b WHERE NOT b.kept AND b.put_at < coalesce(p_now, handoff_now()) - p_span;
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    RETURN v_rows;
END
$$;
