UPDATE {state} SET version = %(version)s WHERE version <> %(version)s
