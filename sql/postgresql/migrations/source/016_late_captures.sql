-- What statements within a statement did to its rows was captured before it, and stayed so. The bootstrap that follows has
-- trigger functions made anew that put it in order.
SELECT version FROM {state}
