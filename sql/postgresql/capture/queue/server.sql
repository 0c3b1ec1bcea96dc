-- Which server this is, and its timeline, by the control file: some servers refuse functions of the WAL where nothing decodes it.
-- Before a promoted server takes a write it names its new timeline there, as that which a crash has to recover to; from its next
-- checkpoint on as that of the checkpoint. The first is read first: no moment between them is missed.
SELECT
    (SELECT system_identifier FROM pg_control_system()) || ':' || greatest(
        (SELECT min_recovery_end_timeline FROM pg_control_recovery()),
        (SELECT timeline_id FROM pg_control_checkpoint()))
