-- Chunks that are not in yet, as far as others have committed. Manual: SQL Language Reference, "SELECT".
SELECT held.chunk FROM {loaded} held
WHERE held.source = :source AND held.slave = :slave AND held.load_id = :load_id
  AND held.chunk >= :low AND held.chunk < :high AND held.copied IS NULL
ORDER BY held.chunk
