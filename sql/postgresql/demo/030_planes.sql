CREATE TABLE planes (
    tailnum      text PRIMARY KEY,
    year         integer,
    type         text NOT NULL,
    manufacturer text NOT NULL,
    model        text NOT NULL,
    engines      integer NOT NULL,
    seats        integer NOT NULL,
    speed        integer,
    engine       text NOT NULL
)
