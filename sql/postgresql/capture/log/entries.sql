SELECT schemaname, tablename, rtrim(coalesce(actions, 'IUD')) FROM {tables}
