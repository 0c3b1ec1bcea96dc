-- Long images were compressed in the application's statement. The bootstrap that follows has them stored as they are.
SELECT version FROM {state}
