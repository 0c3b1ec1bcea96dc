-- Sessions of others that are connected as a user; ours say so by the name of their program. Manual: Database Reference, "V$SESSION".
SELECT held.sid, held.program
FROM sys.v_$session held
WHERE held.username = :schema AND held.type = 'USER' AND (held.program IS NULL OR held.program NOT LIKE 'sluice-%')
ORDER BY held.sid
