"""Running: the queue, where runs compute, and their progress."""
