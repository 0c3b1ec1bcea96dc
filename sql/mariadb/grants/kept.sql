-- RDS and Aurora say by a procedure how long they keep the log. It is shown where it is.
SET @given = IF(
    EXISTS (
        SELECT 1 FROM information_schema.routines
        WHERE routine_schema = 'mysql' AND routine_name = 'rds_show_configuration'
    ),
    CONCAT('GRANT EXECUTE ON PROCEDURE mysql.rds_show_configuration TO ', @account),
    'DO 0'
)
