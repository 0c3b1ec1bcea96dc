-- Not every destination is in airports, nor every tail number in planes: those two are no foreign keys.
ALTER TABLE flights
    ADD PRIMARY KEY (year, month, day, carrier, flight, origin),
    ADD FOREIGN KEY (carrier) REFERENCES airlines,
    ADD FOREIGN KEY (origin) REFERENCES airports
