-- The same for a piece of any length. Manual: PL/SQL Packages and Types Reference, "DBMS_LOB", "APPEND Procedures".
CREATE OR REPLACE PROCEDURE {append_long}(image IN OUT NOCOPY CLOB, buffer IN OUT NOCOPY VARCHAR2, piece IN CLOB) AUTHID DEFINER
IS
BEGIN
    IF image IS NULL THEN
        DBMS_LOB.CREATETEMPORARY(image, TRUE);
    END IF;
    IF buffer IS NOT NULL THEN
        DBMS_LOB.APPEND(image, TO_CLOB(buffer));
        buffer := NULL;
    END IF;
    DBMS_LOB.APPEND(image, piece);
END;
