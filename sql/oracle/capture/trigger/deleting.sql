        ELSIF DELETING THEN
            keep_('DELETE', NULL, {old}, NULL);
