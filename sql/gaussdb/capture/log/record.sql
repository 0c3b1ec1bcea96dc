-- What of the server's log is published, in the transaction that records the segment (R2); none if another publisher took over (R6).
UPDATE {state}
SET lsn = %(lsn)s::bigint, ahead = %(ahead)s::text, segment = %(segment)s::bigint, sha256 = %(sha256)s::text
WHERE epoch = %(epoch)s::bigint
