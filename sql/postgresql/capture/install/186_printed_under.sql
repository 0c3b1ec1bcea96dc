-- The settings that decide how a row of a table is printed, by the types of its columns; all of them for a type that is
-- not listed, and for composites, whose attributes change without an ALTER of the table (R7).
CREATE OR REPLACE FUNCTION {printed_under}(relation oid) RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $printed_under$
    WITH RECURSIVE known (types, settings) AS (VALUES
        ('{{bool,char,name,text,varchar,bpchar,int2,int4,int8,numeric,oid,xid,xid8,cid,tid,int2vector,oidvector,pg_lsn,uuid,
           bit,varbit,inet,cidr,macaddr,macaddr8,json,jsonb,jsonpath,xml,tsvector,tsquery}}'::name[], ARRAY[]::text[]),
        ('{{date,time,timetz,timestamp}}', '{{datestyle}}'),
        ('{{timestamptz}}', '{{datestyle,timezone}}'),
        ('{{interval}}', '{{intervalstyle}}'),
        ('{{float4,float8,point,lseg,line,box,path,polygon,circle}}', '{{extra_float_digits}}'),
        ('{{bytea}}', '{{bytea_output}}'),
        ('{{money}}', '{{lc_monetary}}')
    ), inside (type) AS (
        SELECT atttypid FROM pg_attribute WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped
        UNION
        SELECT CASE type.typtype
            WHEN 'd' THEN type.typbasetype
            WHEN 'b' THEN type.typelem
            ELSE (SELECT rngsubtype FROM pg_range WHERE type.oid IN (rngtypid, rngmultitypid))
        END
        FROM inside
        JOIN pg_type AS type ON type.oid = inside.type
        WHERE type.typtype IN ('d', 'r', 'm') OR type.typoutput = 'array_out'::regproc
    )
    SELECT DISTINCT unnest(coalesce(
        known.settings,
        '{{search_path,datestyle,intervalstyle,timezone,extra_float_digits,bytea_output,lc_monetary}}'))
    FROM inside
    JOIN pg_type AS type ON type.oid = inside.type
    LEFT JOIN known ON type.typname = ANY (known.types) AND type.typnamespace = 'pg_catalog'::regnamespace
    WHERE type.typtype NOT IN ('d', 'r', 'm', 'e') AND type.typoutput <> 'array_out'::regproc
$printed_under$
