-- Tables that were listed as WANTED, and that the configuration names no more, or says something else about.
DELETE FROM {tables} AS listed
WHERE listed.status = 'WANTED' AND NOT EXISTS (
    SELECT FROM {wanted} AS entry
    WHERE (entry.schemaname, entry.tablename) = (listed.schemaname, listed.tablename)
      AND NOT (entry.wildcard OR entry.excluded)
      AND (entry.actions, coalesce(entry.trigger_name, {trigger_name}), entry.debug, entry.old_images)
        = (rtrim(coalesce(listed.actions, 'IUD')), listed.trigger_name, listed.debug, listed.old_images))
