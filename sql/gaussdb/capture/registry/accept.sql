UPDATE {state}
SET incarnation = %(incarnation)s::text, segment = %(segment)s::bigint, sha256 = %(sha256)s::text
WHERE epoch = %(epoch)s::bigint
