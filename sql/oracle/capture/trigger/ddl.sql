-- One for each schema that has watched tables. Manual: PL/SQL Language Reference, "Triggers for Publishing Events", "CREATE TRIGGER
-- Statement", "Event Attribute Functions". A statement that does not fit into 32 kB is not read.
CREATE OR REPLACE TRIGGER {trigger}
AFTER CREATE OR ALTER OR TRUNCATE OR RENAME ON {schema}.SCHEMA
DECLARE
    pieces_    ora_name_list_t;
    statement_ VARCHAR2(32767);
BEGIN
    IF ora_dict_obj_type = 'TABLE' THEN
        BEGIN
            FOR i IN 1 .. NVL(ora_sql_txt(pieces_), 0) LOOP
                statement_ := statement_ || pieces_(i);
            END LOOP;
        EXCEPTION
            WHEN OTHERS THEN
                statement_ := 'UNREADABLE';
        END;
        {note_ddl}(ora_sysevent, ora_dict_obj_owner, ora_dict_obj_name, statement_);
    END IF;
END;
