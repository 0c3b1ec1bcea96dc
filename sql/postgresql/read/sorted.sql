-- Whether a key is not behind another; each value is read as its column's type.
SELECT ({one}) <= ({other})
