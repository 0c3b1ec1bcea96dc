-- A poll took images for certain that other columns of the time between were as long as, and rows for the same that another
-- key told apart; and it waited for whoever read a partition that was detached. The bootstrap that follows makes it anew.
SELECT version FROM {state}
