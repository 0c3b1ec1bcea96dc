-- Objects that are there in one edition, and in those after it. Manual: Database Reference, "USER_OBJECTS"; Development Guide, "Editioned
-- and Noneditioned Objects".
SELECT made.object_type, made.object_name FROM user_objects made WHERE made.edition_name IS NOT NULL ORDER BY made.object_name
