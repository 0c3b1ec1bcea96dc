ALTER TABLE weather
    ADD PRIMARY KEY (origin, time_hour),
    ADD FOREIGN KEY (origin) REFERENCES airports
