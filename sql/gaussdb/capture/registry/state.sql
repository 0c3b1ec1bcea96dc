SELECT version, incarnation, store, segment, sha256, epoch, slot, lsn, ahead FROM {state}
