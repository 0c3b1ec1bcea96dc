-- ORDER: on a cluster, too, a key that is drawn later is larger (R1). NOCACHE: a node that took keys ahead would hand them out
-- after others had drawn later ones. Manual: SQL Language Reference, "CREATE SEQUENCE".
CREATE SEQUENCE {seq} START WITH 1 INCREMENT BY 1 MINVALUE 1 NOMAXVALUE NOCYCLE NOCACHE ORDER
