-- Which control store the source is captured for; NULL before one claims it.
SELECT store::text FROM {state}
