-- Manual: SQL Language Reference, "SELECT".
SELECT held.chunk, held.copied FROM {loaded} held
WHERE held.source = :source AND held.slave = :slave AND held.load_id = :load_id AND held.copied IS NOT NULL
