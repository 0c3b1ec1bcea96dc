-- Rows that this transaction or a later one wrote; older rows too, if 2^31 transactions have passed since.
age(xmin) <= age({since}::xid)
