UPDATE {state} SET segment = %(segment)s, sha256 = %(sha256)s WHERE epoch = %(epoch)s
