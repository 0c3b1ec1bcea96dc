-- Manual: SQL Language Reference, "SELECT".
SELECT incarnation, segment, sha256, epoch, version, store FROM {state}
