-- What the log has to be like, and who this server is.
SELECT @@GLOBAL.log_bin, @@GLOBAL.binlog_format, @@GLOBAL.binlog_row_image, @@GLOBAL.binlog_row_metadata,
    @@GLOBAL.sync_binlog, @@GLOBAL.innodb_flush_log_at_trx_commit, @@GLOBAL.log_bin_compress,
    @@GLOBAL.server_id
