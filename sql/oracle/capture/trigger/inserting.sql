        ELSIF INSERTING THEN
            keep_('INSERT', {new}, NULL, {guid});
