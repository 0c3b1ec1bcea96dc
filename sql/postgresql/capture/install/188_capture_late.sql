-- The end of a table's trigger function: whether a change is captured after others that followed it, and what is done then
-- (see {overtaken}). A row that was changed again bears the number of the transaction that did it; so does one that somebody has
-- locked, which costs a look. The key of a row that is gone, or has another one, may be another's by now. The bearer was brought
-- within this statement, unless it bears the command of it: then its own change is still to come. Of a row that the transaction
-- had made itself the command cannot be told; a bearer of its key in another partition is taken for the row itself, which moved. A
-- DELETE looks for no bearer where the server has counted no row that this transaction brought (it may count some of those before).
-- One expression tells all that from what is plain, since each is made ready anew in every transaction of the application. No
-- setting of the session has a say in it, which any session could write. A key is looked up with the operators of its index, both
-- sides cast to the type that they take: for a domain a stranger may have made others of the same names. It is not looked up if
-- the table was renamed or its key altered, and no event trigger saw it: then the changes that followed are moved, as without a
-- key. Nor if the column has another type by now, nor of a table whose owner calls this function for it, nor under row security,
-- nor where {code_of_others} finds something, for which {may_plan} looks: casts, policies and functions are code of others, and
-- would run with our rights. Columns may bear the names of our variables, which say so where a table is read. What a TRUNCATE
-- leaves in the table was brought by a trigger that fired before ours, of this table or of another one that the statement names:
-- it follows. Nothing may fail the user's statement (R9), nor names that have changed meanwhile: a key's columns are compared
-- where DDL is not `seen`. If nothing can be looked up, the table is LOST. To look for a better order of joins took 40 ms a call.
CREATE OR REPLACE FUNCTION {capture_late}(relation oid, seen boolean) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET join_collapse_limit = 1 AS $capture_late$
    SELECT $body$
    IF NEW.xmax OPERATOR(pg_catalog.<>) '0'::pg_catalog.xid OR content IS NULL AND oldcontent IS NULL$body$ || CASE WHEN bears IS NULL THEN '' ELSE $body$
        OR rekeyed AND content IS NOT NULL AND oldcontent IS NOT NULL
        OR content IS NULL AND $body$ || brought END || $body$
    THEN
        DECLARE
            again pg_catalog.bool := coalesce(NEW.xmax OPERATOR(pg_catalog.<>) '0'::pg_catalog.xid, false);
            freed pg_catalog.bool := $body$ || CASE WHEN bears IS NULL THEN 'false' ELSE $body$oldcontent IS NOT NULL AND coalesce(
                content IS NULL OR rekeyed, false)$body$ END || $body$;
        BEGIN
            IF TG_OP OPERATOR(pg_catalog.=) 'TRUNCATE' THEN
                BEGIN
                    PERFORM {capture_rows}(entry.relid::pg_catalog.oid, 'I'::pg_catalog."char", entry.relid::pg_catalog.oid) FROM {tables} AS entry
                    WHERE entry.relid OPERATOR(pg_catalog.=) TG_RELID
                      AND pg_catalog.strpos(coalesce(entry.actions, 'IUD'), 'I') OPERATOR(pg_catalog.>) 0;
                EXCEPTION WHEN OTHERS THEN
                    RAISE WARNING 'rows of % could not be recorded for replication: %',
                        TG_RELID::pg_catalog.regclass, SQLERRM;
                    UPDATE {tables} SET status = 'LOST'
                    WHERE status OPERATOR(pg_catalog.=) 'OK' AND relid OPERATOR(pg_catalog.=) TG_RELID;
                END;
            END IF;
            IF (again OR freed) AND (TG_RELID OPERATOR(pg_catalog.=) $body$ || format($body$'%1$s'::pg_catalog.oid
                OR TG_RELID OPERATOR(pg_catalog.=) ANY ({partitions}('%1$s'::pg_catalog.oid))) THEN
                <<late>>
                DECLARE
                    own         pg_catalog.tid := NEW.ctid;
                    command     pg_catalog.cid := CASE WHEN pg_catalog.age(OLD.xmin) OPERATOR(pg_catalog.>) 0 THEN OLD.cmax
                                                       WHEN NOT again THEN NEW.cmin END;
                    bearer_leaf pg_catalog.oid;
                    bearer      pg_catalog.tid;
                    heir_leaf   pg_catalog.oid;
                    heir        pg_catalog.tid;
                    keyed       pg_catalog.bool := $body$, relation) || CASE WHEN bears IS NULL THEN 'false' ELSE 'true' END || $body$;
                BEGIN$body$ || CASE WHEN bears IS NULL THEN '' ELSE format($body$
                    -- Who owns the table may have given its name to something of his, unseen.
                    keyed := CASE WHEN %10$s THEN pg_catalog.to_regclass(%1$L)::pg_catalog.oid OPERATOR(pg_catalog.=) '%2$s'::pg_catalog.oid END;
                    IF keyed%7$s THEN
                        keyed := ARRAY(
                            SELECT a.attname::pg_catalog.text
                            FROM pg_catalog.pg_constraint AS c
                            JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) c.conrelid
                                AND a.attnum OPERATOR(pg_catalog.=) ANY (c.conkey)
                            WHERE c.conrelid OPERATOR(pg_catalog.=) '%2$s'::pg_catalog.oid
                              AND c.contype OPERATOR(pg_catalog.=) 'p'
                            ORDER BY a.attnum) OPERATOR(pg_catalog.=) %3$L::pg_catalog.text[];
                    END IF;
                    IF keyed THEN
                        keyed := %9$s;
                    END IF;
                    IF keyed THEN
                        IF pg_catalog.row_security_active('%2$s'::pg_catalog.oid) THEN
                            RAISE insufficient_privilege USING MESSAGE = 'its rows are hidden';
                        END IF;
                        IF content IS NOT NULL THEN
                            SELECT there.tableoid, there.ctid INTO bearer_leaf, bearer FROM %4$s AS there
                            WHERE {may_plan}('%2$s'::pg_catalog.oid) AND %5$s;
                        END IF;
                        IF freed THEN
                            SELECT there.tableoid, there.ctid INTO heir_leaf, heir FROM %4$s AS there
                            WHERE {may_plan}('%2$s'::pg_catalog.oid) AND %6$s
                                AND (there.cmin OPERATOR(pg_catalog.=) late.command) IS NOT TRUE%8$s;
                        END IF;
                    END IF;$body$, name, relation, names, root, bears, bore, CASE WHEN seen THEN ' AND again' ELSE '' END, moved, typed, ours) END || format($body$
                    IF again OR heir IS NOT NULL THEN
                        PERFORM {overtaken}(
                            TG_RELID::pg_catalog.oid, own::pg_catalog.tid, content::pg_catalog.text,
                            oldcontent::pg_catalog.text, keyed::pg_catalog.bool, bearer_leaf::pg_catalog.oid,
                            bearer::pg_catalog.tid, heir_leaf::pg_catalog.oid, heir::pg_catalog.tid);
                    END IF;
                EXCEPTION WHEN OTHERS THEN
                    -- A column may be called otherwise, unseen, until the next look. Most keys of rows that went are nobody's.
                    IF again OR SQLSTATE OPERATOR(pg_catalog.<>) '42703' THEN
                        RAISE WARNING 'changes of %% could not be put in order for replication: %%',
                            TG_RELID::pg_catalog.regclass, SQLERRM;
                        UPDATE {tables} SET status = 'LOST'
                        WHERE status OPERATOR(pg_catalog.=) 'OK' AND relid OPERATOR(pg_catalog.=) '%s'::pg_catalog.oid;
                    END IF;
                END;
            END IF;
        END;
    END IF;$body$, relation)
    FROM (
        SELECT class.oid::regclass::text AS name,
               CASE class.relkind WHEN 'p' THEN $moved$
                                AND (late.command IS NOT NULL OR captured.content IS NOT NULL OR there.tableoid OPERATOR(pg_catalog.=) OLD.tableoid)$moved$
               ELSE '' END AS moved,
               -- Heap tables are those that are known to count.
               CASE WHEN EXISTS (
                   SELECT FROM {tree}(relation::oid) AS tree (relid)
                   JOIN pg_class AS member ON member.oid = tree.relid
                   JOIN pg_am AS method ON method.oid = member.relam AND method.amname <> 'heap')
               THEN 'true' ELSE $brought$(
            pg_catalog.pg_stat_get_xact_tuples_inserted(TG_RELID)
                OPERATOR(pg_catalog.+) pg_catalog.pg_stat_get_xact_tuples_updated(TG_RELID) OPERATOR(pg_catalog.>) 0
            OR pg_catalog.current_setting('track_counts') OPERATOR(pg_catalog.<>) 'on')$brought$ END AS brought,
               CASE class.relkind WHEN 'r' THEN 'ONLY ' ELSE '' END || class.oid::regclass AS root,
               -- A statement may name, and hold, one partition alone.
               CASE class.relkind WHEN 'r' THEN 'true' ELSE format($held${held}('%s'::pg_catalog.oid)$held$, class.oid) END AS ours
        FROM pg_class AS class WHERE class.oid = relation
    ) AS named
    CROSS JOIN LATERAL (
        SELECT string_agg(format('there.%1$I%2$s OPERATOR(%3$s) NEW.%1$I%2$s', part.name, part.as_type, part.equal), ' AND ') AS bears,
               string_agg(format('there.%1$I%2$s OPERATOR(%3$s) OLD.%1$I%2$s', part.name, part.as_type, part.equal), ' AND ') AS bore,
               string_agg(format('pg_catalog.pg_typeof(OLD.%I)::pg_catalog.oid OPERATOR(pg_catalog.=) ''%s''::pg_catalog.oid',
                                 part.name, part.type), ' AND ') AS typed,
               array_agg(part.name::text ORDER BY part.attnum) AS names
        FROM (
            SELECT a.attname AS name, a.attnum, a.atttypid AS type, coalesce(known.equal, 'pg_catalog.=') AS equal, coalesce(known.as_type, '') AS as_type
            FROM pg_constraint AS c
            CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS key (attnum, n)
            JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = key.attnum
            LEFT JOIN LATERAL (
                SELECT format('%I.%s', namespace.nspname, operator.oprname) AS equal,
                       CASE WHEN input.typtype <> 'p' THEN format('::%I.%I', input_schema.nspname, input.typname) END AS as_type
                FROM pg_index AS i
                JOIN pg_opclass AS opclass ON opclass.oid = i.indclass[key.n - 1]
                JOIN pg_am AS method ON method.oid = opclass.opcmethod AND method.amname = 'btree'
                JOIN pg_amop AS member ON member.amopfamily = opclass.opcfamily AND member.amopstrategy = 3
                    AND member.amoplefttype = opclass.opcintype AND member.amoprighttype = opclass.opcintype
                JOIN pg_operator AS operator ON operator.oid = member.amopopr
                JOIN pg_namespace AS namespace ON namespace.oid = operator.oprnamespace
                JOIN pg_type AS input ON input.oid = opclass.opcintype
                JOIN pg_namespace AS input_schema ON input_schema.oid = input.typnamespace
                -- A polymorphic type is none that both sides could be cast to.
                WHERE i.indexrelid = c.conindid AND (input.typtype <> 'p' OR operator.oprnamespace = 'pg_catalog'::regnamespace)
            ) AS known ON true
            WHERE c.conrelid = relation AND c.contype = 'p'
              AND NOT EXISTS (SELECT FROM {checked_late}(relation::oid))) AS part
    ) AS key
$capture_late$
