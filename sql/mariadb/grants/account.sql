-- The account, by each of the hosts that it was made with; where there is none the first grant fails. Run this again after
-- databases were added. It gives rights, and takes none away.
SET @account = IFNULL(
    (SELECT GROUP_CONCAT(QUOTE(user), '@', QUOTE(host) SEPARATOR ', ') FROM mysql.user
     WHERE user = {login} /*M!100000 AND is_role = 'N' */),
    CONCAT(QUOTE({login}), '@''%'''))
