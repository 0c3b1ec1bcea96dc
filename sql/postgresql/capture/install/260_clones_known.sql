-- Those of tables that an older version recorded.
UPDATE {current_tables} AS known SET clones = {clones}(known.relid::oid)
WHERE known.clones = '{{ }}' AND known.partitions <> '{{ }}' AND {clones}(known.relid::oid) <> '{{ }}'
