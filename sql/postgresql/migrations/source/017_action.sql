-- What happened to a row was cut to a letter by the trigger. After the bootstrap that follows trigger functions are made anew,
-- which leave it as it is; both ways fit the queue of before and that of now.
SELECT version FROM {state}
