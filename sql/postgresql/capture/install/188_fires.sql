-- Whether a trigger fires in every session, at this moment and for all that it has to: `type` has the bits of pg_trigger.tgtype.
-- Who owns the table may replace a trigger by one that calls the same function and bears the same name, but only under a
-- condition, for some columns, or for fewer actions (R9). More actions hide nothing.
CREATE OR REPLACE FUNCTION {fires}(made pg_trigger, type integer) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $fires$
    -- 67: for each row, before, instead of.
    SELECT made.tgenabled = 'A' AND made.tgqual IS NULL AND made.tgattr::text = '' AND made.tgnargs = 0
       AND made.tgoldtable IS NULL AND made.tgnewtable IS NULL
       AND made.tgtype::integer & 67 = type & 67 AND made.tgtype::integer & type = type
$fires$
