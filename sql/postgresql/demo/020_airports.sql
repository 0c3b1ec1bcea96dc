CREATE TABLE airports (
    faa   text PRIMARY KEY,
    name  text NOT NULL,
    lat   double precision NOT NULL,
    lon   double precision NOT NULL,
    alt   integer NOT NULL,
    tz    integer NOT NULL,
    dst   text NOT NULL,
    tzone text
)
