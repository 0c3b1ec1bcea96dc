-- Run once by the PostgreSQL image, when the volume is empty. psql reads the password from the secret itself.
\set master_password `cat /run/secrets/master_password`
CREATE ROLE sluice LOGIN PASSWORD :'master_password';
