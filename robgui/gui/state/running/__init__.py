"""Running: what waits, where it computes, and what is told of it."""
