-- Adds a piece to an image: to a buffer, and to a CLOB only when that is full, since a CLOB costs many times more.
-- The CLOB is freed with the variable that holds it last. Its duration is no CALL: what a call is between two sections of a trigger
-- no manual says. Manual: SecureFiles and Large Objects Developer's Guide, "Temporary LOBs Created by SQL and PL/SQL Built-in
-- Functions"; PL/SQL Packages and Types Reference, "DBMS_LOB", "APPEND Procedures": nothing is counted there,
-- since a character beyond 16 bits counts as two in a CLOB and as one in a VARCHAR2.
CREATE OR REPLACE PROCEDURE {append}(image IN OUT NOCOPY CLOB, buffer IN OUT NOCOPY VARCHAR2, piece IN VARCHAR2) AUTHID DEFINER
IS
BEGIN
    IF NVL(LENGTHB(buffer), 0) + LENGTHB(piece) > 32000 THEN
        IF image IS NULL THEN
            DBMS_LOB.CREATETEMPORARY(image, TRUE);
        END IF;
        IF buffer IS NOT NULL THEN
            DBMS_LOB.APPEND(image, TO_CLOB(buffer));
        END IF;
        buffer := piece;
    ELSE
        buffer := buffer || piece;
    END IF;
END;
