-- Views for operators, to look at with any SQLite shell. They can only be read. Nothing in the program reads them.

-- Requests: what was asked, of whose waiter, and how it stands.
CREATE VIEW requests AS
SELECT tenant,
       id,
       json_extract(document, '$.state')        AS state,
       json_extract(document, '$.prompt.title') AS title,
       json_extract(document, '$.waiter_ref')   AS waiter_ref,
       json_extract(document, '$.created_at')   AS created_at,
       version
FROM records
WHERE kind = 'request';

-- Receipts, in the order of the chain. `body` is NULL once it was erased; the digest stays.
CREATE VIEW receipts AS
SELECT e.tenant,
       e.height,
       json_extract(b.body, '$.id')         AS id,
       json_extract(b.body, '$.request_id') AS request_id,
       e.digest,
       b.body
FROM chain_entries e
LEFT JOIN chain_bodies b ON b.tenant = e.tenant AND b.chain = e.chain AND b.height = e.height
WHERE e.chain = 'receipts';

-- Signals: what waiters are told, and when they said that they have it.
CREATE VIEW signals AS
SELECT tenant,
       id,
       json_extract(document, '$.type')       AS type,
       json_extract(document, '$.request_id') AS request_id,
       json_extract(document, '$.waiter_ref') AS waiter_ref,
       json_extract(document, '$.sequence')   AS sequence,
       json_extract(document, '$.created_at') AS created_at,
       json_extract(document, '$.acked_at')   AS acked_at,
       version
FROM records
WHERE kind = 'signal';

-- Authorizations: what an answer permits, once. One with a redemption is spent.
CREATE VIEW authorizations AS
SELECT tenant,
       id,
       json_array_length(document, '$.redemptions') AS redemptions,
       json_extract(document, '$.request_id') AS request_id,
       json_extract(document, '$.receipt_id') AS receipt_id,
       json_extract(document, '$.expires_at') AS expires_at,
       version
FROM records
WHERE kind = 'authorization';
