        ELSIF UPDATING THEN
            IF {same_key} THEN
                keep_('UPDATE', {new}, NULL, {guid});
            ELSE
                keep_('UPDATE', {new}, {old}, {guid});
            END IF;
