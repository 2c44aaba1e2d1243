-- What an operator may write through the views: the title of a request that is pending, with
--   UPDATE requests SET title = 'new' WHERE id = 'req_…';
-- Everything else is refused in words that say why. The title is changed inside the document, from which it is served; the
-- version of the record rises, so that whoever read it before cannot write over it.

CREATE TRIGGER requests_update_title INSTEAD OF UPDATE OF title ON requests BEGIN
    SELECT RAISE(ABORT, 'requests: the title can be changed while a request is pending, and this one has ended')
    WHERE OLD.state IS NOT 'pending';
    SELECT RAISE(ABORT, 'requests: a title is a text of 1 to 200 characters without NUL')
    WHERE typeof(NEW.title) <> 'text' OR length(NEW.title) NOT BETWEEN 1 AND 200 OR instr(NEW.title, char(0)) > 0;
    -- A character that is not written as this one is written did not come from UTF-8 text; two are read as U+FFFD although
    -- they did. Nobody could read a document with such bytes in it.
    SELECT RAISE(ABORT, 'requests: this title is not UTF-8; a shell with another character set sends other bytes')
    FROM (
        SELECT substr(NEW.title, 1 + ones.column1 + 10 * tens.column1 + 100 * hundreds.column1, 1) AS letter
        FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS ones,
             (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS tens,
             (VALUES (0), (1)) AS hundreds
    )
    WHERE letter <> '' AND letter <> char(unicode(letter)) AND letter NOT IN (char(65534), char(65535));
    UPDATE records
    -- Joined to nothing, a value of JSON is a text like any other.
    SET document = json_set(document, '$.prompt.title', NEW.title || ''), version = version + 1
    WHERE tenant = OLD.tenant AND kind = 'request' AND id = OLD.id;
END;
CREATE TRIGGER requests_no_update INSTEAD OF UPDATE OF tenant, id, state, waiter_ref, created_at, version ON requests BEGIN
    SELECT RAISE(ABORT, 'requests: only the title can be changed here; the rest is changed through the API');
END;
CREATE TRIGGER requests_no_insert INSTEAD OF INSERT ON requests BEGIN
    SELECT RAISE(ABORT, 'requests: only the title can be changed here; a request is raised through the API');
END;
CREATE TRIGGER requests_no_delete INSTEAD OF DELETE ON requests BEGIN
    SELECT RAISE(ABORT, 'requests: only the title can be changed here; a request is cancelled through the API');
END;

CREATE TRIGGER receipts_no_update INSTEAD OF UPDATE ON receipts BEGIN
    SELECT RAISE(ABORT, 'receipts is append-only: a receipt cannot be changed, only corrected by a further one');
END;
CREATE TRIGGER receipts_no_delete INSTEAD OF DELETE ON receipts BEGIN
    SELECT RAISE(ABORT, 'receipts is append-only: a receipt cannot be taken back');
END;
CREATE TRIGGER receipts_no_insert INSTEAD OF INSERT ON receipts BEGIN
    SELECT RAISE(ABORT, 'receipts is append-only, and only the server appends: it seals each receipt');
END;

CREATE TRIGGER signals_no_update INSTEAD OF UPDATE ON signals BEGIN
    SELECT RAISE(ABORT, 'signals can only be read here: a signal is acknowledged through the API');
END;
CREATE TRIGGER signals_no_delete INSTEAD OF DELETE ON signals BEGIN
    SELECT RAISE(ABORT, 'signals can only be read here: a signal is acknowledged through the API');
END;
CREATE TRIGGER signals_no_insert INSTEAD OF INSERT ON signals BEGIN
    SELECT RAISE(ABORT, 'signals can only be read here: signals come from requests that end');
END;

CREATE TRIGGER authorizations_no_update INSTEAD OF UPDATE ON authorizations BEGIN
    SELECT RAISE(ABORT, 'authorizations can only be read here: an authorization is redeemed through the API');
END;
CREATE TRIGGER authorizations_no_delete INSTEAD OF DELETE ON authorizations BEGIN
    SELECT RAISE(ABORT, 'authorizations can only be read here: an authorization is redeemed through the API');
END;
CREATE TRIGGER authorizations_no_insert INSTEAD OF INSERT ON authorizations BEGIN
    SELECT RAISE(ABORT, 'authorizations can only be read here: authorizations come from answers');
END;
