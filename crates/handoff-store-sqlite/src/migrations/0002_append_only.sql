-- What was sealed stays: the database itself refuses to change it, whoever asks. The triggers before INSERT close the
-- way around through INSERT OR REPLACE, which would delete the old row without firing a trigger.

CREATE TRIGGER chain_entries_no_update BEFORE UPDATE ON chain_entries BEGIN
    SELECT RAISE(ABORT, 'chain_entries is append-only: write a further entry instead');
END;
CREATE TRIGGER chain_entries_no_delete BEFORE DELETE ON chain_entries BEGIN
    SELECT RAISE(ABORT, 'chain_entries is append-only: erase the body instead, the entry stays');
END;
CREATE TRIGGER chain_entries_no_replace BEFORE INSERT ON chain_entries
WHEN EXISTS (SELECT 1 FROM chain_entries e WHERE e.tenant = NEW.tenant AND e.chain = NEW.chain AND e.height = NEW.height)
BEGIN
    SELECT RAISE(ABORT, 'chain_entries is append-only: this height is taken, write at the next one instead');
END;

CREATE TRIGGER chain_bodies_no_update BEFORE UPDATE ON chain_bodies BEGIN
    SELECT RAISE(ABORT, 'chain_bodies is append-only: write a further entry instead');
END;
CREATE TRIGGER chain_bodies_no_delete BEFORE DELETE ON chain_bodies
WHEN NOT EXISTS (SELECT 1 FROM erasures e WHERE e.tenant = OLD.tenant AND e.chain = OLD.chain AND e.height = OLD.height)
BEGIN
    SELECT RAISE(ABORT, 'chain_bodies is append-only: insert a row in erasures first, then this body may be deleted');
END;
CREATE TRIGGER chain_bodies_no_replace BEFORE INSERT ON chain_bodies
WHEN EXISTS (SELECT 1 FROM chain_bodies b WHERE b.tenant = NEW.tenant AND b.chain = NEW.chain AND b.height = NEW.height)
  OR EXISTS (SELECT 1 FROM erasures e WHERE e.tenant = NEW.tenant AND e.chain = NEW.chain AND e.height = NEW.height)
BEGIN
    SELECT RAISE(ABORT, 'chain_bodies is append-only: this entry has or had a body, write a further entry instead');
END;

CREATE TRIGGER erasures_no_update BEFORE UPDATE ON erasures BEGIN
    SELECT RAISE(ABORT, 'erasures is append-only: the first reason stands');
END;
CREATE TRIGGER erasures_no_delete BEFORE DELETE ON erasures BEGIN
    SELECT RAISE(ABORT, 'erasures is append-only: an erasure cannot be taken back');
END;
CREATE TRIGGER erasures_no_replace BEFORE INSERT ON erasures
WHEN EXISTS (SELECT 1 FROM erasures e WHERE e.tenant = NEW.tenant AND e.chain = NEW.chain AND e.height = NEW.height)
BEGIN
    SELECT RAISE(ABORT, 'erasures is append-only: this body was erased before and the first reason stands');
END;

CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN
    SELECT RAISE(ABORT, 'events is append-only: write a further event instead');
END;
CREATE TRIGGER events_no_delete BEFORE DELETE ON events BEGIN
    SELECT RAISE(ABORT, 'events is append-only: an event cannot be taken back');
END;
CREATE TRIGGER events_no_replace BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM events e WHERE e.tenant = NEW.tenant AND e.sequence = NEW.sequence)
BEGIN
    SELECT RAISE(ABORT, 'events is append-only: this sequence is taken, write at the next one instead');
END;
