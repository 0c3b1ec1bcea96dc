-- Whether sessions of others are active, for a load that waits while many are; it shows their statements, too.
GRANT pg_read_all_stats TO {role}
