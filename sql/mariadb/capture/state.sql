SELECT store, epoch, incarnation, server, segment, sha256, place, born, wanted, layouts FROM {state} WHERE id = 1
