-- The account, by each of the hosts that it was made with. MySQL does not tell roles from accounts.
SET @account = NULL, @asked = CONCAT(
    'SELECT GROUP_CONCAT(QUOTE(user), ''@'', QUOTE(host) SEPARATOR '', '') INTO @account FROM mysql.user WHERE user = ',
    QUOTE({login}), IF(VERSION() LIKE '%MariaDB%', ' AND is_role = ''N''', ''))
