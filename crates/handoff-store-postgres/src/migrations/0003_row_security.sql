-- Who names no tenant sees nothing and writes nothing: forced, so that it binds the owner of the tables as well. The
-- transaction says whose rows it is about with set_config('handoff.tenant', …, true).
--
-- Three things look across tenants, and each has to name itself with set_config('handoff.scope', …, true): claiming timers
-- that are due, sweeping blobs that nobody kept, and looking which tenants wrote lately.

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['tenants', 'records', 'record_index', 'chain_entries', 'chain_bodies', 'erasures', 'events',
                                'timers', 'blobs']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY of_one_tenant ON %I USING (tenant = current_setting(''handoff.tenant'', true))
             WITH CHECK (tenant = current_setting(''handoff.tenant'', true))', name);
    END LOOP;
END
$$;

CREATE POLICY timers_are_found ON timers FOR SELECT USING (current_setting('handoff.scope', true) = 'timers');
CREATE POLICY timers_are_claimed ON timers FOR UPDATE USING (current_setting('handoff.scope', true) = 'timers');
CREATE POLICY blobs_are_found ON blobs FOR SELECT USING (current_setting('handoff.scope', true) = 'blobs' AND NOT kept);
CREATE POLICY blobs_are_swept ON blobs FOR DELETE USING (current_setting('handoff.scope', true) = 'blobs' AND NOT kept);
CREATE POLICY heads_are_seen ON tenants FOR SELECT USING (current_setting('handoff.scope', true) = 'heads');
