-- What the log has to be like, and who this server is.
SELECT {settings}
