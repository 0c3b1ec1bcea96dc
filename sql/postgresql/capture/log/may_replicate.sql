-- Whether the role of this session may use slots, which clouds let members of a role of theirs do. What it drops is not there, which
-- is said only to who may drop it; and that leaves no error in the server's log. Known until the session ends.
DO $may_replicate$
BEGIN
    PERFORM pg_catalog.pg_drop_replication_slot({slot});
EXCEPTION
    WHEN insufficient_privilege THEN
        PERFORM pg_catalog.set_config('sluice.may_replicate', 'no', false);
    WHEN OTHERS THEN
        PERFORM pg_catalog.set_config('sluice.may_replicate', 'yes', false);
END
$may_replicate$
