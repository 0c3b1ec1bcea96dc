UPDATE {state} SET epoch = %(epoch)s, backend_pid = pg_backend_pid() WHERE epoch <= %(epoch)s RETURNING epoch
