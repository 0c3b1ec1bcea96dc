-- One of the rows that look like an image; as texts, which any type has, and in which NULL equals NULL.
(target.tableoid, target.ctid) = (
    SELECT alike.tableoid, alike.ctid FROM {rows} AS alike WHERE ROW({own})::text = ROW({image})::text LIMIT 1)
