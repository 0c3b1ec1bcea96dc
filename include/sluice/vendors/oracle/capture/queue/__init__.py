"""The queue that triggers fill, as the publisher reads it."""
