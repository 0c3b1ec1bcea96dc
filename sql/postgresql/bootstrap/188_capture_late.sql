-- The end of a table's trigger function: whether a change is captured after others that followed it, and what is done then
-- (see {overtaken}). A row that was changed again bears the number of the transaction that did it; so does one that somebody
-- has locked, which costs a look. That the key of a row that went may be another's by now, statements within tell by a setting.
-- One expression tells all that from what is plain, since each is made ready anew in every transaction of the application.
-- A key is looked up with the operators of its index, unless the table was renamed or its key altered, and no event trigger
-- saw it: then the changes that followed are moved, as without a key. Nothing of it may fail the user's statement (R9).
CREATE OR REPLACE FUNCTION {capture_late}(relation oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $capture_late$
    SELECT $body$
    IF NEW.xmax OPERATOR(pg_catalog.<>) '0'::pg_catalog.xid OR pg_catalog.pg_trigger_depth() OPERATOR(pg_catalog.>) 1$body$
        || CASE WHEN bears IS NULL THEN '' ELSE $body$
        OR oldcontent IS NOT NULL AND pg_catalog.current_setting('sluice.within', true) OPERATOR(pg_catalog.<>) ''$body$ END || $body$
    THEN
        DECLARE
            statement pg_catalog.text := pg_catalog.date_part('epoch', pg_catalog.statement_timestamp());
        BEGIN
            IF content IS NOT NULL AND pg_catalog.pg_trigger_depth() OPERATOR(pg_catalog.>) 1 THEN
                statement := pg_catalog.set_config('sluice.within', statement, true);
            END IF;
            IF NEW.xmax OPERATOR(pg_catalog.<>) '0'::pg_catalog.xid$body$ || CASE WHEN bears IS NULL THEN '' ELSE $body$
                OR oldcontent IS NOT NULL
                AND pg_catalog.current_setting('sluice.within', true) OPERATOR(pg_catalog.=) statement$body$ END || $body$
            THEN
                DECLARE
                    own         pg_catalog.tid := NEW.ctid;
                    bearer_leaf pg_catalog.oid;
                    bearer      pg_catalog.tid;
                    heir_leaf   pg_catalog.oid;
                    heir        pg_catalog.tid;
                    keyed       pg_catalog.bool := false;
                BEGIN$body$ || CASE WHEN bears IS NULL THEN '' ELSE format($body$
                    keyed := pg_catalog.to_regclass(%1$L)::pg_catalog.oid OPERATOR(pg_catalog.=) '%2$s'::pg_catalog.oid
                        AND ARRAY(
                            SELECT a.attname::pg_catalog.text
                            FROM pg_catalog.pg_constraint AS c
                            JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) c.conrelid
                                AND a.attnum OPERATOR(pg_catalog.=) ANY (c.conkey)
                            WHERE c.conrelid OPERATOR(pg_catalog.=) '%2$s'::pg_catalog.oid
                              AND c.contype OPERATOR(pg_catalog.=) 'p'
                            ORDER BY a.attnum) OPERATOR(pg_catalog.=) %3$L::pg_catalog.text[];
                    IF keyed THEN
                        IF pg_catalog.row_security_active('%2$s'::pg_catalog.oid) THEN
                            RAISE EXCEPTION 'its rows are hidden';
                        END IF;
                        IF content IS NOT NULL THEN
                            SELECT there.tableoid, there.ctid INTO bearer_leaf, bearer FROM %4$s AS there WHERE %5$s;
                        END IF;
                        IF oldcontent IS NOT NULL THEN
                            SELECT there.tableoid, there.ctid INTO heir_leaf, heir FROM %4$s AS there WHERE %6$s;
                        END IF;
                    ELSIF oldcontent IS NOT NULL
                        AND pg_catalog.current_setting('sluice.within', true) OPERATOR(pg_catalog.=) statement
                    THEN
                        RAISE EXCEPTION 'it was altered, and nobody has looked at it since';
                    END IF;$body$, name, relation, names, root, bears, bore) END || format($body$
                    PERFORM {overtaken}(TG_RELID, own, content, oldcontent, keyed, bearer_leaf, bearer, heir_leaf, heir);
                EXCEPTION WHEN OTHERS THEN
                    RAISE WARNING 'changes of %% could not be put in order for replication: %%',
                        TG_RELID::pg_catalog.regclass, SQLERRM;
                    UPDATE {tables} SET status = 'LOST'
                    WHERE status OPERATOR(pg_catalog.=) 'OK' AND relid OPERATOR(pg_catalog.=) '%s'::pg_catalog.oid;
                END;
            END IF;
        END;
    END IF;$body$, relation)
    FROM (
        SELECT class.oid::regclass::text AS name,
               CASE class.relkind WHEN 'r' THEN 'ONLY ' ELSE '' END || class.oid::regclass AS root
        FROM pg_class AS class WHERE class.oid = relation
    ) AS named
    CROSS JOIN LATERAL (
        SELECT string_agg(format('there.%1$I OPERATOR(%2$s) NEW.%1$I', part.name, part.equal), ' AND ') AS bears,
               string_agg(format('there.%1$I OPERATOR(%2$s) OLD.%1$I', part.name, part.equal), ' AND ') AS bore,
               array_agg(part.name::text ORDER BY part.attnum) AS names
        FROM (
            SELECT a.attname AS name, a.attnum, coalesce((
                SELECT format('%I.%s', namespace.nspname, operator.oprname)
                FROM pg_index AS i
                JOIN pg_opclass AS opclass ON opclass.oid = i.indclass[key.n - 1]
                JOIN pg_am AS method ON method.oid = opclass.opcmethod AND method.amname = 'btree'
                JOIN pg_amop AS member ON member.amopfamily = opclass.opcfamily AND member.amopstrategy = 3
                    AND member.amoplefttype = opclass.opcintype AND member.amoprighttype = opclass.opcintype
                JOIN pg_operator AS operator ON operator.oid = member.amopopr
                JOIN pg_namespace AS namespace ON namespace.oid = operator.oprnamespace
                WHERE i.indexrelid = c.conindid), 'pg_catalog.=') AS equal
            FROM pg_constraint AS c
            CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS key (attnum, n)
            JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = key.attnum
            WHERE c.conrelid = relation AND c.contype = 'p'
              AND NOT EXISTS (SELECT FROM {checked_late}(relation))) AS part
    ) AS key
$capture_late$
