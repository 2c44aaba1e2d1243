-- Views for operators, to look at with any shell. They show what the reader may see: name a tenant first, with
--   SET handoff.tenant = 'org_…';
-- Nothing in the program reads them. What may be written through them is the title of a pending request; everything else is
-- refused in words that say why, also where no row is in sight.

-- A document as JSON, for looking at. The one character that the database cannot hold becomes the one that stands for the
-- unreadable; documents themselves are never read through this.
CREATE FUNCTION as_json(document text) RETURNS json LANGUAGE sql IMMUTABLE AS $$
    SELECT replace(document, '\u0000', '\ufffd')::json
$$;

-- Requests: what was asked, of whose waiter, and how it stands.
CREATE VIEW requests WITH (security_invoker = true) AS
SELECT r.tenant, r.id, d.document ->> 'state' AS state, d.document #>> '{prompt,title}' AS title,
       d.document ->> 'waiter_ref' AS waiter_ref, d.document ->> 'created_at' AS created_at, r.version
FROM records r CROSS JOIN LATERAL (SELECT as_json(r.document) AS document) d
WHERE r.kind = 'request';

-- Receipts, in the order of the chain. `body` is NULL once it was erased; the digest stays.
CREATE VIEW receipts WITH (security_invoker = true) AS
SELECT e.tenant, e.height, as_json(b.body) ->> 'id' AS id, as_json(b.body) ->> 'request_id' AS request_id, e.digest, b.body
FROM chain_entries e
LEFT JOIN chain_bodies b ON b.tenant = e.tenant AND b.chain = e.chain AND b.height = e.height
WHERE e.chain = 'receipts';

-- Deliveries: the attempts to reach somebody about a request.
CREATE VIEW deliveries WITH (security_invoker = true) AS
SELECT r.tenant, d.delivery ->> 'id' AS id, r.id AS request_id, d.delivery ->> 'channel' AS channel,
       d.delivery ->> 'state' AS state, d.delivery ->> 'grade_reached' AS grade_reached,
       json_array_length(d.delivery -> 'attempts') AS attempts, d.delivery ->> 'created_at' AS created_at
FROM records r CROSS JOIN LATERAL json_array_elements(as_json(r.document) -> 'deliveries') AS d (delivery)
WHERE r.kind = 'request';

-- Signals: what waiters are told, and when they said that they have it.
CREATE VIEW signals WITH (security_invoker = true) AS
SELECT r.tenant, r.id, d.document ->> 'type' AS type, d.document ->> 'request_id' AS request_id,
       d.document ->> 'waiter_ref' AS waiter_ref, (d.document ->> 'sequence')::bigint AS sequence,
       d.document ->> 'created_at' AS created_at, d.document ->> 'acked_at' AS acked_at, r.version
FROM records r CROSS JOIN LATERAL (SELECT as_json(r.document) AS document) d
WHERE r.kind = 'signal';

-- Authorizations: what an answer permits, once. One with a redemption is spent.
CREATE VIEW authorizations WITH (security_invoker = true) AS
SELECT r.tenant, r.id, json_array_length(d.document -> 'redemptions') AS redemptions,
       d.document ->> 'request_id' AS request_id, d.document ->> 'receipt_id' AS receipt_id,
       d.document ->> 'expires_at' AS expires_at, r.version
FROM records r CROSS JOIN LATERAL (SELECT as_json(r.document) AS document) d
WHERE r.kind = 'authorization';

-- The text of a document with another title in its prompt; everything else stays as it was written, byte for byte.
--
-- The text is cut into its tokens, blanks too, and the one that is the value of `title`, in the object that is the value of
-- `prompt`, is replaced.
CREATE FUNCTION with_title(p_document text, p_title text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    v_token text;
    v_at int := 1;
    v_depth int := 0;
    v_names text[] := '{}';
    v_name text;
    v_value boolean := false;
BEGIN
    FOR v_token IN
        SELECT m[1] FROM regexp_matches(p_document, '("(?:[^"\\]|\\.)*"|[][{}:,]|\s+|[^][{}:,"\s]+)', 'g') AS m
    LOOP
        IF v_value AND v_depth = 2 AND v_names[1] = '"prompt"' AND v_names[2] = '"title"' AND v_token ~ '^"' THEN
            RETURN substr(p_document, 1, v_at - 1) || to_json(p_title)::text
                || substr(p_document, v_at + length(v_token));
        END IF;
        IF v_token IN ('{', '[') THEN
            v_depth := v_depth + 1;
            v_names[v_depth] := NULL;
        ELSIF v_token IN ('}', ']') THEN
            v_depth := v_depth - 1;
        ELSIF v_token = ':' THEN
            v_names[v_depth] := v_name;
        ELSIF v_token ~ '^"' THEN
            v_name := v_token;
        END IF;
        v_value := v_token = ':' OR (v_value AND v_token ~ '^\s');
        v_at := v_at + length(v_token);
    END LOOP;
    RAISE EXCEPTION 'requests: this document has no title';
END
$$;

CREATE FUNCTION write_request() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_state text;
BEGIN
    IF (NEW.tenant, NEW.id, NEW.state, NEW.waiter_ref, NEW.created_at, NEW.version)
        IS DISTINCT FROM (OLD.tenant, OLD.id, OLD.state, OLD.waiter_ref, OLD.created_at, OLD.version)
    THEN
        RAISE EXCEPTION 'requests: only the title can be changed here; the rest is changed through the API';
    END IF;
    IF NEW.title IS NULL OR length(NEW.title) NOT BETWEEN 1 AND 200 THEN
        RAISE EXCEPTION 'requests: a title is a text of 1 to 200 characters without NUL';
    END IF;
    -- Under the lock that every write of the tenant takes first: whoever comes after reads what this leaves, and what came
    -- before, also since this statement began, is read by those that follow here.
    PERFORM FROM tenants t WHERE t.tenant = OLD.tenant FOR UPDATE;
    SELECT q.state INTO v_state FROM requests q WHERE q.tenant = OLD.tenant AND q.id = OLD.id;
    IF v_state IS DISTINCT FROM 'pending' THEN
        RAISE EXCEPTION 'requests: the title can be changed while a request is pending, and this one has ended';
    END IF;
    -- The version rises, so that whoever read the record before cannot write over it.
    UPDATE records r SET document = with_title(r.document, NEW.title), version = r.version + 1
    WHERE r.tenant = OLD.tenant AND r.kind = 'request' AND r.id = OLD.id;
    RETURN NEW;
END
$$;

CREATE TRIGGER requests_write INSTEAD OF UPDATE ON requests FOR EACH ROW EXECUTE FUNCTION write_request();

-- Refuses what would go through a view, in the words that the trigger brings.
CREATE FUNCTION refuse_write() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'restrict_violation';
END
$$;

-- A trigger for the statement fires only where one for the row stands beside it, and is the one that is heard.
DO $$
DECLARE
    v_view text;
    v_event text;
    v_words text;
BEGIN
    FOR v_view, v_event, v_words IN VALUES
        ('requests', 'INSERT', 'requests: only the title can be changed here; a request is raised through the API'),
        ('requests', 'DELETE', 'requests: only the title can be changed here; a request is cancelled through the API'),
        ('receipts', 'UPDATE', 'receipts is append-only: a receipt cannot be changed, only corrected by a further one'),
        ('receipts', 'DELETE', 'receipts is append-only: a receipt cannot be taken back'),
        ('receipts', 'INSERT', 'receipts is append-only, and only the server appends: it seals each receipt'),
        ('deliveries', 'UPDATE', 'deliveries can only be read here: they change as channels report'),
        ('deliveries', 'DELETE', 'deliveries can only be read here: they go with their request'),
        ('deliveries', 'INSERT', 'deliveries can only be read here: they come from the ladder of a request'),
        ('signals', 'UPDATE', 'signals can only be read here: a signal is acknowledged through the API'),
        ('signals', 'DELETE', 'signals can only be read here: a signal is acknowledged through the API'),
        ('signals', 'INSERT', 'signals can only be read here: signals come from requests that end'),
        ('authorizations', 'UPDATE', 'authorizations can only be read here: an authorization is redeemed through the API'),
        ('authorizations', 'DELETE', 'authorizations can only be read here: an authorization is redeemed through the API'),
        ('authorizations', 'INSERT', 'authorizations can only be read here: authorizations come from answers')
    LOOP
        EXECUTE format('CREATE TRIGGER no_%s INSTEAD OF %s ON %I FOR EACH ROW EXECUTE FUNCTION refuse_write(%L)',
                       lower(v_event), v_event, v_view, v_words);
        EXECUTE format('CREATE TRIGGER no_%s_at_all BEFORE %s ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_write(%L)',
                       lower(v_event), v_event, v_view, v_words);
    END LOOP;
END
$$;
