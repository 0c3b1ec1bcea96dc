-- Triggers of ours that fire. Manual: Database Reference, "ALL_TRIGGERS".
SELECT captured.trigger_name FROM all_triggers captured WHERE captured.owner = :schema AND captured.status = 'ENABLED'
