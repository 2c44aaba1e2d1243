#!/bin/sh
# Shows how the database carries out what the store asks most, on a database that a server has filled:
#
#   plans.sh ADDRESS-OF-A-SUPERUSER/DATABASE ROLE-OF-THE-SERVER
#
# The statements stand in functions, so each is explained from within as it runs, by a module that only a superuser may load;
# they run as the role, whom row-level security binds. What they write is taken back.
set -eu
url=$1 role=$2
tenant=org_00000000000000000000000001

ask() { psql -X -q -At -v ON_ERROR_STOP=1 -d "$url" -c "SET handoff.tenant = '$tenant'" -c "$1"; }

explain() {
    printf '\n-- %s\n' "$1"
    psql -X -q -At -v ON_ERROR_STOP=1 -d "$url" 2>&1 >/dev/null <<SQL | sed -e '/^LOG:  duration/d' -e '/^CONTEXT:/d' \
        -e 's/(cost=[^)]*) //' -e 's/ loops=\([0-9]*\))/ times=\1)/' -e 's/(actual time=[0-9.]*\.\./(ms=/'
LOAD 'auto_explain';
SET auto_explain.log_analyze = on;
SET auto_explain.log_nested_statements = on;
SET ROLE $role;
BEGIN;
SELECT set_config('handoff.tenant', '$tenant', true);
SAVEPOINT first;
$2;
ROLLBACK TO SAVEPOINT first;
RESET ROLE;
SET LOCAL client_min_messages = log;
SET LOCAL auto_explain.log_min_duration = 0;
SET ROLE $role;
$3;
ROLLBACK;
SQL
}

# What it is asked with.
request=$(ask "SELECT id FROM records WHERE tenant = '$tenant' AND kind = 'request' ORDER BY md5(id) LIMIT 1")
version=$(ask "SELECT version FROM records WHERE tenant = '$tenant' AND kind = 'request' AND id = '$request'")
waiter=$(ask "SELECT id FROM records WHERE tenant = '$tenant' AND kind = 'waiter' ORDER BY md5(id) LIMIT 1")
height=$(ask "SELECT max(height) FROM chain_entries WHERE tenant = '$tenant'")
sequence=$(ask "SELECT sequence FROM tenants WHERE tenant = '$tenant'")
last=$(ask "SELECT last_id FROM tenants WHERE tenant = '$tenant'")
timer=$(ask "SELECT key FROM timers WHERE tenant = '$tenant' ORDER BY md5(key) LIMIT 1")
row=$(ask "SELECT encode(sort_key, 'hex') FROM record_index WHERE tenant = '$tenant' AND idx = 'request.state' AND id = '$request'")

read="SELECT * FROM handoff_records('$tenant', '{request,waiter}', '{$request,$waiter}')"
explain "two records by key" "$read" "$read"

page="SELECT * FROM handoff_scan('$tenant', 'request.state', 'pending\\000', 'pending\\001', false, 51)"
explain "a page of 50 pending requests, and whether there are more" "$page" "$page"

chain="SELECT * FROM handoff_chain('$tenant', 'receipts', greatest(1, $height - 50), 50)"
explain "a page of 50 receipts" "$chain" "$chain"

lock="SELECT * FROM handoff_load('$tenant', true, '{request,waiter}', '{$request,$waiter}', '{request.open}', '{a}', '{b}', '{2}', '{receipts}')"
explain "a batch begins: the head is locked, then two records, a row of an index and the head of a chain are read" "$lock" "$lock"

none="'{}', '{}'"
write="SELECT handoff_write_state('$tenant', 0, '{receipt}', '{new}', '{1}', ARRAY['{}'],
    '{request}', '{$request}', '{$version}', '{$version}', ARRAY['{}'], $none, '{}',
    '{request.state}', '{\"\\\\x$row\"}', '{request}', '{$request}', '{request.state}', '{new}', '{request}', '{new}',
    $none, '{}', $none, $none, '{receipts}', ARRAY[\$height], '{a}', '{b}', '{NULL}', '{c}', '{0}', $none, '{}'),
    handoff_write_rest('$tenant', ARRAY[\$sequence], '{a}', '{b}', '{0}', ARRAY['{}'], $none, '{$timer}', '{new}', '{0}', ARRAY['{}'],
    \$sequence, '$last', true)"
fill() { printf %s "$write" | sed -e "s/\$height/$((height + $1))/" -e "s/\$sequence/$((sequence + $1))/g" -e "s/new/new$1/g"; }
explain "a batch is written: a record more, a record changed, a row of an index less and one more, a receipt, an event, timers" "$(fill 1)" "$(fill 2)"

claim="SELECT * FROM handoff_claim(10, 1000, NULL)"
explain "timers that are due are claimed, over all tenants" "$claim" "$claim"
