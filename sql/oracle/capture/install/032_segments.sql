-- The segments that hold the rows of a watched table, as they were when nothing was missing: a command that takes rows away, or brings
-- some, without a trigger of rows gives a segment another number (R9). Manual: Database Reference, "ALL_OBJECTS", DATA_OBJECT_ID.
CREATE TABLE {segments} (
    relid          NUMBER NOT NULL,
    object_id      NUMBER NOT NULL,
    data_object_id NUMBER NOT NULL,
    CONSTRAINT {segments_key} PRIMARY KEY (relid, object_id)
)
