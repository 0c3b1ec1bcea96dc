        ELSIF UPDATING THEN
            keep_('UPDATE', {new}, {old}, {guid});
