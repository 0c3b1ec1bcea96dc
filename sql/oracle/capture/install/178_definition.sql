-- How a table is, as a trigger for DDL notes it: in the form of an image, with one literal a column. A name that begins with a double
-- quote is that of no column. Fields are apart by double quotes, since no name and no type has one; what stands last may. It reads the
-- catalog in the transaction of the command, since such a trigger fires in that one. The text of a default is a LONG, of which the
-- beginning does. Manual: PL/SQL Language Reference, "Triggers for Publishing Events"; Database Reference, "ALL_TAB_COLS",
-- "ALL_CONSTRAINTS", "ALL_CONS_COLUMNS", "DBA_OBJECTS".
CREATE OR REPLACE FUNCTION {definition}(relation IN NUMBER) RETURN CLOB AUTHID DEFINER
IS
    owned   VARCHAR2(128 BYTE);
    called  VARCHAR2(128 BYTE);
    given   VARCHAR2(32767);
    image   CLOB;
    buffer  VARCHAR2(32767);
BEGIN
    SELECT made.owner, made.object_name INTO owned, called
    FROM sys.dba_objects made
    WHERE made.object_id = relation AND made.object_type = 'TABLE';
    {append}(image, buffer, {col2xml}('"schema', owned));
    {append}(image, buffer, {col2xml}('"table', called));
    FOR keyed IN (
        SELECT part.column_name, part.position, known.deferrable
        FROM all_constraints known
        JOIN all_cons_columns part ON part.owner = known.owner AND part.constraint_name = known.constraint_name
        WHERE known.owner = owned AND known.table_name = called AND known.constraint_type = 'P' AND known.status = 'ENABLED'
        ORDER BY part.position
    ) LOOP
        {append}(image, buffer, {col2xml}('"key' || TO_CHAR(keyed.position), keyed.deferrable || '"' || keyed.column_name));
    END LOOP;
    FOR part IN (
        SELECT column_name, data_type, data_type_owner, data_length, data_precision, data_scale, char_length, char_used, nullable,
               virtual_column, hidden_column, data_default
        FROM all_tab_cols
        WHERE owner = owned AND table_name = called AND (hidden_column = 'NO' OR user_generated = 'YES')
        ORDER BY internal_column_id
    ) LOOP
        given := part.data_default;
        {append}(image, buffer, {col2xml}(part.column_name,
            TO_CHAR(part.data_length) || '"' || TO_CHAR(part.data_precision) || '"' || TO_CHAR(part.data_scale) || '"'
            || TO_CHAR(part.char_length) || '"' || part.char_used || '"' || part.nullable || '"' || part.virtual_column || '"'
            || part.hidden_column || '"' || part.data_type_owner || '"' || part.data_type || '"' || SUBSTRB(given, 1, 2000)));
    END LOOP;
    RETURN {whole}(image, buffer);
END;
