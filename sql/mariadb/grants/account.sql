-- Where there is none the first grant fails. Run this again after databases were added. It gives rights, and takes none away.
SET @account = IFNULL(@account, CONCAT(QUOTE({login}), '@''%'''))
