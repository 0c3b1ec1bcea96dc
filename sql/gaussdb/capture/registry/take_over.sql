-- A publisher with a lower epoch cannot record anything from here on (R6).
UPDATE {state} SET epoch = %(epoch)s::bigint WHERE epoch <= %(epoch)s::bigint
