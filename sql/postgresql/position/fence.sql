-- FOR SHARE: a plain read would let a zombie through that was overtaken after it looked (R6). And whether what was set in our
-- session holds in this transaction, see `expect_same`.
SELECT epoch, current_setting('sluice.session', true) FROM {position} WHERE source = %(source)s AND slave = %(slave)s FOR SHARE
