-- Whether the configuration has commands carried. Manual: SQL Language Reference, "SELECT".
SELECT setting.detection FROM {settings} setting
