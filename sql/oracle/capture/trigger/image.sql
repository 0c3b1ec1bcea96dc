-- The image of a row of one table: each column as its literal, in the order of the layout. A function of its own, since a trigger
-- has 32 kB at most. Manual: PL/SQL Language Reference, "CREATE FUNCTION Statement", "Trigger Restrictions".
CREATE OR REPLACE FUNCTION {image}(
    {parameters}) RETURN CLOB AUTHID DEFINER
IS
    image_  CLOB;
    buffer_ VARCHAR2(32767);
BEGIN
    {pieces}
    RETURN {whole}(image_, buffer_);
END;
