-- CACHE 1: a session that took keys ahead would hand them out after others had drawn later ones (R1).
CREATE SEQUENCE IF NOT EXISTS {seq} AS bigint CACHE 1
