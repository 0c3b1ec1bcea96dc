-- Run once by the PostgreSQL image, when the volume is empty. psql reads the passwords from the secrets itself.
\set airflow_password `cat /run/secrets/airflow_password`
\set store_password `cat /run/secrets/store_password`
CREATE ROLE airflow LOGIN PASSWORD :'airflow_password';
CREATE ROLE sluice LOGIN PASSWORD :'store_password';
CREATE DATABASE airflow OWNER airflow;
CREATE DATABASE sluice_control OWNER sluice;
