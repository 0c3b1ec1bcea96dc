-- In the transaction that loads the rows: nobody else loads a chunk beside its holder, and none loads twice (R3). Manual: SQL Language
-- Reference, "SELECT", "for_update_clause".
SELECT held.chunk FROM {loaded} held
WHERE held.source = :source AND held.slave = :slave AND held.load_id = :load_id AND held.chunk = :chunk AND held.copied IS NULL
FOR UPDATE {held}
