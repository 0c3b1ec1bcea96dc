-- Commits nothing either. Manual: SQL Language Reference, "DROP TABLE".
DROP TABLE {stage}
