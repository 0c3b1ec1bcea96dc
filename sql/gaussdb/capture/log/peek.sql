-- Whole transactions in the order of their commits, at least so many statements, if there are. Nothing is taken out of the slot.
-- Columns by place, since their names and types depend on the kind of server; no limit by a place in the log.
COPY (
    SELECT found.place::text, found.data::text
    FROM pg_logical_slot_peek_changes({slot}::name, NULL, {most}::integer{options}) AS found (place, xid, data)
) TO STDOUT (FORMAT binary)
