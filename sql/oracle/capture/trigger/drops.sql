-- Before, since afterwards nothing is known of the table. Manual: PL/SQL Language Reference, "Event Attribute Functions".
CREATE OR REPLACE TRIGGER {trigger}
BEFORE DROP ON {schema}.SCHEMA
BEGIN
    IF ora_dict_obj_type = 'TABLE' THEN
        {note_ddl}(ora_sysevent, ora_dict_obj_owner, ora_dict_obj_name, 'DROP TABLE');
    END IF;
END;
