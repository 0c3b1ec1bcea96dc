-- The character set of every VARCHAR2 and CLOB. Manual: Database Reference, "NLS_DATABASE_PARAMETERS".
SELECT value FROM nls_database_parameters WHERE parameter = 'NLS_CHARACTERSET'
