-- How many sessions of others execute something; ours say so by the name of their program. Manual: Database Reference, "V$SESSION".
SELECT COUNT(*) FROM sys.v_$session held
WHERE held.type = 'USER' AND held.status = 'ACTIVE' AND (held.program IS NULL OR held.program NOT LIKE 'sluice-%')
