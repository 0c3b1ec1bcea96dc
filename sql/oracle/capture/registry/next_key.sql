-- Manual: SQL Language Reference, "Sequence Pseudocolumns".
SELECT {seq}.NEXTVAL FROM dual
