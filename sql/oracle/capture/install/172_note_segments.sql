-- The segments of a table are as they should be: nothing is missing of it, or somebody knows what is. Manual: PL/SQL Language
-- Reference, "CREATE PROCEDURE Statement".
CREATE OR REPLACE PROCEDURE {note_segments}(relation IN NUMBER) AUTHID DEFINER
IS
BEGIN
    DELETE FROM {segments} WHERE relid = relation;
    INSERT INTO {segments} (relid, object_id, data_object_id)
    SELECT found.relid, found.object_id, found.data_object_id FROM {stored} found WHERE found.relid = relation;
END;
