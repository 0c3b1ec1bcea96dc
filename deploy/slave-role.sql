-- Run once by the PostgreSQL image, when the volume is empty. psql reads the password from the secret itself.
\set slave_password `cat /run/secrets/slave_password`
CREATE ROLE sluice LOGIN PASSWORD :'slave_password';
-- As `./sluice grants branch --slave` grants it in an empty database: the role owns what it makes there.
GRANT CONNECT, TEMPORARY ON DATABASE :"DBNAME" TO sluice;
GRANT USAGE, CREATE ON SCHEMA public TO sluice;
