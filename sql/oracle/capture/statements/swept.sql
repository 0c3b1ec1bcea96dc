-- The change number of the sweep that has read a statement first. Manual: SQL Language Reference, "SELECT".
SELECT known.scn FROM {statements} known WHERE known.id = :id AND known.scn IS NOT NULL
