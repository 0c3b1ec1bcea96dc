-- The account, by each of the hosts that it was made with; where there is none the first grant fails. Run this again after
-- databases were added. It gives rights, and takes none away. MySQL does not tell roles from accounts.
SET @account = NULL, @asked = CONCAT(
    'SELECT GROUP_CONCAT(QUOTE(user), ''@'', QUOTE(host) SEPARATOR '', '') INTO @account FROM mysql.user WHERE user = ',
    QUOTE({login}), IF(VERSION() LIKE '%MariaDB%', ' AND is_role = ''N''', ''));
PREPARE asked FROM @asked;
EXECUTE asked;
SET @account = IFNULL(@account, CONCAT(QUOTE({login}), '@''%'''))
