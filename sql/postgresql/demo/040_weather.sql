-- The local hour is no key: on the day the clocks go back it comes twice.
CREATE TABLE weather (
    origin     text NOT NULL,
    year       integer NOT NULL,
    month      integer NOT NULL,
    day        integer NOT NULL,
    hour       integer NOT NULL,
    temp       double precision,
    dewp       double precision,
    humid      double precision,
    wind_dir   integer,
    wind_speed double precision,
    wind_gust  double precision,
    precip     double precision NOT NULL,
    pressure   double precision,
    visib      double precision NOT NULL,
    time_hour  timestamptz NOT NULL
)
