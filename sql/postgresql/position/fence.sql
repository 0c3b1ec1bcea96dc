-- FOR SHARE: a plain read would let a zombie through that was overtaken after it looked (R6).
SELECT epoch FROM {position} WHERE source = %(source)s AND slave = %(slave)s FOR SHARE
