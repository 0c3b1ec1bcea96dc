-- Definitions of tables did not say which constraints rows need not meet, nor which are of periods. The bootstrap that follows
-- makes the functions anew. What was recorded of other tables is still what they say, so it is not taken again; tables with
-- such constraints get an ALTER at the next look, which makes those of the slaves alike.
SELECT version FROM {state}
