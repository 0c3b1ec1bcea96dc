-- Whether a trigger calls this one of the two functions that make images of its rows. Manual: Database Reference, "ALL_DEPENDENCIES".
SELECT COUNT(*)
FROM user_dependencies needed
WHERE needed.name = :trigger_ AND needed.type = 'TRIGGER' AND needed.referenced_type = 'FUNCTION'
  AND needed.referenced_owner = :schema AND needed.referenced_name = :image
